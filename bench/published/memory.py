"""GNN-RDM's Table X: memory per GPU by copies of the adjacency matrix."""
import json

from agreement import figures, geometric_mean, grid, published
from orders import CARDS, MACHINE

RANKS, HIDDEN = 8, 128
COPIES = {"r1": 1, "r2": 2, "r4": 4, "r8": 8}


def arithmetic(card, copies):
    """MB: 12 bytes a nonzero and copy, 4 an entry of the features and of both layers' outputs; over all ranks, shared by 8."""
    widths = card["features"] + HIDDEN + card["classes"]
    return (12 * card["nonzeros"] * copies + 4 * card["vertices"] * widths) / RANKS / 1e6


def cells(planner):
    """{(data set, copies): (published, arithmetic, predicted peak of tensors)} in MB; r1 is CAGNET's 1D."""
    workspace = json.loads(planner.call("machines", "show", MACHINE, "--json").stdout)["workspace_bytes"]
    result = {}
    for row in published("rdm-table-x.csv"):
        name = CARDS[row["data_set"]] + ":rdm"
        card = json.loads(planner.call("datasets", "show", name, "--json").stdout)
        for column, copies in COPIES.items():
            scheme = ("--scheme", "1d") if copies == 1 else ("--scheme", "rdm", "--replication", copies)
            found = planner.ranked("--graph", name, "--ranks", RANKS, "--hidden", HIDDEN, "--space", "paper", *scheme,
                                   "--machine", planner.profile(MACHINE))
            tensors = found[0]["peak_bytes_per_rank"] - workspace
            result[row["data_set"], copies] = (row[column], arithmetic(card, copies), tensors / 1e6)
    return result


def summary(found):
    ratios = [peak / seen for seen, _, peak in found.values()]
    return {"mean": geometric_mean(ratios), "least": min(ratios), "most": max(ratios),
            "by_copies": {c: geometric_mean([peak / seen for (_, at), (seen, _, peak) in found.items() if at == c])
                          for c in COPIES.values()},
            "arithmetic": max(abs(sum_ / seen - 1) for seen, sum_, _ in found.values()),
            "growth": {name: (found[name, 8][2] - found[name, 2][2]) / (found[name, 8][1] - found[name, 2][1]) for name in CARDS}}


def table(found):
    rows = []
    for name in CARDS:
        cells_ = [found[name, copies] for copies in COPIES.values()]
        rows.append([name, *(f"{seen:g} / {figures(sum_)} / {figures(peak)} ({peak / seen:.2f})" for seen, sum_, peak in cells_)])
    return grid(["data set", "CAGNET", "R_A = 2", "R_A = 4", "R_A = 8"], rows)
