"""Parts of epochs on Perlmutter that Plexus's authors measured for a model of theirs: collectives, and products on one A100.

Plexus's paper has its epochs in figures without numbers, so that none is compared here."""
import math

from agreement import figures, geometric_mean, grid, published
from planner import PRESET

MACHINE = "a100x4-perlmutter"


def seconds_of(planner, kind, *problem):
    """The longest step of this kind in an epoch."""
    steps = planner.steps(*problem, "--symmetric", "--layers", 1, "--machine", planner.profile(MACHINE, PRESET))
    return max(seconds for step, seconds in steps if step == kind)


def collectives(planner):
    """[(ranks, megabytes, measured seconds, predicted seconds)] of a reduce-scatter with an all-gather, an all-reduce: that of the
    gradient of as many weights."""
    rows = []
    for row in published("plexus-collectives.csv"):
        width = round(math.sqrt(row["megabytes"] * 1e6 / 4))
        predicted = seconds_of(planner, "all_reduce", "--vertices", 100 * int(row["ranks"]), "--nonzeros", 10_000, "--features", width,
                               "--classes", width, "--ranks", int(row["ranks"]), "--scheme", "1d")
        rows.append((int(row["ranks"]), row["megabytes"], (row["all_gather_ms"] + row["reduce_scatter_ms"]) / 1000, predicted))
    return rows


def products(planner):
    """[(vertices, width, measured seconds, predicted seconds)]"""
    return [(int(row["vertices"]), int(row["width"]), row["ms"] / 1000,
             seconds_of(planner, "spmm", "--vertices", int(row["vertices"]), "--nonzeros", int(row["nonzeros"]), "--features", 512,
                        "--classes", int(row["width"]), "--forward", "D", "--ranks", 1))
            for row in published("plexus-spmm.csv")]


def ratio(rows, of=lambda row: True):
    return geometric_mean([row[3] / row[2] for row in rows if of(row)])


def milliseconds(rows, first):
    return [[*first(row), figures(1000 * row[2]), figures(1000 * row[3]), f"{row[3] / row[2]:.2f}"] for row in rows]


def collective_table(rows):
    return grid(("GPUs", "nodes", "MB", "published ms", "predicted ms", "ratio"),
                milliseconds(rows, lambda row: (row[0], max(1, row[0] // 4), f"{row[1]:g}")))


def product_table(rows):
    return grid(("vertices", "columns", "published ms", "predicted ms", "ratio"),
                milliseconds(rows, lambda row: (f"{row[0]:,}", row[1])))
