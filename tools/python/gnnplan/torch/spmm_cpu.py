"""Sparse products for PyTorch on CPUs, by gnnplan's kernels: gnnplan.torch.spmm(adjacency, x)."""

import weakref

import torch

from .. import _core
from .._errors import UsageError

REDUCTIONS = ("sum", "mean", "max")


def _to_csr(rows, columns, values, count):
    """The nonzeros sorted by `rows`: row starts, columns and values."""
    order = torch.argsort(rows, stable=True)
    starts = torch.zeros(count + 1, dtype=torch.int64)
    torch.cumsum(torch.bincount(rows, minlength=count), 0, out=starts[1:])
    return starts, columns[order].to(torch.int32), None if values is None else values[order].contiguous()


class Adjacency:
    """A sparse matrix [rows, columns] and its transpose, as the kernels read them. Make it once, and multiply often."""

    def __init__(self, matrix):
        """A sparse tensor of PyTorch, in the layout csr, csc or coo."""
        matrix = matrix.detach()
        if matrix.layout == torch.sparse_csr:
            starts, columns = matrix.crow_indices(), matrix.col_indices()
            rows = torch.repeat_interleave(torch.arange(matrix.shape[0]), starts.diff())
            values = matrix.values()
        else:
            matrix = (matrix if matrix.layout == torch.sparse_coo else matrix.to_sparse()).coalesce()
            rows, columns = matrix.indices()
            values = matrix.values()
        self._prepare(rows, columns, values, tuple(matrix.shape))

    @classmethod
    def of_edges(cls, rows, columns, values, shape):
        """One nonzero for each edge, also where several have the same ends. `values` may be None, for ones."""
        made = cls.__new__(cls)
        made._prepare(rows, columns, values, shape)
        return made

    def _prepare(self, rows, columns, values, shape):
        if rows.device.type != "cpu":
            raise UsageError(64, f"the matrix is on {rows.device}, and the kernels compute on CPUs", "matrix")
        self.shape = shape
        if values is not None:
            values = values.to(torch.float32)
            if bool((values == 1).all()):
                values = None  # it is not read then
        self._rows = self._made(rows, columns, values, *self.shape)
        self._columns = self._made(columns, rows, values, self.shape[1], self.shape[0])
        degrees = torch.bincount(rows, minlength=self.shape[0]).clamp(min=1)
        self._inverse_degrees = (1.0 / degrees.to(torch.float32)).unsqueeze(1)

    @staticmethod
    def _made(rows, columns, values, count, width):
        starts, columns, values = _to_csr(rows, columns, values, count)
        return _core.CsrMatrix(starts.numpy(), columns.numpy(), None if values is None else values.numpy(), width)


def _rows_side_by_side(x):
    return x if x.stride(1) == 1 or x.shape[1] == 1 else x.contiguous()


def _multiply(matrix, x, rows):
    out = torch.empty((rows, x.shape[1]), dtype=torch.float32)
    matrix.multiply(_rows_side_by_side(x).numpy(), out.numpy(), torch.get_num_threads())
    return out


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(context, x, adjacency, mean):
        context.adjacency, context.mean = adjacency, mean
        out = _multiply(adjacency._rows, x.detach(), adjacency.shape[0])
        return out.mul_(adjacency._inverse_degrees) if mean else out

    @staticmethod
    def backward(context, gradient):
        adjacency = context.adjacency
        if context.mean:
            gradient = gradient * adjacency._inverse_degrees
        return _multiply(adjacency._columns, gradient.detach(), adjacency.shape[1]), None, None


class _Max(torch.autograd.Function):
    """Where several neighbours are the largest, the gradient is shared evenly, as by torch.amax."""

    @staticmethod
    def forward(context, x, adjacency):
        x = _rows_side_by_side(x.detach())
        maxima, ties = (torch.empty((adjacency.shape[0], x.shape[1])) for _ in range(2))
        adjacency._rows.maxima(x.numpy(), maxima.numpy(), ties.numpy(), torch.get_num_threads())
        context.adjacency = adjacency
        context.save_for_backward(x, maxima, ties)
        return maxima.clone()

    @staticmethod
    def backward(context, gradient):
        x, maxima, ties = context.saved_tensors
        share = torch.where(ties > 0, gradient.detach() / ties.clamp(min=1), torch.zeros(()))
        out = torch.empty_like(x)
        context.adjacency._columns.maxima_back(share.numpy(), maxima.numpy(), x.numpy(), out.numpy(),
                                               torch.get_num_threads())
        return out, None


_known = {}  # of matrices that were multiplied before and are still there: by id, as tensors have no equality


def adjacency_of(matrix):
    """The Adjacency of a sparse tensor, made when it is first seen. A tensor that was changed wants one of its own."""
    if isinstance(matrix, Adjacency):
        return matrix
    key = id(matrix)
    if key not in _known:
        _known[key] = Adjacency(matrix), weakref.ref(matrix, lambda _: _known.pop(key, None))
    return _known[key][0]


def spmm(matrix, x, reduce="sum"):
    """matrix [N, M], a sparse tensor or an Adjacency, times x [M, F] in float32: sums, means or maxima of the rows of x
    that the nonzeros of each row name. The values of the matrix weigh sums; means and maxima want values of 1. There is
    a gradient of x, and none of the matrix."""
    if reduce not in REDUCTIONS:
        raise UsageError(64, f"reduce is one of {', '.join(REDUCTIONS)}, not {reduce!r}", "reduce")
    if not isinstance(matrix, Adjacency) and matrix.requires_grad:
        raise UsageError(64, "there is no gradient of the matrix", "matrix", "multiply matrix.detach()")
    if x.dtype != torch.float32 or x.device.type != "cpu" or x.dim() != 2:
        raise UsageError(64, f"x is a float32 matrix on the CPU, not {x.dtype} {tuple(x.shape)} on {x.device}", "x")
    adjacency = adjacency_of(matrix)
    if x.shape[0] != adjacency.shape[1]:
        raise UsageError(64, f"x has {x.shape[0]} rows, and the matrix {adjacency.shape[1]} columns", "x")
    return _Max.apply(x, adjacency) if reduce == "max" else _Sum.apply(x, adjacency, reduce == "mean")
