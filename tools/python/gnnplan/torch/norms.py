"""Layer normalisation of rows, and batch normalisation of columns.

Sums are made in doubles, as gnnrun's are. x is z with mean 0 and variance 1.
"""

import torch

NORM_EPSILON = 1e-5
MOMENTUM = 0.1


def local_columns(rank, name, of):
    """A parameter, or sums by column, in the columns that this rank has of a matrix."""
    first, last = rank.block(of)[1]
    return rank.values[name][:, first:last].double()


def put_columns(rank, name, of, rows):
    """Puts sums over rows where this rank's columns are, and zeros elsewhere: a summand."""
    out = rank.zeros(rank.tensor(name))
    first, last = rank.block(of)[1]
    for i, row in enumerate(rows):
        out[i, first:last] = row.to(out.dtype)


class LayerNorm:
    """A step of kind norm; its operands are in the order of docs/plan-format.md."""

    def __init__(self, step, rank):
        self.step, self.rank, self.ins, self.outs = step, rank, step["in"], step["out"]
        self.z = rank.values[self.ins[0]].double()
        self.share = 1.0 / rank.tensor(self.ins[0]).columns

    def run(self):
        getattr(self, self.step["op"])()

    def parameter(self, i):
        return local_columns(self.rank, self.ins[i], self.ins[0])

    def put(self, i, value):
        self.rank.values[self.outs[i]] = value.float()

    def x(self):
        mean, variance = (self.rank.values[name].double() for name in self.ins[1:3])
        inverse = 1 / torch.sqrt(variance + NORM_EPSILON)
        return (self.z - mean) * inverse, inverse

    def rows(self):
        mean = self.z.sum(1, keepdim=True) * self.share
        variance = ((self.z - mean) ** 2).sum(1, keepdim=True) * self.share
        x = (self.z - mean) / torch.sqrt(variance + NORM_EPSILON)
        for i, value in enumerate((mean, variance, x * self.parameter(1) + self.parameter(2))):
            self.put(i, value)

    def mean(self):
        self.put(0, self.z.sum(1, keepdim=True) * self.share)

    def variance(self):
        mean = self.rank.values[self.ins[1]].double()
        self.put(0, ((self.z - mean) ** 2).sum(1, keepdim=True) * self.share)

    def scale(self):
        self.put(0, self.x()[0] * self.parameter(3) + self.parameter(4))

    def sums_of(self, g):
        x, _ = self.x()
        scaled = g * self.parameter(3)
        of_rows = torch.stack([scaled.sum(1), (scaled * x).sum(1)], 1) * self.share
        return of_rows, (g * x).sum(0), g.sum(0)

    def sums(self):
        of_rows, of_weight, of_bias = self.sums_of(self.rank.values[self.ins[4]].double())
        self.put(0, of_rows)
        put_columns(self.rank, self.outs[1], self.ins[0], [of_weight])
        put_columns(self.rank, self.outs[2], self.ins[0], [of_bias])

    def apply_back(self, sums):
        x, inverse = self.x()
        g = self.rank.values[self.step["gradient"]].double()
        back = (g * self.parameter(3) - sums[:, :1] - x * sums[:, 1:]) * inverse
        self.rank.values[self.step["gradient"]] = back.float()

    def back(self):
        self.apply_back(self.rank.values[self.ins[4]].double())

    def rows_back(self):
        g = self.rank.values[self.step["gradient"]].double()
        of_rows, of_weight, of_bias = self.sums_of(g)
        self.apply_back(of_rows)
        put_columns(self.rank, self.outs[0], self.ins[0], [of_weight])
        put_columns(self.rank, self.outs[1], self.ins[0], [of_bias])


class BatchNorm:
    """A step of kind batch_norm."""

    def __init__(self, step, rank):
        self.step, self.rank, self.ins, self.outs = step, rank, step["in"], step["out"]

    def run(self):
        getattr(self, self.step["op"])()

    def by_columns(self, i):
        return local_columns(self.rank, self.ins[i], self.ins[0])

    def x(self):
        z = self.rank.values[self.ins[0]].double()
        return (z - self.by_columns(1)) * self.by_columns(2)

    def put_moments(self, mean, variance):
        self.rank.values[self.outs[0]] = mean.float()
        self.rank.values[self.outs[1]] = (1 / torch.sqrt(variance.double() + NORM_EPSILON)).float()

    def moments(self):
        z = self.rank.values[self.ins[0]].double()
        put_columns(self.rank, self.outs[0], self.ins[0], [z.sum(0), (z * z).sum(0)])

    def finish(self):
        rows, sums = self.step["rows"], self.rank.values[self.ins[0]]
        mean = sums[:1] / rows
        variance = torch.clamp(sums[1:2] / rows - mean * mean, min=0)
        self.put_moments(mean, variance)
        sample = variance * rows / (rows - 1) if rows > 1 else variance
        for name, value in zip(self.step["running"], (mean, sample)):
            running = self.rank.values[name]
            running += MOMENTUM * (value.float() - running)

    def known(self):
        mean, variance = (self.rank.values[name] for name in self.ins)
        self.put_moments(mean.clone(), variance)

    def scale(self):
        made = self.x() * self.by_columns(3) + self.by_columns(4)
        self.rank.values[self.outs[0]] = made.float()

    def sums(self):
        g = self.rank.values[self.ins[3]].double()
        put_columns(self.rank, self.outs[0], self.ins[0], [(g * self.x()).sum(0)])
        put_columns(self.rank, self.outs[1], self.ins[0], [g.sum(0)])

    def back(self):
        g = self.rank.values[self.step["gradient"]].double()
        rows = self.rank.tensor(self.ins[0]).rows
        means = (self.by_columns(5) + self.x() * self.by_columns(4)) / rows
        made = (g - means) * self.by_columns(3) * self.by_columns(2)
        self.rank.values[self.step["gradient"]] = made.float()


def norm(step, rank):
    LayerNorm(step, rank).run()


def batch_norm(step, rank):
    BatchNorm(step, rank).run()
