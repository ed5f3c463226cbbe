"""Attention computes head by head: each head has some columns of a wide matrix."""

import torch


class Heads:
    """The columns that a rank has of a wide matrix, by heads, of which it has those of `by_heads`."""

    def __init__(self, rank, heads, wide, by_heads):
        each = rank.tensor(wide).columns // heads
        first, last = rank.block(wide)[1]
        self.first_head, end = rank.block(by_heads)[1]
        columns = torch.arange(first, last, device=rank.device)
        self.of_column = torch.div(columns, each, rounding_mode="floor") - self.first_head
        begins = [min(max(k * each - first, 0), last - first)
                  for k in range(self.first_head, end + 1)]
        self.columns = [slice(*ends) for ends in zip(begins, begins[1:])]

    def sums(self, wide):
        """The sums over the columns of each head."""
        return wide.new_zeros(len(wide), len(self.columns)).index_add_(1, self.of_column, wide)

    def spread(self, by_heads):
        """Each column has the number of its head."""
        return by_heads[:, self.of_column]


def makes_squares(step):
    """Whether a step makes lengths of rows, which are held as their square roots."""
    return step.kind == "head" and step["op"] == "dot" and step["in"][0] == step["in"][1]


def has_squares(plan, name):
    return any(makes_squares(step) and step["out"] == name for step in plan.steps)


def add_squares(a, b):
    """The sum of fourth powers, as its fourth root."""
    return (a.double() ** 4 + b.double() ** 4).sqrt().sqrt().float()


class HeadStep:
    """A step of kind head; its operands are in the order of docs/plan-format.md."""

    def __init__(self, step, rank):
        self.step, self.rank, self.ins, self.out = step, rank, step["in"], step["out"]

    def run(self):
        getattr(self, self.step["op"])()

    def value(self, i):
        return self.rank.values[self.ins[i]]

    def heads(self, wide, by_heads):
        return Heads(self.rank, self.step["heads"], wide, by_heads)

    def row_of(self, name, wide):
        """A wide matrix, or a parameter with a row for each head, which stands for every row."""
        if self.rank.tensor(name).role != "weight":
            return self.rank.values[name]
        return self.rank.values[name].reshape(1, -1)[:, slice(*self.rank.block(wide)[1])]

    def put(self, value):
        self.rank.values[self.out] = value.float()

    def dot(self):
        heads, x = self.heads(self.ins[0], self.out), self.value(0).double()
        sums = heads.sums(x * self.row_of(self.ins[1], self.ins[0]).double())
        self.put(sums.sqrt().sqrt() if makes_squares(self.step) else sums)

    def spread(self):
        by_heads = self.heads(self.out, self.ins[0]).spread(self.value(0))
        self.put(self.rank.values[self.out] + by_heads * self.row_of(self.ins[1], self.out))

    def fold(self):
        by_heads = self.heads(self.ins[0], self.ins[1]).spread(self.value(1))
        out = self.rank.zeros(self.rank.tensor(self.out))
        first, last = self.rank.block(self.ins[0])[1]
        sums = (self.value(0).double() * by_heads.double()).sum(0)
        out.view(-1)[first:last] = sums.float()

    def mean(self):
        x, heads = self.value(0), self.step["heads"]
        self.put(x.reshape(len(x), heads, -1).mean(1))

    def share(self):
        self.put(self.value(0).repeat(1, self.step["heads"]) / self.step["heads"])

    def inverse_lengths(self, i):
        """For each element 1 / |x|, and 0 where x is 0."""
        lengths = self.heads(self.out, self.ins[i]).spread(self.value(i)).double() ** 2
        return torch.where(lengths == 0, lengths, 1 / lengths)

    def unit(self):
        self.put(self.value(0).double() * self.inverse_lengths(1))

    def unit_back(self):
        inner = self.heads(self.out, self.ins[2]).spread(self.value(2)).double()
        back = self.value(0).double() - inner * self.value(1).double()
        self.put(self.rank.values[self.out] + (back * self.inverse_lengths(3)).float())


def head(step, rank):
    HeadStep(step, rank).run()


OPERATIONS = {"dot", "spread", "fold", "mean", "share", "unit", "unit_back"}
