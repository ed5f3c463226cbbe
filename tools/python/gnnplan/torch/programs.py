"""The programs of a pass over the nonzeros: they make a sum, or maxima, of the rows met.

A program takes one block of nonzeros after the other, with the rows of its column operands, and with the
places of values that edges have in it.
"""

from .attention import Attend, AttendBack, Dot, EdgeSum


class Sum:
    """out = M in; with bf16 the elements of `in` are rounded to bfloat16, and sums are of floats."""

    def __init__(self, step, rank):
        self.rounds = step["bf16"]
        self.operands = step["column_operands"] or [step["in"]]
        name = step["out"] or step["results"][0]
        self.out = rank.zeros(rank.tensor(name))

    def take(self, block, operands, at):
        dense = operands[0].bfloat16().float() if self.rounds else operands[0]
        self.out += block.times(dense)

    def finish(self):
        pass


class Max:
    """The largest element over the columns of each row, and how many equal it; 0 of none."""

    def __init__(self, step, rank):
        self.operands = step["column_operands"]
        self.maxima, self.ties = (rank.zeros(rank.tensor(name)) for name in step["results"])
        self.maxima.fill_(-float("inf"))

    def take(self, block, operands, at):
        values, row = operands[0][block.column], block.row_of_each()
        before = self.maxima.clone()
        self.maxima.scatter_reduce_(0, row[:, None].expand_as(values), values, "amax")
        self.ties *= (before == self.maxima).to(self.ties.dtype)
        self.ties.index_add_(0, row, (values == self.maxima[row]).to(self.ties.dtype))

    def finish(self):
        self.maxima[self.ties == 0] = 0


class MaxBack:
    """The gradient of what maxima were taken of: shares where an element equals the maximum."""

    def __init__(self, step, rank):
        self.operands = step["column_operands"]
        self.own = rank.values[step["row_operands"][0]]
        self.out = rank.zeros(rank.tensor(step["results"][0]))

    def take(self, block, operands, at):
        share, maxima = operands
        row = block.row_of_each()
        equal = self.own[row] == maxima[block.column]
        self.out.index_add_(0, row, share[block.column] * equal)

    def finish(self):
        pass


PROGRAMS = {None: Sum, "max": Max, "max_back": MaxBack, "attend": Attend, "attend_back": AttendBack,
            "dot": Dot, "edge_sum": EdgeSum}
