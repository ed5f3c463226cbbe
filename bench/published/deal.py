"""DEAL's Figures 15 and 15a: how inference of all vertices speeds up from 2 to 16 machines. No time is printed in the paper."""
from agreement import geometric_mean, grid, published, spearman
from planner import PRESET

MACHINE = "r5-16xlarge"
FEWEST, MOST = 2, 16
EDGES_A_MACHINE, DEGREE = 500_000_000, 20
# Cards, and the width of the features, which that of the hidden layers is, too. The classes are not given: the same.
CARDS = {"ogbn-products": ("ogbn-products:deal", 100), "social-spammer": ("social-spammer", 128),
         "ogbn-papers100m": ("ogbn-papers100m:deal", 128)}
MODELS = {"GCN": ("--model", "gcn"), "GAT": ("--model", "gat", "--heads", 4)}
VARIANTS = (PRESET, "SpMM x 0.5", "link between x 0.5", "link between x 2")


def fastest(planner, data_set, model, ranks, variant, *which):
    card, width = CARDS[data_set]
    found = planner.ranked("--task", "infer", "--fanout", 50, "--graph", card, "--widths", ",".join([str(width)] * 4),
                           *MODELS[model], "--ranks", ranks, "--machine", planner.profile(MACHINE, variant), *which)
    return min(found, key=lambda row: row["epoch_seconds"])


def speed_up(planner, data_set, model, variant, *which):
    few, many = (fastest(planner, data_set, model, ranks, variant, *which) for ranks in (FEWEST, MOST))
    return few["epoch_seconds"] / many["epoch_seconds"], "x".join(map(str, many["configuration"]["grid"][:2]))


def cells(planner, variant=PRESET):
    """{(data set, model): (published speed-up, predicted with the fastest grids, that of most ranks, predicted in 1D)}"""
    return {(row["data_set"], row["model"]): (row["speed_up"], *speed_up(planner, row["data_set"], row["model"], variant),
                                              speed_up(planner, row["data_set"], row["model"], variant, "--scheme", "1d")[0])
            for row in published("deal-figure-15.csv")}


def weak_scaling(planner):
    """{model: (published efficiency of 16 machines, predicted)}: R-MAT's sizes with 20 edges a vertex, half a billion a machine."""
    result = {}
    for row in published("deal-figure-15a.csv"):
        times = []
        for ranks in (FEWEST, MOST):
            edges = ranks * EDGES_A_MACHINE
            found = planner.ranked("--task", "infer", "--fanout", 50, "--vertices", edges // DEGREE, "--nonzeros", edges, "--widths",
                                   "128,128,128,128", *MODELS[row["model"]], "--ranks", ranks, "--machine", planner.profile(MACHINE))
            times.append(min(one["epoch_seconds"] for one in found))
        result[row["model"]] = (row["efficiency"], times[0] / times[1])
    return result


def weak_table(found):
    return grid(["model", "published", "predicted"], [[model, f"{100 * seen:.1f} %", f"{100 * predicted:.1f} %"]
                                                      for model, (seen, predicted) in found.items()])


def summary(found):
    ratios = [predicted / seen for seen, predicted, _, _ in found.values()]
    seen, predicted, _, rows = zip(*found.values())
    return {"mean": geometric_mean(ratios), "least": min(ratios), "most": max(ratios), "spearman": spearman(predicted, seen),
            "rows": geometric_mean([r / s for r, s in zip(rows, seen)])}


def table(found):
    return grid(["data set", "model", "published", "predicted", "grid on 16", "predicted in 1D"],
                [[name, model, f"{seen:.2f}", f"{predicted:.2f}", shape, f"{rows:.2f}"]
                 for (name, model), (seen, predicted, shape, rows) in found.items()])


def sensitivity(by_profile):
    return grid(["profile", "predicted/published", "least – most", "Spearman"],
                [[name, f"{s['mean']:.2f}", f"{s['least']:.2f} – {s['most']:.2f}", f"{s['spearman']:.2f}"]
                 for name, s in by_profile.items()])
