"""Each rank holds a block of a matrix, by the rules of docs/plan-format.md.

A range is a pair (begin, end). Axes are letters, and a list of axes is a string such as "xzy".
"""

LAYOUT_C, LAYOUT_R, LAYOUT_F = ("xz", "y", ""), ("xzy", "", ""), ("xz", "", "")
LAYOUT_COLUMNS = ("", "xzy", "")


def size(part):
    return part[1] - part[0]


def intersect(a, b):
    begin, end = max(a[0], b[0]), min(a[1], b[1])
    return begin, max(begin, end)


def balanced(whole, i, parts):
    """Block i of a range in so many parts, of which the first ones are longer by one."""
    shorter, longer = divmod(size(whole), parts)
    begin = whole[0] + i * shorter + min(i, longer)
    return begin, begin + shorter + (i < longer)


class Grid:
    """Ranks in a grid x, y, z, numbered along the axis `nearest` first, then along y, z, x."""

    def __init__(self, extents, nearest="y"):
        self.extent = dict(zip("xyz", extents))
        self.groups = None  # where groups of ranks along x have graphs of their own: their rows
        self.size = extents[0] * extents[1] * extents[2]
        order = [nearest] + [axis for axis in "yzx" if axis != nearest]
        self.slowest_first = order[::-1]
        self.stride, stride = {}, 1
        for axis in order:
            self.stride[axis] = stride
            stride *= self.extent[axis]

    def at(self, rank, axis):
        return rank // self.stride[axis] % self.extent[axis]

    def neighbour(self, rank, axis, place):
        """The rank that differs from `rank` in its place along an axis alone."""
        return rank + (place - self.at(rank, axis)) * self.stride[axis]

    def by_blocks(self):
        """The ranks in the order of the blocks of rows that they have in layout R."""
        blocks = [self.neighbour(0, "x", x) for x in range(self.extent["x"])]
        for axis in "zy":
            blocks = [self.neighbour(r, axis, i) for r in blocks for i in range(self.extent[axis])]
        return blocks

    def along(self, rank, axes):
        """The ranks that differ from `rank` along these axes alone, ascending by places."""
        ranks = [rank]
        for axis in self.slowest_first:
            if axis in axes:
                places = range(self.extent[axis])
                ranks = [self.neighbour(r, axis, i) for r in ranks for i in places]
        return ranks

    def split(self, n, axes, rank):
        """The block that `rank` holds of n rows or columns that are split over axes in order."""
        block = (0, n)
        for axis in axes:
            place = self.at(rank, axis)
            if axis == "x" and self.groups and n == self.groups[-1]:
                block = self.groups[place], self.groups[place + 1]
            else:
                block = balanced(block, place, self.extent[axis])
        return block

    def block(self, tensor, rank):
        """The rows and columns of a tensor that `rank` holds."""
        rows, columns, _ = tensor.layout
        return self.split(tensor.rows, rows, rank), self.split(tensor.columns, columns, rank)

    def placed(self, layout, other):
        """Whether two layouts place every element on the same ranks."""
        def split(axes):
            return [axis for axis in axes if self.extent[axis] > 1]
        return all(split(a) == split(b) for a, b in zip(layout, other))
