"""Two layers of PyTorch Geometric before and after gnnplan.torch.accelerate_pyg(), forward and backward:
    python3 bench/python/accelerate_pyg.py [--vertices 170000] [--edges 2300000] [--widths 128 256 40] [--threads 2]

Epochs of each network before it, then after it; medians."""

import argparse
import statistics
import time

import torch
from torch_geometric import nn

import gnnplan.torch

NETWORKS = {"GCNConv": nn.GCNConv, "SAGEConv, mean": nn.SAGEConv,
            "SAGEConv, max": lambda wide, narrow: nn.SAGEConv(wide, narrow, aggr="max"),
            "GINConv": lambda wide, narrow: nn.GINConv(torch.nn.Linear(wide, narrow))}


def milliseconds(make_layer, widths, x, edge_index, epochs):
    layers = torch.nn.ModuleList(make_layer(wide, narrow) for wide, narrow in zip(widths, widths[1:]))
    times = []
    for _ in range(epochs + 1):  # the first one prepares
        begin = time.perf_counter()
        layers.zero_grad()
        h = x
        for number, layer in enumerate(layers):
            h = layer(h if number == 0 else h.relu(), edge_index)
        h.square().mean().backward()
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vertices", type=int, default=170_000)
    parser.add_argument("--edges", type=int, default=2_300_000)
    parser.add_argument("--widths", nargs="+", type=int, default=[128, 256, 40])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    edge_index = torch.randint(0, options.vertices, (2, options.edges))
    x = torch.randn(options.vertices, options.widths[0])
    times = {name: [milliseconds(layer, options.widths, x, edge_index, options.epochs)] for name, layer in NETWORKS.items()}
    gnnplan.torch.accelerate_pyg()
    print("| network | PyTorch Geometric | accelerated |\n|---|---|---|")
    for name, layer in NETWORKS.items():
        times[name].append(milliseconds(layer, options.widths, x, edge_index, options.epochs))
        before, after = times[name]
        print(f"| {name} | {before:.0f} ms | {after:.0f} ms ({before / after:.1f}x) |", flush=True)


if __name__ == "__main__":
    main()
