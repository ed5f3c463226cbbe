"""GNN-RDM's Tables IX and VII: CAGNET's epoch and communication time over RDM's on 8 GPUs, and the means on 2, 4 and 8."""
from agreement import figures, geometric_mean, grid, published, spearman
from orders import CARDS, MACHINE
from planner import PRESET

RANKS = 8
NETWORKS = {(2, 128): "layers_2_hidden_128", (2, 256): "layers_2_hidden_256", (3, 128): "layers_3_hidden_128",
            (3, 256): "layers_3_hidden_256"}
VARIANTS = (PRESET, "SpMM x 0.5", "SpMM x 2", "link x 0.25")


def fastest(planner, data_set, network, ranks, variant=PRESET):
    """The fastest of CAGNET's 1D and 1.5D, and of RDM's orders with R_A = P, as rows of a ranking."""
    layers, hidden = network
    problem = ("--graph", CARDS[data_set] + ":rdm", "--ranks", ranks, "--layers", layers, "--hidden", hidden, "--space", "paper",
               "--machine", planner.profile(MACHINE, variant))
    cagnet = (planner.ranked(*problem, "--scheme", scheme)[0] for scheme in ("1d", "1.5d"))
    return (min(cagnet, key=lambda row: row["epoch_seconds"]),
            planner.ranked(*problem, "--scheme", "rdm", "--replication", ranks)[0])


def ratios(planner, variant=PRESET):
    """{(data set, network): (published, predicted)} of the fastest of CAGNET's 1.5D over the fastest of RDM's orders."""
    result = {}
    for row in published("rdm-table-ix.csv"):
        for network, column in NETWORKS.items():
            cagnet, rdm = fastest(planner, row["data_set"], network, RANKS, variant)
            result[row["data_set"], network] = (row[column], cagnet["epoch_seconds"] / rdm["epoch_seconds"])
    return result


def communication(planner):
    """{(data set, network): (published ratio of times, ratio of the bytes of the same plans)} on 8 GPUs."""
    result = {}
    for row in published("rdm-table-ix-communication.csv"):
        for network, column in NETWORKS.items():
            cagnet, rdm = fastest(planner, row["data_set"], network, RANKS)
            result[row["data_set"], network] = (row[column], cagnet["total_bytes"] / rdm["total_bytes"])
    return result


def communication_summary(found):
    seen, bytes_ = zip(*found.values())
    return {"published": geometric_mean(seen), "bytes": geometric_mean(bytes_), "spearman": spearman(bytes_, seen),
            "per_byte": geometric_mean(bytes_) / geometric_mean(seen)}


def by_ranks(planner):
    """{(ranks, network): (published mean over CAGNET, predicted, published mean over DGCL, data sets where RDM is faster)}"""
    result = {}
    for row in published("rdm-table-vii.csv"):
        network, ranks = (int(row["layers"]), int(row["hidden"])), int(row["ranks"])
        gains = [cagnet["epoch_seconds"] / rdm["epoch_seconds"]
                 for cagnet, rdm in (fastest(planner, name, network, ranks) for name in CARDS)]
        result[ranks, network] = (row["over_cagnet"], geometric_mean(gains), row["over_dgcl"], sum(gain > 1 for gain in gains))
    return result


def by_ranks_summary(found):
    seen, predicted, _, faster = zip(*found.values())
    growth = [geometric_mean([found[8, network][side] / found[2, network][side] for network in NETWORKS]) for side in (0, 1)]
    return {"spearman": spearman(predicted, seen), "faster": sum(faster), "cells": len(found) * len(CARDS), "published_growth": growth[0],
            "growth": growth[1]}


def by_ranks_table(found):
    ranks = sorted({ranks for ranks, _ in found})
    return grid(["P", *(f"{layers} layers, {hidden} hidden" for layers, hidden in NETWORKS)],
                [[p, *("{:.2f} / {:.2f}".format(*found[p, network][:2]) for network in NETWORKS)] for p in ranks])


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
