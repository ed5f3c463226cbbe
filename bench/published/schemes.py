"""GNN-RDM's Table IX: CAGNET's epoch time over RDM's on 8 GPUs."""
from agreement import figures, geometric_mean, grid, published, spearman
from orders import CARDS, MACHINE
from planner import PRESET

RANKS = 8
NETWORKS = {(2, 128): "layers_2_hidden_128", (2, 256): "layers_2_hidden_256", (3, 128): "layers_3_hidden_128",
            (3, 256): "layers_3_hidden_256"}
VARIANTS = (PRESET, "SpMM x 0.5", "SpMM x 2", "link x 0.25")


def ratios(planner, variant=PRESET):
    """{(data set, network): (published, predicted)} of the fastest of CAGNET's 1.5D over the fastest of RDM's orders."""
    result = {}
    for row in published("rdm-table-ix.csv"):
        for (layers, hidden), column in NETWORKS.items():
            problem = ("--graph", CARDS[row["data_set"]] + ":rdm", "--ranks", RANKS, "--layers", layers, "--hidden", hidden,
                       "--space", "paper", "--machine", planner.profile(MACHINE, variant))
            cagnet = planner.ranked(*problem, "--scheme", "1.5d")[0]["epoch_seconds"]
            rdm = planner.ranked(*problem, "--scheme", "rdm", "--replication", RANKS)[0]["epoch_seconds"]
            result[row["data_set"], (layers, hidden)] = (row[column], cagnet / rdm)
    return result


def summary(found):
    seen, predicted = zip(*found.values())
    return {"cases": len(found), "right": sum((p > 1) == (s > 1) for s, p in found.values()), "least": min(predicted),
            "published": geometric_mean(seen), "predicted": geometric_mean(predicted), "spearman": spearman(predicted, seen)}


def table(found):
    rows = [[name, *(f"{found[name, network][0]:.2f} / {found[name, network][1]:.2f}" for network in NETWORKS)]
            for name in CARDS]
    means = [[figures(geometric_mean([found[name, network][side] for name in CARDS])) for side in (0, 1)] for network in NETWORKS]
    rows.append(["geometric mean", *(" / ".join(pair) for pair in means)])
    return grid(["data set", *(f"{layers} layers, {hidden} hidden" for layers, hidden in NETWORKS)], rows)


def sensitivity(summaries):
    return grid(["profile", "RDM predicted faster", "predicted mean ratio", "Spearman"],
                [[variant, f"{found['right']} of {found['cases']}", f"{found['predicted']:.2f}", f"{found['spearman']:.2f}"]
                 for variant, found in summaries.items()])
