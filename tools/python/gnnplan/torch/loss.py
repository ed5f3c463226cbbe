"""The loss, whose gradient takes the place of the logits, and scores of evaluations."""

import torch
import torch.nn.functional as F

from .data import TRAIN, VALID
from .grid import LAYOUT_R


def column_parallel(grid, logits, labels):
    """Whether the ranks of a y-group make the loss of a row together, each of its columns."""
    return labels.dtype != "bits" and not grid.placed(logits.layout, LAYOUT_R)


def known_of(step, rank, labels):
    return rank.values[step["known"]] if step["known"] else torch.ones_like(labels)


def loss(step, rank):
    logits = rank.values[step["logits"]].double()
    labels = rank.values[step["labels"]]
    trains = rank.values[step["subset"]] == TRAIN
    out = rank.zeros(rank.tensor(step["loss"]))
    weights = logits.new_ones(len(logits), 1)
    if step["weights"]:
        weights = rank.values[step["weights"]].double()
    if labels.dtype == torch.bool:
        counted = trains & known_of(step, rank, labels)
        losses = F.binary_cross_entropy_with_logits(logits, labels.double(), reduction="none")
        gradient = torch.sigmoid(logits) - labels.double()
        out[0, 0] = (losses * weights)[counted].sum()
    else:
        losses, gradient = softmax_loss(step, rank, logits, labels)
        counted = trains.expand_as(gradient)
        out[0, 0] = (losses * weights[:, 0])[trains[:, 0]].sum()
    gradient = torch.where(counted, gradient, torch.zeros_like(gradient))
    rank.values[step["logits"]] = (gradient * weights * rank.settings.inverse_count).float()


def softmax_loss(step, rank, logits, labels):
    """The losses of rows, of their labels' ranks alone, and the gradient of local columns."""
    first, last = rank.block(step["logits"])[1]
    largest, others = totals(step, rank, logits)
    shifted = logits - largest
    gradient = shifted.exp() / (1 + others)
    place = labels - first
    here = (place >= 0) & (place < last - first)
    if last == first:
        return largest[:, 0] * 0, gradient
    place = place.clamp(0, last - first - 1)
    at_label = shifted.gather(1, place)
    losses = torch.where(here, torch.log1p(others) - at_label, torch.zeros_like(at_label))
    gradient.scatter_add_(1, place, -here.double())
    return losses[:, 0], gradient


def parts_of(logits):
    """The largest logit of each row, and the sum of exp(logit - largest) of the others."""
    if logits.shape[1] == 0:
        none = logits.new_zeros(len(logits), 1)
        return none - float("inf"), none
    largest, place = logits.max(1, keepdim=True)
    shares = (logits - largest).exp().scatter(1, place, 0.0)
    return largest, shares.sum(1, keepdim=True)


def totals(step, rank, logits):
    """The same of all columns; the ranks of a y-group exchange their parts as floats."""
    largest, others = parts_of(logits)
    if not column_parallel(rank.grid, rank.tensor(step["logits"]), rank.tensor(step["labels"])):
        return largest, others
    trains = rank.values[step["subset"]] == TRAIN
    own = torch.cat([largest, others], 1).float() * trains
    peers = [peer for peer in rank.grid.along(rank.rank, "y") if peer != rank.rank]
    received = [torch.empty_like(own) for _ in peers]
    rank.wire.exchange([(peer, own) for peer in peers], list(zip(peers, received)))
    parts = torch.stack([own] + received).double()
    most, winner = parts[:, :, 0].max(0)
    counts = torch.ones_like(parts[:, :, 0]).scatter(0, winner[None], 0.0)
    counts = counts.masked_fill(parts[:, :, 0].isinf(), 0.0)
    scaled = (parts[:, :, 0] - most).exp() * (parts[:, :, 1] + counts)
    return most[:, None], scaled.sum(0)[:, None]


def score(step, rank):
    """Right answers of each subset, and the loss of the validation vertices where there is room."""
    logits, labels = rank.values[step["logits"]].double(), rank.values[step["labels"]]
    subset = rank.values[step["subset"]]
    several = labels.dtype == torch.bool
    known = known_of(step, rank, labels) if several else labels >= 0
    found = []
    for which in range(3):
        counted = (subset == which) & known
        if several:
            right = counted & (logits > 0)
            found += [(right & labels).sum(), (right & ~labels).sum(),
                      (counted & labels & ~(logits > 0)).sum()]
        else:
            found.append((counted & (first_largest(logits) == labels)).sum())
    if several:
        losses = F.binary_cross_entropy_with_logits(logits, labels.double(), reduction="none")
    else:
        log_shares = torch.log_softmax(logits, 1)
        losses = -log_shares.gather(1, labels.clamp(0, logits.shape[1] - 1))
    found.append(losses[(subset == VALID) & known].sum())
    out = rank.zeros(rank.tensor(step["counts"]))
    out[0, :] = torch.stack([value.double() for value in found])[:out.shape[1]]


def first_largest(logits):
    """The column of each row's largest logit, of equal ones the first."""
    columns = torch.arange(logits.shape[1], device=logits.device).expand_as(logits)
    there = logits == logits.max(1, keepdim=True).values
    return torch.where(there, columns, columns.new_full((), logits.shape[1])).min(
        1, keepdim=True).values
