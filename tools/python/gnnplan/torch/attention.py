"""The programs of attention: softmaxes over the nonzeros of each row, products by edges, and gradients.

A row of attention may meet its nonzeros in several blocks: its sums are rescaled when a larger score comes.
"""

import torch

from . import philox
from .heads import Heads


def leaky(x, slope):
    return torch.where(x > 0, x, slope * x)


def stored_scores(x, kept):
    """Scores whose last bit says whether the weight is dropped, and the sign whether x <= 0."""
    bits = x.contiguous().view(torch.int32) & ~1 | (kept == 0).to(torch.int32)
    sign = torch.full_like(bits, -2 ** 31)
    return (bits | torch.where(x > 0, torch.zeros_like(bits), sign)).view(torch.float32)


def was_dropped(stored):
    return (stored.contiguous().view(torch.int32) & 1).bool()


class Dropout:
    """The factors of the weights of edges."""

    def __init__(self, step, rank, heads):
        self.step, self.rank, self.heads = step, rank, heads
        drops = rank.settings.training and (step["dropout"] or step["stored"])
        self.share = rank.plan.run.get("attention_dropout", 0) if drops else 0

    def drawn(self, like, targets, sources):
        """Draws, for edges of these vertices; targets and sources are called where something is dropped."""
        if self.share == 0:
            return torch.ones_like(like)
        first = self.heads.first_head
        kept = philox.kept_edges(
            self.rank.seed, self.rank.settings.epoch, self.step["layer"], self.share,
            targets()[:, 0].cpu().numpy(), sources()[:, 0].cpu().numpy(),
            (first, first + like.shape[1]), self.step["heads"])
        return torch.from_numpy(kept).to(like) / (1 - self.share)

    def stored(self, scores):
        return torch.where(was_dropped(scores), 0.0, 1 / (1 - self.share)).to(scores)


class Attend:
    """sums = the sum over u of softmax(leaky(s_u + t_v)) h_u, by heads."""

    def __init__(self, step, rank):
        self.operands, rows = step["column_operands"], step["row_operands"]
        self.target = rank.values[rows[0]]
        self.row_vertices = rank.values[rows[1]] if len(rows) > 1 else None
        made = [rank.zeros(rank.tensor(name)) for name in step["results"]]
        self.sums, self.log_total, self.total = made[:3]
        self.by_target, self.share = made[3:5] if len(made) > 3 else (None, None)
        self.scores = made[5] if len(made) > 5 else None
        self.largest = torch.full_like(self.total, -float("inf"))
        self.slope = step["slope"]
        self.heads = Heads(rank, step["heads"], self.operands[0], self.operands[1])
        self.dropout = Dropout(step, rank, self.heads)

    def take(self, block, operands, at):
        h, source = operands[:2]
        row, column = block.row_of_each(), block.column
        x = source[column] + self.target[row]
        score = leaky(x, self.slope)
        self.rescale(row, score)
        weight = (score - self.largest[row]).exp()
        negative = weight * ~(x > 0)
        kept = self.dropout.drawn(x, lambda: self.row_vertices[row], lambda: operands[2][column])
        self.total.index_add_(0, row, weight)
        self.add(block, kept * weight, h, self.sums)
        if self.by_target is not None:
            self.share.index_add_(0, row, negative)
            self.add(block, kept * negative, h, self.by_target)
        if self.scores is not None:
            self.scores[at] = stored_scores(x, kept)

    def rescale(self, row, score):
        """Scales what was added up before by exp(largest before - largest now)."""
        before = self.largest.clone()
        self.largest.scatter_reduce_(0, row[:, None].expand_as(score), score, "amax")
        factor = (before - self.largest).exp().masked_fill(self.total == 0, 0)
        self.total *= factor
        self.sums *= self.heads.spread(factor)
        if self.by_target is not None:
            self.share *= factor
            self.by_target *= self.heads.spread(factor)

    def add(self, block, weights, h, to):
        add_by_heads(self.heads, block, weights, h, to)

    def finish(self):
        there = self.total > 0
        total = torch.where(there, self.total, torch.ones_like(self.total))
        wide = self.heads.spread(total)
        self.sums /= wide
        if self.by_target is not None:
            share = self.heads.spread(self.share / total)
            self.by_target.copy_((self.slope - 1) * (self.by_target / wide - share * self.sums))
        self.log_total.copy_(torch.where(there, self.largest + total.log(), torch.zeros_like(total)))


def add_by_heads(heads, block, weights, dense, to):
    """Adds, of each head, the product of the block with its weights as values and its columns."""
    for k, columns in enumerate(heads.columns):
        if columns.start < columns.stop:
            product = block.with_values(weights[:, k]).times(dense[:, columns].contiguous())
            to[:, columns] += product


class AttendBack:
    """The gradients of h, for given weights, and of s; rows are sources of edges, columns targets."""

    def __init__(self, step, rank):
        self.operands, self.with_scores = step["column_operands"], bool(step["stored"])
        rows = [rank.values[name] for name in step["row_operands"]]
        self.h, self.scores = rows[0], rows[1] if self.with_scores else None
        self.source = None if self.with_scores else rows[1]
        self.row_vertices = rows[2] if len(rows) > 2 else None
        self.of_h, self.of_source = (rank.zeros(rank.tensor(name)) for name in step["results"])
        self.slope = step["slope"]
        log_total = self.operands[1 if self.with_scores else 2]
        self.heads = Heads(rank, step["heads"], self.operands[0], log_total)
        self.dropout = Dropout(step, rank, self.heads)

    def take(self, block, operands, at):
        row, column = block.row_of_each(), block.column
        if self.with_scores:
            gradient, log_total, inner = operands
            x = self.scores[at]
            kept = self.dropout.stored(x)
        else:
            gradient, target, log_total, inner = operands[:4]
            x = self.source[row] + target[column]
            kept = self.dropout.drawn(x, lambda: operands[4][column],
                                      lambda: self.row_vertices[row])
        weight = (leaky(x, self.slope) - log_total[column]).exp()
        of_weight = self.of_weights(gradient, row, column)
        slope = torch.where(x > 0, 1.0, self.slope).to(x)
        self.of_source.index_add_(0, row, weight * slope * (kept * of_weight - inner[column]))
        add_by_heads(self.heads, block, kept * weight, gradient, self.of_h)

    def of_weights(self, gradient, row, column):
        """<gradient of v, h of u> of each edge and head, of the columns that are here."""
        return torch.stack([(gradient[:, columns][column] * self.h[:, columns][row]).sum(1)
                            for columns in self.heads.columns], 1)

    def finish(self):
        pass


class Dot:
    """The score of each edge is the product of the rows of its ends."""

    def __init__(self, step, rank):
        self.operands = step["column_operands"]
        self.rows = rank.values[step["row_operands"][0]]
        self.out = rank.zeros(rank.tensor(step["results"][0]))

    def take(self, block, operands, at):
        products = operands[0][block.column].double() * self.rows[block.row_of_each()].double()
        self.out[at] = products.sum(1, keepdim=True).float()

    def finish(self):
        pass


class EdgeSum:
    """out = M in, with values of edges in place of the matrix's own."""

    def __init__(self, step, rank):
        self.operands = step["column_operands"]
        self.values = rank.values[step["row_operands"][0]]
        self.out = rank.zeros(rank.tensor(step["results"][0]))

    def take(self, block, operands, at):
        self.out += block.with_values(self.values[at][:, 0]).times(operands[0])

    def finish(self):
        pass
