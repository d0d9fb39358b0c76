#!/usr/bin/env python3
"""Fit the constants of src/microscope/model.c to measured times: fit_model.py WORKS...

WORKS are files that `bench_model works FILE` wrote on a GPU, or with the measured times of `saved`. The matrices that
they mark as held out are not used by the fit. Prints the constants, and the errors on both groups of matrices. Needs
numpy and scipy. `predict` repeats model_predict of model.c for all kernels and matrices at once.
"""
import json
import math
import sys

import numpy as np
from scipy.optimize import least_squares

WAITS = ["step", "l1", "l2", "first", "shared", "collective", "barrier", "arrival"]
FIRST = WAITS.index("first")
SMS, READ_GBS, CACHE_GBS, LAUNCH_US = 132, 4367, 9128, 3.1  # the H200 of machine_of
SLOTS, BLOCKS_MOST, SHARED_KB, REGISTERS = 64, 32, 227, 65536  # of a multiprocessor; a slot holds a warp
LAUNCH_KEYS = ["blocks", "threads", "shared", "registers", "steps", "lines", "l2_loads", "l2_stores", "l2_lines",
               "atomics", "deep", "hot", "footprint"]

# Where the fit begins.
START = dict(zip(WAITS, (11.5, 18.9, 149, 124, 0.575, 0.193, 177, 3459)))
START.update(again_us=1.71, first_us=-0.684, memory_ns=27.3, block_ns=3.45, tail=0.41, l2_share=1.16, l2_line=0.922,
             l2_own=2.51, dram_share=1.02, cached=13.6e6, lookups=9.65, steps=0.662, atomics=151, deep=34.4,
             hot_ns=2.42, hot_int_ns=0.664, together=1.2)


class Pairs:
    """The pairs of matrix and kernel, and their launches; `of` is the pair of each launch."""

    def __init__(self, rows):
        launches = [(i, work) for i, row in enumerate(rows) for work in row["launches"] if work["blocks"]]
        self.of = np.array([i for i, _ in launches])
        for key in LAUNCH_KEYS:
            setattr(self, key, np.array([work[key] for _, work in launches], float))
        self.wait = np.array([work["wait"] for _, work in launches])
        self.longest = np.array([work["longest"] for _, work in launches])
        self.shares = np.array([rows[i]["shares"] for i in self.of], bool)
        self.data = np.array([row["footprint"] for row in rows])
        self.us = np.array([row["us"] for row in rows])
        self.held_out = np.array([row["held_out"] for row in rows], bool)
        best = {}
        for row in rows:
            best[row["matrix"]] = min(best.get(row["matrix"], math.inf), row["us"])
        self.best = np.array([best[row["matrix"]] for row in rows])


def resident(pairs):
    """The blocks that a multiprocessor holds at a time, as model_residency of model.c computes them."""
    warps = np.ceil(np.maximum(pairs.threads, 1) / 32)
    of_warp = np.maximum(np.ceil(pairs.registers * 32 / 256) * 256, 1)
    fit = np.minimum.reduce([
        np.floor(SLOTS / warps),
        np.floor(SHARED_KB * 1024 / (pairs.shared + 1024)),
        np.floor(np.floor(REGISTERS / 4 / of_warp) * 4 / warps)])
    return np.clip(fit, 1, BLOCKS_MOST)


def p_norm(times, p):
    most = np.maximum.reduce([*times, np.full(len(times[0]), 1e-9)])
    return most * sum((t / most) ** p for t in times) ** (1 / p)


def predict(pairs, c):
    times = (pairs.data / c["cached"]) ** 2
    missed = (times / (1 + times))[pairs.of]
    ns = np.array([c[name] for name in WAITS])

    def life(wait):
        return (wait @ ns + wait[:, FIRST] * missed * c["memory_ns"]) / 1000

    slots = SMS * resident(pairs)
    every = life(pairs.wait) + pairs.blocks * c["block_ns"] / 1000
    waves = np.where(pairs.blocks <= slots, 0, every / slots + c["tail"] * every / pairs.blocks)
    waits = np.maximum(np.where(pairs.shares, every / slots, waves), life(pairs.longest))
    busy = pairs.blocks / np.ceil(pairs.blocks / SMS)
    sectors = pairs.l2_loads + pairs.l2_stores + c["l2_line"] * pairs.l2_lines
    rate = np.maximum.reduce([
        missed * pairs.footprint / (c["dram_share"] * READ_GBS) / 1000,
        sectors * 32 / (c["l2_share"] * CACHE_GBS) / 1000 * np.maximum(1, SMS / (busy * c["l2_own"])),
        pairs.lines / (busy * c["lookups"]) / 1000,
        pairs.steps / (busy * c["steps"]) / 1000,
        np.maximum(pairs.atomics / c["atomics"], pairs.deep / c["deep"]) / 1000])
    hot = pairs.hot * np.where(pairs.shares, c["hot_int_ns"], c["hot_ns"]) / 1000
    us = np.bincount(pairs.of, p_norm([waits, rate, hot], c["together"]), len(pairs.us))
    launches = np.bincount(pairs.of, minlength=len(pairs.us))
    return us + np.maximum(launches * c["again_us"] + LAUNCH_US + c["first_us"], 0)


def fit(pairs):
    """Least squares of the logarithms; fast kernels count more. A weak pull to the start keeps what nothing determines."""
    keys = list(START)
    start = np.array([math.log(abs(START[key])) for key in keys])
    weight = np.sqrt(np.clip(pairs.best / pairs.us, 0.05, 1))

    def constants(x):
        return {key: math.copysign(math.exp(v), START[key]) for key, v in zip(keys, x)}

    def errors(x):
        error = np.log(predict(pairs, constants(x)) / pairs.us) * weight
        return np.concatenate([error[~pairs.held_out], 0.02 * (x - start)])

    return constants(least_squares(errors, start, loss="soft_l1", f_scale=0.1, max_nfev=300).x)


def main():
    rows = [json.loads(line) for path in sys.argv[1:] for line in open(path)]
    pairs = Pairs([row for row in rows if "kernel" in row and row["us"] > 0])
    c = fit(pairs)
    print(".wait = {%s}" % ", ".join("%.3g" % c[name] for name in WAITS))
    for key in list(START)[len(WAITS):]:
        print(".%s = %.3g" % (key, c[key]))
    error = np.abs(predict(pairs, c) / pairs.us - 1)
    for name, those in (("fitted", ~pairs.held_out), ("held out", pairs.held_out)):
        print("%s: %d pairs, mean error %.1f%%, median %.1f%%" % (
            name, those.sum(), 100 * error[those].mean(), 100 * np.median(error[those])))


if __name__ == "__main__":
    main()
