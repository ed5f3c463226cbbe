"""Areas under the ROC curve, of which steps make sums of ranks."""

import numpy
import torch


def rank_sum(step, rank):
    """Counts, in each column and subset, who has the label and who not, and adds up their ranks."""
    logits = rank.values[step["logits"]].cpu().numpy()
    labels = rank.values[step["labels"]].cpu().numpy()
    subset = rank.values[step["subset"]].cpu().numpy()[:, 0]
    known = numpy.ones_like(labels)
    if step["known"]:
        known = rank.values[step["known"]].cpu().numpy()
    out = rank.zeros(rank.tensor(step["sums"]))
    first = rank.block(step["logits"])[1][0]
    for which in range(3):
        for j in range(logits.shape[1]):
            rows = (subset == which) & known[:, j]
            sums = sums_of(logits[rows, j], labels[rows, j])
            out[3 * which:3 * which + 3, first + j] = torch.tensor(sums, dtype=out.dtype)


def sums_of(logits, labels):
    """Ranks count from 1, and equal logits share the mean of theirs."""
    _, place, count = numpy.unique(logits, return_inverse=True, return_counts=True)
    last = numpy.cumsum(count)
    twice = (2 * last - count + 1)[place.reshape(-1)]
    return [labels.sum(), (~labels).sum(), twice[labels].sum()]


def area_of(sums, which):
    """The mean over the columns in which some vertices have the label and others have not."""
    there, absent, twice = (numpy.array(sums[3 * which + i]) for i in range(3))
    judged = (there > 0) & (absent > 0)
    if not judged.any():
        return None
    there, absent, twice = there[judged], absent[judged], twice[judged]
    areas = (twice / 2 - there * (there + 1) / 2) / (there * absent)
    return float(areas.mean())
