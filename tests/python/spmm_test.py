"""gnnplan.torch.spmm against PyTorch's own products: values and gradients. Skipped (77) without PyTorch."""

import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

import gnnplan
import gnnplan.torch
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

    def test_a_nan_among_neighbours_is_their_maximum(self):
        matrix = drawn(weighted=False)
        x = torch.randn(150, 20)
        x[3, 5] = x[100, 0] = float("nan")
        rows, columns = matrix.indices()
        expected = torch.zeros(200, 20).scatter_reduce(0, rows.unsqueeze(1).expand(-1, 20), x[columns], "amax",
                                                       include_self=False)
        self.assertGreater(int(expected.isnan().sum()), 2)
        torch.testing.assert_close(spmm(matrix, x, "max"), expected, equal_nan=True)

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


def trained(layer, x, edge_index, target):
    """The output and the gradients of a layer."""
    layer.zero_grad()
    out = layer((x, x[:target]) if target else x, edge_index)
    out.square().sum().backward()
    return [out.detach(), *(weight.grad.clone() for weight in layer.parameters())]


class Layers(unittest.TestCase):
    def test_of_pyg_take_the_weights_of_a_run(self):
        try:
            from torch_geometric.nn import GCN, GraphSAGE
        except ImportError:
            self.skipTest("PyTorch Geometric is not installed")
        torch.manual_seed(0)
        x, edge_index = torch.randn(60, 8), torch.randint(0, 60, (2, 300))
        edge_index = torch.cat([edge_index, edge_index.flip(0)], 1).unique(dim=1)
        edge_index = edge_index[:, edge_index[0] != edge_index[1]]
        data = gnnplan.Data.from_arrays(edge_index, x, torch.randint(0, 3, (60,)), train=torch.arange(40))
        for model, network in (("gcn", GCN), ("sage", GraphSAGE)):
            plan = gnnplan.plan(data, model, ranks=2, hidden=8, layers=2, bias=True, machine="cpu-node")
            run = gnnplan.train(plan, epochs=5, autotune=0, logits=True)
            theirs = network(8, 8, 2, 3)
            theirs.load_state_dict(run.state_dict())
            with torch.no_grad():
                logits = theirs(x, edge_index)
            torch.testing.assert_close(logits, torch.from_numpy(run.logits), atol=1e-4, rtol=1e-4)
        plan = gnnplan.plan(data, "gin", ranks=1, hidden=8, layers=2, machine="cpu-node")
        with self.assertRaises(gnnplan.UsageError):
            gnnplan.train(plan, epochs=1).state_dict()

    def test_of_pyg_stay_what_they_were(self):
        try:
            from torch_geometric import nn
        except ImportError:
            self.skipTest("PyTorch Geometric is not installed")
        torch.manual_seed(0)
        x, edge_index = torch.randn(60, 8), torch.randint(0, 60, (2, 500))
        weight = torch.rand(500)
        makers = {"GCN": lambda: nn.GCNConv(8, 5), "cached": lambda: nn.GCNConv(8, 5, cached=True),
                  "plain": lambda: nn.GCNConv(8, 5, normalize=False), "SAGE": lambda: nn.SAGEConv(8, 5),
                  "largest": lambda: nn.SAGEConv(8, 5, aggr="max"), "several": lambda: nn.SAGEConv(8, 5, aggr=["max", "mean"]),
                  "GIN": lambda: nn.GINConv(torch.nn.Linear(8, 5), train_eps=True), "GAT": lambda: nn.GATConv(8, 5)}

        def all_results():
            results = {}
            for name, make_layer in makers.items():
                torch.manual_seed(1)
                layer = make_layer()
                results[name] = trained(layer, x, edge_index, 0)
                results[name + " again"] = trained(layer, x, edge_index, 0)
            torch.manual_seed(2)
            results["bipartite"] = trained(nn.SAGEConv(8, 5), x, edge_index % 30, 30)
            torch.manual_seed(3)
            results["weights"] = [nn.GCNConv(8, 5)(x, edge_index, weight).detach()]
            return results

        before = all_results()
        gnnplan.torch.accelerate_pyg()
        gnnplan.torch.accelerate_pyg()  # again is the same
        for name, results in all_results().items():
            for mine, other in zip(results, before[name]):
                torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4, msg=lambda text: f"{name}: {text}")
        changed = edge_index.clone()
        layer, other = nn.SAGEConv(8, 5), nn.GCNConv(8, 5)
        with torch.inference_mode():
            expected = other(x, changed).clone()
        trained(other, x, changed, 0)
        torch.testing.assert_close(other(x, changed).detach(), expected, atol=1e-5, rtol=1e-5)
        gcn_norm = nn.conv.gcn_conv.gcn_norm
        self.assertEqual(len(gcn_norm(changed, num_nodes=60)), 2)
        first = layer(x, changed).detach()
        changed[:, :250] = changed[:, 250:]
        self.assertGreater(float((layer(x, changed) - first).abs().max()), 0)  # a tensor that was changed is seen


if __name__ == "__main__":
    unittest.main()
