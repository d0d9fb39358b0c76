#!/usr/bin/env python3
"""Fit the constants of src/microscope/model.c to measured times: fit_model.py WORKS... > src/microscope/model_fits.def
fit_model.py factors WORKS... keeps the constants, and fits only the factors of the kernels that WORKS has, beginning
with those of model_fits.def: for a few matrices, from which the constants cannot be found.

WORKS are files that `bench_model works FILE` wrote on a GPU, or with the measured times of `saved`; they may be from
several GPUs and in both precisions. The matrices that they mark as held out are not used by the fit. Writes the fits of
the kernels; the other constants, and the errors on both groups of matrices, go to stderr. Needs numpy and scipy.
`predict` repeats model_predict of model.c for all kernels and matrices at once.
"""
import json
import math
import pathlib
import re
import sys

import numpy as np
from scipy.optimize import least_squares

WAITS = ["step", "l1", "l2", "first", "shared", "collective", "barrier", "arrival"]
FIRST = WAITS.index("first")
SLOTS, BLOCKS_MAX, SHARED_KB, REGISTERS = 64, 32, 227, 65536  # of a multiprocessor; a slot holds a warp
MACHINE_KEYS = ["sms", "read_gbs", "cache_gbs", "launch_us", "cache_mb", "gather_gps"]
LAUNCH_KEYS = ["blocks", "threads", "shared", "registers", "steps", "lines", "l2_loads", "l2_stores", "l2_lines",
               "atomic_sectors", "hot", "footprint", "lost", "gathered"]

# Where the fit begins: the constants of model.c.
START = dict(zip(WAITS, (5.3, 16.7, 90.3, 90.3, 1.3, 2.03, 280, 2.07e+03)))
START.update(again_us=2.22, first_us=-0.798, launch_share=0.728, memory_ns=103, block_ns=3.8, tail=1.72, alone=1.64,
             l2_share=1.2, l2_line=0.711, l2_own=1.45, dram_share=1.05, lookups=3.05, steps=0.655, atomics=56.4,
             hot_int_ns=0.701, together=1.33, single=0.964)
# Measured apart, and not fitted: what L2 keeps, and additions to one sector (see model.c).
FULL_FIRST, FULL_LAST, RANDOM, STAYS, UNEVEN = 0.7, 0.92, 0.56, 0.28, 0.3
HOT_NS, REFERENCE_CACHE_GBS = 1.05, 8525
# Weights of errors: (best time of the matrix / time of the kernel) ** POWER, at least SLOW, or HOPELESS if the kernel
# takes more than ten times as long. The advice depends on the fast kernels, the mean error on all of them.
POWER, SLOW, HOPELESS = 1.5, 0.4, 0.25
# How strongly constants are pulled to START. GPUs of one kind do not tell what depends on the launch from what does not,
# and the rates of all kernels could be divided by what these constants are multiplied by.
PULL = 0.02
PULLS = {"launch_share": 20, "first_us": 20, "again_us": 2, "l2_share": 2, "dram_share": 2, "atomics": 2,
         "block_ns": 0.2, "shared": 0.1, "collective": 0.1}
# What each kernel has of its own: factors (as logarithms), and a time in us.
OF_KERNEL = ["chain", "alone", "rates", "memory", "single", "us"]
# How strongly each is pulled to its old value if only the factors are fitted: rates need large matrices.
KEEP = [0.5, 0.5, 5, 5, 0.5, 1]
SHORT_US = 12  # a time of which the launch is a large part
FITS = pathlib.Path(__file__).parents[2] / "src/microscope/model_fits.def"


class Pairs:
    """The pairs of matrix and kernel, and their launches; `of` is the pair of each launch."""

    def __init__(self, rows):
        launches = [(i, work) for i, row in enumerate(rows) for work in row["launches"] if work["blocks"]]
        self.of = np.array([i for i, _ in launches])
        for key in LAUNCH_KEYS:
            setattr(self, key, np.array([work[key] for _, work in launches], float))
        for key in MACHINE_KEYS:
            setattr(self, key, np.array([row[key] for row in rows], float))
        self.wait = np.array([work["wait"] for _, work in launches])
        self.longest = np.array([work["longest"] for _, work in launches])
        self.shares = np.array([rows[i]["shares"] for i in self.of], bool)
        self.data = np.array([row["in_lines"] for row in rows])
        self.once = np.array([row["once"] for row in rows])
        gathered = np.bincount(self.of, self.gathered, len(rows))
        share = self.gathered / np.maximum(gathered[self.of], 1)
        self.again = np.array([row["again"] for row in rows])[self.of] * share
        self.us = np.array([row["us"] for row in rows])
        self.held_out = np.array([row["held_out"] for row in rows], bool)
        self.single = np.array([row["single"] for row in rows], float)
        self.kernels = sorted({row["kernel"] for row in rows})
        self.kernel = np.array([self.kernels.index(row["kernel"]) for row in rows])
        group = [(row["matrix"], row["read_gbs"], row["single"]) for row in rows]
        best = {}
        for key, row in zip(group, rows):
            best[key] = min(best.get(key, math.inf), row["us"])
        self.best = np.array([best[key] for key in group])


def resident(pairs):
    """The blocks that a multiprocessor holds at a time, as model_residency of model.c computes them."""
    warps = np.ceil(np.maximum(pairs.threads, 1) / 32)
    of_warp = np.maximum(np.ceil(pairs.registers * 32 / 256) * 256, 1)
    fit = np.minimum.reduce([
        np.floor(SLOTS / warps),
        np.floor(SHARED_KB * 1024 / (pairs.shared + 1024)),
        np.floor(np.floor(REGISTERS / 4 / of_warp) * 4 / warps)])
    return np.clip(fit, 1, BLOCKS_MAX)


def p_norm(times, p):
    most = np.maximum.reduce([*times, np.full(len(times[0]), 1e-9)])
    return most * sum((t / most) ** p for t in times) ** (1 / p)


def missed_at(times):
    """The misses of a cache with random replacement, if data of `times` its size are read again and again."""
    hit = np.exp(-times)
    for _ in range(60):
        hit = np.exp(-times * (1 - hit))
    return 1 - hit


def missed_of(size, once):
    """share_missed of model.c; size: the data / L2, once: the share of them that is read once."""
    times = size / RANDOM
    random = missed_at(times) / 2 + missed_at(times * (1 + UNEVEN)) / 4 + missed_at(times / (1 + UNEVEN)) / 4
    random = np.maximum(0, np.minimum(random, 1 - STAYS / size))
    return once * random + (1 - once) * np.clip((size - FULL_FIRST) / (FULL_LAST - FULL_FIRST), 0, 1)


def predict(pairs, c, own):
    """own: OF_KERNEL by kernel."""
    of = pairs.of
    ns = np.array([c[name] for name in WAITS])
    ns[WAITS.index("l2")] = c["first"]  # both come from L2, unless L2 has missed
    log_chain, log_alone, log_rates, log_memory, log_single, us = (own[:, i][pairs.kernel] for i in range(len(OF_KERNEL)))
    chain = np.exp(log_chain + pairs.single * (math.log(c["single"]) + log_single))[of]
    missed = missed_of(pairs.data / (1e6 * pairs.cache_mb), pairs.once)[of]
    sms, read_gbs, cache_gbs = pairs.sms[of], pairs.read_gbs[of], pairs.cache_gbs[of]

    def life(wait):
        return (wait @ ns * chain + wait[:, FIRST] * missed * c["memory_ns"]) / 1000

    slots = sms * resident(pairs)
    every = life(pairs.wait) + pairs.blocks * c["block_ns"] / 1000
    waves = np.where(pairs.blocks <= slots, 0, every / slots + c["tail"] * every / pairs.blocks)
    waits = np.maximum(np.where(pairs.shares, every / slots, waves), c["alone"] * np.exp(log_alone)[of] * life(pairs.longest))
    again = pairs.again + missed * pairs.lost
    busy = pairs.blocks / np.ceil(pairs.blocks / sms)
    sectors = pairs.l2_loads + pairs.l2_stores + c["l2_line"] * pairs.l2_lines
    rates = np.exp(log_rates)[of]
    memory = (missed * pairs.footprint + again * read_gbs / pairs.gather_gps[of]) / (c["dram_share"] * read_gbs) / 1000
    rate = np.maximum(memory * np.exp(log_memory)[of], rates * np.maximum.reduce([
        sectors * 32 / (c["l2_share"] * cache_gbs) / 1000 * np.maximum(1, sms / (busy * c["l2_own"])),
        pairs.lines / (busy * c["lookups"]) / 1000,
        pairs.steps * chain / (busy * c["steps"]) / 1000,
        pairs.atomic_sectors / (c["atomics"] * cache_gbs / REFERENCE_CACHE_GBS) / 1000]))
    hot = pairs.hot * np.where(pairs.shares, c["hot_int_ns"], HOT_NS) / 1000
    work = np.bincount(of, p_norm([waits, rate, hot], c["together"]), len(pairs.us))
    launches = np.bincount(of, minlength=len(pairs.us))
    launch = launches * c["again_us"] + c["launch_share"] * pairs.launch_us + c["first_us"] + us
    return work + np.maximum(launch, 0)


def weights(pairs):
    share = (pairs.best / pairs.us)[~pairs.held_out]
    return np.where(share < 0.1, HOPELESS, np.maximum(share ** POWER, SLOW))


def errors_of(pairs, c, own):
    return np.log(predict(pairs, c, own) / pairs.us)[~pairs.held_out] * weights(pairs)


def fit(pairs):
    """Least squares of the logarithms; kernels near the best of their matrix count more. Pulls, of all constants to the
    start and of all kernels to each other, keep what nothing determines."""
    keys = list(START)
    pulls = np.array([PULLS.get(key, PULL) for key in keys])
    start = np.array([math.log(abs(START[key])) for key in keys])
    pull = 0.0005 * math.sqrt(len(pairs.us))

    def split(x):
        constants = {key: math.copysign(math.exp(v), START[key]) for key, v in zip(keys, x)}
        return constants, x[len(keys):].reshape(len(pairs.kernels), len(OF_KERNEL))

    def errors(x):
        error = errors_of(pairs, *split(x))
        return np.concatenate([error, pulls * (x[:len(keys)] - start), pull * x[len(keys):]])

    begin = np.concatenate([start, np.zeros(len(pairs.kernels) * len(OF_KERNEL))])
    return split(least_squares(errors, begin, loss="soft_l1", f_scale=0.1, max_nfev=200).x)


def read_fits():
    """The factors of model_fits.def, in the order of OF_KERNEL."""
    found = re.findall(r'KERNEL_FIT\("(.*?)", (.*?), (.*?), (.*?), (.*?), (.*?), (.*?)\)', FITS.read_text())
    return {name: [math.log(float(v)) for v in factors] + [float(us)] for name, *factors, us in found}


def take_launches(pairs, own):
    """Subtract what the machine's launches take longer than those of the profile with which WORKS was written."""
    for single in (0, 1):
        those = pairs.single == single
        more = (pairs.us - predict(pairs, START, own))[those & (pairs.us < SHORT_US)]
        if len(more):
            print("launches take %.2f us more" % np.median(more), file=sys.stderr)
            pairs.us = np.where(those, pairs.us - np.median(more), pairs.us)


def fit_factors(pairs):
    old = read_fits()
    begin = np.array([old.get(name, [0] * len(OF_KERNEL)) for name in pairs.kernels])
    take_launches(pairs, begin)

    def errors(x):
        own = x.reshape(begin.shape)
        return np.concatenate([errors_of(pairs, START, own), ((own - begin) * KEEP).ravel()])

    own = least_squares(errors, begin.ravel(), loss="soft_l1", f_scale=0.1, max_nfev=200).x.reshape(begin.shape)
    return dict(START), own


def print_errors(name, error):
    print("%s: %d pairs, mean error %.1f%%, median %.1f%%, 90%% below %.1f%%" % (
        name, len(error), 100 * error.mean(), 100 * np.median(error), 100 * np.percentile(error, 90)), file=sys.stderr)


def print_fits(factors):
    print("/* Written by tests/bench/fit_model.py: KERNEL_FIT(kernel, chain, alone, rates, memory, single, us), see model.c. */")
    for name, (*logarithms, us) in sorted(factors.items()):
        print('KERNEL_FIT("%s", %.3f, %.3f, %.3f, %.3f, %.3f, %.3f)' % (name, *map(math.exp, logarithms), us))


def print_constants(c):
    c["l2"] = c["first"]
    print(".wait = {%s}" % ", ".join("%.3g" % c[name] for name in WAITS), file=sys.stderr)
    for key in list(START)[len(WAITS):]:
        print(".%s = %.3g" % (key, c[key]), file=sys.stderr)


def main():
    only_factors = sys.argv[1] == "factors"
    rows = [json.loads(line) for path in sys.argv[1 + only_factors:] for line in open(path)]
    rows = [row for row in rows if "kernel" in row and row["us"] > 0]
    if not rows:
        sys.exit("fit_model.py: the files have no measured times; write them with `bench_model works FILE` on a GPU")
    pairs = Pairs(rows)
    c, own = fit_factors(pairs) if only_factors else fit(pairs)
    new = dict(zip(pairs.kernels, own))
    if only_factors:
        new = {**read_fits(), **new}
    else:
        print_constants(c)
    print_fits(new)
    error = np.abs(predict(pairs, c, own) / pairs.us - 1)
    good = pairs.us < 1.3 * pairs.best
    for name, those in (("fitted", ~pairs.held_out), ("held out", pairs.held_out)):
        print_errors(name, error[those])
        print_errors(name + ", up to 1.3 times the best", error[those & good])


if __name__ == "__main__":
    main()
