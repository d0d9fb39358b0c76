#!/usr/bin/python3
"""Compare the emulator's counts with the hardware's: read the output of bench_counts and the counters of ncu.

    ncu --clock-control none --csv --page raw --metrics METRICS --log-file ncu.csv bench_counts FILE... > counts.jsonl
    compare_counts.py counts.jsonl ncu.csv      (METRICS: compare_counts.py --metrics)
"""
import csv
import json
import sys

OPS = {"load": ["ld"], "store": ["st"], "atomic": ["red", "atom"]}
UNITS = ("requests", "sectors")


def metric(unit, op):
    return f"l1tex__t_{unit}_pipe_lsu_mem_global_op_{op}.sum"


METRICS = [metric(u, o) for ops in OPS.values() for o in ops for u in UNITS]


def launches(path):
    """The launches between the marker launches, as one list per kernel."""
    lines = [line for line in open(path) if line.startswith('"')]
    rows = [r for r in csv.DictReader(lines) if r["ID"]]
    parts = [[]]
    for r in rows:
        if r["Kernel Name"].startswith("empty_kernel"):
            parts.append([])
        else:
            parts[-1].append(r)
    # the first marker starts the program; then per kernel: preparation, marker, the launches, marker
    return [parts[i] for i in range(2, len(parts) - 1, 2)] if len(parts) > 2 else []


def total(rows, what, unit):
    return sum(int(r[metric(unit, op)].replace(",", "")) for r in rows for op in OPS[what])


def main():
    if sys.argv[1:] == ["--metrics"]:
        print(",".join(METRICS))
        return 0
    said = [s for s in map(json.loads, (line for line in open(sys.argv[1]) if line.startswith("{"))) if s["ok"]]
    counted = launches(sys.argv[2])
    if len(said) != len(counted):
        print(f"{len(said)} kernels were said, {len(counted)} were counted: the marks do not fit")
        return 1
    print(f"{'matrix':16} {'kernel':18} " + " ".join(f"{w[:2]} {u:8} emulator {'%':>7}" for w in OPS for u in UNITS))
    worst, beyond, n = 0, 0, 0
    for s, rows in zip(said, counted):
        cells = []
        for what in OPS:
            for unit in UNITS:
                gpu, emu = total(rows, what, unit), s[f"{what}_{unit}"]
                off = 100 * (emu - gpu) / gpu if gpu else (0 if emu == 0 else float("inf"))
                cells.append(f"{gpu:11} {emu:8} {off:7.2f}")
                worst, beyond, n = max(worst, abs(off)), beyond + (abs(off) > 2), n + 1
        print(f"{s['matrix']:16} {s['kernel']:18} " + " ".join(cells))
    print(f"{n} numbers, {beyond} of them off by more than 2 %, at most {worst:.2f} %")
    return 0


sys.exit(main())
