"""gnnplan.torch.spmm against PyTorch's own products: values and gradients. Skipped (77) without PyTorch."""

import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

import gnnplan
from gnnplan.torch import Adjacency, spmm


def drawn(rows=200, columns=150, nonzeros=1500, weighted=True):
    torch.manual_seed(0)
    index = torch.stack([torch.randint(0, rows, (nonzeros,)), torch.randint(0, columns, (nonzeros,))])
    matrix = torch.sparse_coo_tensor(index, torch.rand(nonzeros), (rows, columns)).coalesce()
    if weighted:
        return matrix
    return torch.sparse_coo_tensor(matrix.indices(), torch.ones(matrix._nnz()), matrix.shape).coalesce()


def gradient_of(product, x, weights):
    x = x.clone().requires_grad_()
    out = product(x)
    (out * weights).sum().backward()
    return out.detach(), x.grad


def in_double(matrix, reduce):
    """The same by PyTorch in double precision, from a gathered row for each nonzero."""
    rows, columns = matrix.indices()
    count = torch.bincount(rows, minlength=matrix.shape[0]).clamp(min=1).double().unsqueeze(1)

    def product(x):
        x = x.double()
        if reduce == "max":
            lowest = torch.full((matrix.shape[0], x.shape[1]), -1e9, dtype=torch.float64)
            out = lowest.scatter_reduce(0, rows.unsqueeze(1).expand(-1, x.shape[1]), x[columns], "amax")
            return torch.where(out < -1e8, torch.zeros((), dtype=torch.float64), out)
        out = torch.sparse.mm(matrix.double(), x)
        return out / count if reduce == "mean" else out

    return product


class Products(unittest.TestCase):
    def compare(self, matrix, given, reduce, columns):
        x = torch.randn(matrix.shape[1], columns)
        if reduce == "max":
            x = x.relu()  # many are equal
        weights = torch.randn(matrix.shape[0], columns)
        ours = gradient_of(lambda v: spmm(given, v, reduce), x, weights)
        theirs = gradient_of(in_double(matrix, reduce), x, weights.double())
        for mine, other in zip(ours, theirs):
            torch.testing.assert_close(mine.double(), other.double(), atol=2e-5, rtol=1e-5)

    def test_of_every_layout_and_width(self):
        for columns in (1, 5, 16, 64, 131):
            matrix = drawn()
            self.compare(matrix, matrix, "sum", columns)
            self.compare(matrix, matrix.to_sparse_csr(), "sum", columns)
            for reduce in ("mean", "max"):
                self.compare(drawn(weighted=False), drawn(weighted=False), reduce, columns)

    def test_rows_without_neighbours_are_zero(self):
        matrix = torch.sparse_coo_tensor([[0, 0], [1, 2]], [1.0, 1.0], (3, 4)).coalesce()
        for reduce in ("sum", "mean", "max"):
            self.assertEqual(float(spmm(matrix, torch.ones(4, 3), reduce)[1:].abs().sum()), 0)

    def test_slices_and_transposed_operands(self):
        matrix = drawn()
        wide = torch.randn(150, 40)
        expected = torch.sparse.mm(matrix, wide[:, 7:20])
        torch.testing.assert_close(spmm(matrix, wide[:, 7:20]), expected, atol=1e-5, rtol=1e-5)
        turned = torch.randn(13, 150).t()
        torch.testing.assert_close(spmm(matrix, turned), torch.sparse.mm(matrix, turned), atol=1e-5, rtol=1e-5)

    def test_a_prepared_matrix_serves_again(self):
        matrix = drawn()
        prepared = Adjacency(matrix)
        x = torch.randn(150, 8)
        self.assertTrue(torch.equal(spmm(prepared, x), spmm(matrix, x)))

    def test_refuses_what_it_cannot(self):
        matrix = drawn()
        for x, reduce in ((torch.randn(150, 4).double(), "sum"), (torch.randn(149, 4), "sum"), (torch.randn(150), "sum"),
                          (torch.randn(150, 4), "min")):
            with self.assertRaises(gnnplan.UsageError):
                spmm(matrix, x, reduce)
        with self.assertRaises(gnnplan.UsageError):
            spmm(matrix.clone().requires_grad_(), torch.randn(150, 4))


if __name__ == "__main__":
    unittest.main()
