#!/usr/bin/env python3
"""Epochs of a GCN of two layers in PyTorch and PyG on a GPU, to lay beside those of gnnrun --backend cuda.

  gpu_peers.py GRAPH.npz [--hidden 256] [--epochs 30]

GRAPH.npz is one of `gnnplan graph generate`, whose edges come with their reverses. Needs PyTorch with CUDA and PyG. Each
entrant trains with a fused Adam, in fp32 without TF32, after five epochs that are not counted. Times are medians, with
quartiles, by the GPU's events."""
import argparse, statistics
import numpy, torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv


def measured(work, repeats, warm_up):
    """The milliseconds of each call, in ascending order."""
    for _ in range(warm_up):
        work()
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)


class WithPyG(torch.nn.Module):
    name = "PyG GCNConv, cached, edge_index"

    def __init__(self, x, edges, matrix, hidden, classes):
        super().__init__()
        self.x, self.edges = x, edges
        self.layers = torch.nn.ModuleList([GCNConv(x.shape[1], hidden, cached=True), GCNConv(hidden, classes, cached=True)])

    def forward(self):
        return self.layers[1](F.relu(self.layers[0](self.x, self.edges)), self.edges)


def symmetric_product(matrix):
    class Product(torch.autograd.Function):
        forward = staticmethod(lambda context, x: matrix @ x)
        backward = staticmethod(lambda context, gradient: matrix @ gradient)
    return Product.apply


class WithCsr(torch.nn.Module):
    name = "PyTorch CSR products (cuSPARSE), dense layers"

    def __init__(self, x, edges, matrix, hidden, classes):
        super().__init__()
        self.x, self.product = x, symmetric_product(matrix)
        self.layers = torch.nn.ModuleList([torch.nn.Linear(x.shape[1], hidden), torch.nn.Linear(hidden, classes)])

    def forward(self):
        return self.product(self.layers[1](F.relu(self.product(self.layers[0](self.x)))))


def normalised(edges, vertices):
    """The matrix of a GCN in CSR form: self loops, weights by the square roots of both degrees."""
    loops = torch.arange(vertices, device="cuda")
    row, column = torch.cat([edges[1], loops]), torch.cat([edges[0], loops])
    degree = torch.bincount(row, minlength=vertices).float()
    values = degree[row].rsqrt() * degree[column].rsqrt()
    return torch.sparse_coo_tensor(torch.stack([row, column]), values, (vertices, vertices)).coalesce().to_sparse_csr()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=30)
    asked = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    data = {name: torch.from_numpy(array).cuda() for name, array in numpy.load(asked.graph).items()}
    x, labels, train = data["x"], data["y"].long().reshape(-1), data["train_idx"].long().reshape(-1)
    edges = data["edge_index"].long().contiguous()
    matrix, classes = normalised(edges, len(x)), int(labels.max()) + 1
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name(0)}: {len(x)} vertices, {edges.shape[1]} edges")
    for entrant in WithPyG, WithCsr:
        model = entrant(x, edges, matrix, asked.hidden, classes).cuda()
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)

        def epoch():
            optimiser.zero_grad(set_to_none=True)
            F.cross_entropy(model()[train], labels[train]).backward()
            optimiser.step()

        times = measured(epoch, asked.epochs, 5)
        low, high = times[len(times) // 4], times[len(times) * 3 // 4]
        print(f"{entrant.name}: {statistics.median(times):.3f} ms an epoch [{low:.3f} .. {high:.3f}]")


if __name__ == "__main__":
    main()
