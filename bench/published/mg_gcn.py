"""MG-GCN's Table 3: epochs of its 1D scheme on 1 to 8 A100, and what fits there."""
from agreement import figures, geometric_mean, grid, published, spearman
from planner import PRESET

MACHINE = "dgx-a100"
MEMORY = 79 * 2**30  # what the preset leaves of 80 GiB
# Card and orders, from the paper's rule (section 4.4): sparse first if the layer widens, and back in reverse.
PROBLEMS = {"Reddit": ("reddit:mg-gcn", "DS", "D-"), "Products": ("ogbn-products:mg-gcn", "SDD", "SS-"),
            "Proteins": ("protein:mg-gcn", "SDD", "SS-"), "Papers": ("ogbn-papers100m:mg-gcn", "SDD", "SS-")}
VARIANTS = (PRESET, "SpMM x 0.5", "SpMM x 2", "GEMM x 0.5", "link x 0.5", "link x 2", "overhead of a step x 20")
OURS_ONLY = ("cached_aggregation", "constant_input", "factored_values", "loss_rows")


def problem(name, hidden, layers, ranks):
    return ("--graph", PROBLEMS[name][0], "--hidden", int(hidden), "--layers", int(layers), "--ranks", int(ranks),
            "--normalisation", "row_mean")


def as_published(planner, name, hidden, layers, ranks, variant=PRESET):
    """The plan that MG-GCN runs: 1D, panels, overlap, its orders, nothing kept across epochs, no needless products."""
    _, forward, backward = PROBLEMS[name]
    found = planner.ranked(*problem(name, hidden, layers, ranks), "--scheme", "1d", "--forward", forward, "--backward", backward,
                           "--machine", planner.profile(MACHINE, variant))
    same = [row for row in found if row["configuration"]["exchange"] != "rows"
            and row["configuration"]["overlap"] == (ranks > 1)
            and not any(row["configuration"][key] for key in OURS_ONLY)]
    return min(same, key=lambda row: (row["sparse_units"], row["epoch_seconds"]))


def cells(planner, variant=PRESET):
    """{(data set, ranks): (published seconds or None, predicted seconds, predicted peak bytes)}"""
    result = {}
    for row in published("mg-gcn-table-3.csv"):
        found = as_published(planner, row["data_set"], row["hidden"], row["layers"], row["ranks"], variant)
        result[row["data_set"], int(row["ranks"])] = (row["seconds"], found["epoch_seconds"], found["peak_bytes_per_rank"])
    return result


def summary(found):
    timed = {key: cell for key, cell in found.items() if cell[0] is not None}
    ratios = [predicted / seen for seen, predicted, _ in timed.values()]
    return {"cells": len(timed), "mean": geometric_mean(ratios), "least": min(ratios), "most": max(ratios),
            "without_reddit": geometric_mean([p / s for (name, _), (s, p, _) in timed.items() if name != "Reddit"]),
            "spearman": spearman([cell[1] for cell in timed.values()], [cell[0] for cell in timed.values()]),
            "inside": {name: spearman(*zip(*((p, s) for (of, _), (s, p, _) in timed.items() if of == name)))
                       for name in PROBLEMS if name != "Papers"},
            "fits": sum((peak <= MEMORY) == (seen is not None) for seen, _, peak in found.values()), "all": len(found)}


def speedups(found):
    """data set -> (published, predicted) time on 1 rank over that on 8."""
    return {name: tuple(found[name, 1][side] / found[name, 8][side] for side in (0, 1)) for name in PROBLEMS
            if found[name, 1][0] is not None}


def widest_papers(planner):
    """The most hidden features, in steps of 8, with which MG-GCN's schedule of Papers is predicted to fit on 8 ranks."""
    low, high = 8, 512  # fits, does not
    while high - low > 8:
        middle = (low + high) // 16 * 8
        fits = as_published(planner, "Papers", middle, 3, 8)["peak_bytes_per_rank"] <= MEMORY
        low, high = (middle, high) if fits else (low, middle)
    return low


def own_plan(planner, hidden):
    """The plan that gnnplan itself chooses for Papers on 8 ranks, as (scheme and grid, seconds)."""
    found = planner.ranked(*problem("Papers", hidden, 3, 8), "--machine", MACHINE, memory=f"{MEMORY // 2**30}GiB")
    if not found:
        return None
    configuration = found[0]["configuration"]
    grid_ = "x".join(map(str, configuration["grid"][:2 if configuration["grid"][2] == 1 else 3]))
    return f"{configuration['scheme']} on {grid_}", found[0]["epoch_seconds"]


def table(found):
    rows = []
    for (name, ranks), (seen, predicted, peak) in found.items():
        memory = f"{peak / 2**30:.1f}" + ("" if peak <= MEMORY else ", too much")
        if seen is None:
            rows.append([name, ranks, "out of memory", figures(predicted), "", "", memory])
            continue
        one = found[name, 1]
        gained = f"{one[0] / seen:.2f} / {one[1] / predicted:.2f}" if one[0] else ""
        rows.append([name, ranks, f"{seen:g}", figures(predicted), f"{predicted / seen:.2f}", gained, memory])
    return grid(["data set", "P", "published s", "predicted s", "ratio", "speed-up over P = 1", "predicted GiB a rank"], rows)


def sensitivity(summaries):
    return grid(["profile", "predicted/published", "least – most", "Spearman"],
                [[variant, f"{found['mean']:.2f}", f"{found['least']:.2f} – {found['most']:.2f}", f"{found['spearman']:.2f}"]
                 for variant, found in summaries.items()])
