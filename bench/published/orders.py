"""GNN-RDM's Table VIII: times of the 16 orders of a 2-layer GCN, as ranges over two classes."""
import statistics

from agreement import (figures, geometric_mean, grid, mean, percent, published, regret_bounds, spearman, spearman_by_chance)
from planner import PRESET, VARIANTS

MACHINE = "a6000x8"
CARDS = {"OGB-Arxiv": "ogbn-arxiv", "OGB-MAG": "ogbn-mag", "OGB-Products": "ogbn-products", "Reddit": "reddit",
         "Web-Google": "web-google", "Com-Orkut": "com-orkut", "CAMI-Airways": "cami-airways", "CAMI-Oral": "cami-oral"}


class Cell:
    """One data set on one number of GPUs: published ranges (ms) and a predicted time (ms) for every order."""

    def __init__(self, row, times):
        self.data_set, self.ranks = row["data_set"], int(row["ranks"])
        self.pareto = {int(id) for id in str(row["pareto_ids"]).removesuffix(".0").split()}
        self.published = {"pareto": (row["pareto_fastest"], row["pareto_slowest"]),
                          "other": (row["other_fastest"], row["other_slowest"])}
        self.times = times
        self.pick = min(times, key=lambda id: (round(times[id], 9), id))

    def class_of(self, id):
        return "pareto" if id in self.pareto else "other"

    def predicted(self, which):
        times = [time for id, time in self.times.items() if self.class_of(id) == which]
        return min(times), max(times)

    def fastest(self):
        return min(fastest for fastest, _ in self.published.values())

    def right(self):
        """Whether the fastest published time is of the class of our pick."""
        return self.published[self.class_of(self.pick)][0] == self.fastest()

    def regret(self):
        return regret_bounds(self.published[self.class_of(self.pick)], self.fastest())

    def predicted_fastest(self):
        return min(self.times.values())

    def ratio(self):
        return self.predicted_fastest() / self.fastest()

    def spreads(self):
        """Slowest order over fastest, published and predicted."""
        return (max(slowest for _, slowest in self.published.values()) / self.fastest(),
                max(self.times.values()) / self.predicted_fastest())

    def agreement(self):
        """Spearman of the classes' ends, and what chance would give; a class of one order has one end."""
        ends = [("pareto", 0), ("pareto", 1), ("other", 0), ("other", 1)][len(self.pareto) == 1:]
        seen = [self.published[which][end] for which, end in ends]
        ascending = [(len(ends) - 2, len(ends) - 1)] + ([(0, 1)] if len(ends) == 4 else [])
        return (spearman([self.predicted(which)[end] for which, end in ends], seen), spearman_by_chance(seen, ascending))


def cells(planner, variant=PRESET):
    result = []
    for row in published("rdm-table-viii.csv"):
        ranks = int(row["ranks"])
        found = planner.ranked("--graph", CARDS[row["data_set"]] + ":rdm", "--ranks", ranks, "--replication", ranks, "--space",
                               "paper", "--scheme", "rdm", "--machine", planner.profile(MACHINE, variant))
        result.append(Cell(row, {one["configuration"]["id"]: 1e3 * one["epoch_seconds"] for one in found}))
    return result


def summary(of):
    """Figures over all cells."""
    regrets = [cell.regret() for cell in of]
    agreements = [cell.agreement() for cell in of]
    return {"right": sum(cell.right() for cell in of), "cells": len(of), "picks": [cell.pick for cell in of],
            "times": [cell.times for cell in of],
            "front": sum(cell.pick in cell.pareto for cell in of),
            "regret": tuple(mean([regret[end] for regret in regrets]) for end in (0, 1)),
            "worst": tuple(max(regret[end] for regret in regrets) for end in (0, 1)),
            "spearman": mean([found for found, _ in agreements]), "chance": mean([chance for _, chance in agreements]),
            "spread": statistics.median(predicted / seen for seen, predicted in (cell.spreads() for cell in of)),
            "ratio": geometric_mean([cell.ratio() for cell in of]),
            "ratios": (min(cell.ratio() for cell in of), max(cell.ratio() for cell in of)),
            "across": spearman([cell.predicted_fastest() for cell in of], [cell.fastest() for cell in of])}


def speedups(of):
    """Time on 2 GPUs over that on 8, of the fastest order, mean over the data sets: (published, predicted)."""
    by = {(cell.data_set, cell.ranks): cell for cell in of}
    return (geometric_mean([by[name, 2].fastest() / by[name, 8].fastest() for name in CARDS]),
            geometric_mean([by[name, 2].predicted_fastest() / by[name, 8].predicted_fastest() for name in CARDS]))


def milliseconds(value):
    return f"{value:g}"


def span(ends, form=figures):
    low, high = (form(end) for end in ends)
    return low if low == high else f"{low}–{high}"


def table(of):
    rows = []
    for cell in of:
        seen, predicted = cell.spreads()
        low, high = (percent(end) for end in cell.regret())
        correlation, _ = cell.agreement()
        rows.append([cell.data_set, cell.ranks, span(cell.published["pareto"], milliseconds), span(cell.published["other"], milliseconds),
                     span(cell.predicted("pareto")), span(cell.predicted("other")), f"{cell.ratio():.2f}", cell.pick,
                     "yes" if cell.right() else "**no**", low if low == high else f"{low} – {high}",
                     f"{correlation:.2f}", f"{seen:.2f} / {predicted:.2f}"])
    return grid(["data set", "P", "published: front", "others", "predicted: front", "others", "ratio", "pick", "right", "regret",
                 "Spearman", "worst/best order"], rows)


def sensitivity(by_profile):
    usual = next(iter(by_profile.values()))["picks"]
    rows = []
    for variant, found in by_profile.items():
        low, high = found["regret"]
        changed = sum(pick != other for pick, other in zip(found["picks"], usual))
        rows.append([variant, changed, f"{found['right']} of {found['cells']}", f"{percent(low)} – {percent(high)}",
                     percent(found["worst"][1]), f"{found['spearman']:.2f}", f"{found['ratio']:.2f}"])
    return grid(["profile", "other picks", "right class", "mean regret", "worst, at most", "Spearman in a cell",
                 "predicted/published"], rows)


def widest_change(by_profile):
    """By how much a pick that some profile changes is slower than the usual one, by the preset; the largest."""
    usual = next(iter(by_profile.values()))
    return max(times[pick] / min(times.values()) - 1
               for found in by_profile.values() for pick, times in zip(found["picks"], usual["times"]))


def summaries(planner):
    return {variant: summary(cells(planner, variant)) for variant in VARIANTS}


def elsewhere(planner):
    """Predicted ms on 2 GPUs if two of the printed sizes are not those of the graphs that ran: {what: ms of the fastest order}"""
    rest = ("--ranks", 2, "--replication", 2, "--space", "paper", "--scheme", "rdm", "--machine", planner.profile(MACHINE))
    problems = {"OGB-MAG": ("--vertices", 736_389, "--nonzeros", 2 * 5_416_271, "--symmetric", "--features", 128, "--classes", 349),
                "OGB-Products": ("--graph", "ogbn-products:distgnn")}
    return {name: 1e3 * planner.ranked(*problem, *rest)[0]["epoch_seconds"] for name, problem in problems.items()}
