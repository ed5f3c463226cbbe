#!/usr/bin/python3
"""Writes gcn_torch.txt: losses, gradients and weights of a small GCN as PyTorch computes them, in double precision.

Run by hand with PyTorch installed (Debian: python3-torch); the result is kept beside this script, so that tests need no
Python. Usage: make_gcn_torch.py > gcn_torch.txt
"""
import platform

import torch

VERTICES, WIDTHS, STEPS = 11, [5, 7, 6, 4], 3
LEARNING_RATE, WEIGHT_DECAY = 0.01, 5e-4  # decay on the first layer's weights only
# Directed, with sinks, sources and one vertex (10) without neighbours; self loops are added below.
EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 4), (6, 4), (7, 4), (4, 8), (8, 9), (9, 0), (5, 7), (1, 8)]
LABELS = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2]
TRAINING = [0, 1, 3, 4, 6, 7, 10]


def propagation():
    """A^T of the normalised matrix D_out^-1/2 (A + I) D_in^-1/2, as a sparse tensor."""
    edges = EDGES + [(v, v) for v in range(VERTICES)]
    out_degree = torch.zeros(VERTICES, dtype=torch.float64)
    in_degree = torch.zeros(VERTICES, dtype=torch.float64)
    for u, v in edges:
        out_degree[u] += 1
        in_degree[v] += 1
    rows = [v for u, v in edges]
    columns = [u for u, v in edges]
    values = [1 / torch.sqrt(out_degree[u] * in_degree[v]) for u, v in edges]
    return torch.sparse_coo_tensor([rows, columns], torch.stack(values), (VERTICES, VERTICES)).coalesce()


def put(name, tensor):
    values = tensor.detach().reshape(-1).tolist() if torch.is_tensor(tensor) else tensor
    print(name, len(values), *(repr(value) for value in values))


def main():
    print(f"# PyTorch {torch.__version__}, Python {platform.python_version()}; written by make_gcn_torch.py")
    print("# name, count, values; matrices row-major; gradients are without weight decay")
    generator = torch.Generator().manual_seed(20220914)

    def uniform(*shape):
        return torch.rand(*shape, dtype=torch.float64, generator=generator) * 2 - 1

    at = propagation()
    features = uniform(VERTICES, WIDTHS[0])
    weights = [uniform(i, o).requires_grad_() for i, o in zip(WIDTHS, WIDTHS[1:])]
    biases = [(uniform(o) / 4).requires_grad_() for o in WIDTHS[1:]]
    put("widths", WIDTHS)
    put("matrix_rows", at.indices()[0])
    put("matrix_columns", at.indices()[1])
    put("matrix_values", at.values())
    put("features", features)
    put("labels", LABELS)
    put("training", TRAINING)
    put("learning_rate", [LEARNING_RATE])
    put("weight_decay", [WEIGHT_DECAY])
    optimizer = torch.optim.Adam([
        {"params": weights[:1], "weight_decay": WEIGHT_DECAY},
        {"params": weights[1:] + biases, "weight_decay": 0.0},
    ], lr=LEARNING_RATE)
    for step in range(STEPS + 1):
        for l, (w, b) in enumerate(zip(weights, biases), 1):
            put(f"step{step}.weight{l}", w)
            put(f"step{step}.bias{l}", b)
        if step == STEPS:
            break
        h = features
        for l, (w, b) in enumerate(zip(weights, biases), 1):
            z = torch.sparse.mm(at, h @ w) + b
            h = torch.relu(z) if l < len(weights) else z
        loss = torch.nn.functional.cross_entropy(h[TRAINING], torch.tensor(LABELS)[TRAINING])
        optimizer.zero_grad()
        loss.backward()
        put(f"step{step}.loss", [loss.item()])
        for l, (w, b) in enumerate(zip(weights, biases), 1):
            put(f"step{step}.weight_gradient{l}", w.grad)
            put(f"step{step}.bias_gradient{l}", b.grad)
        optimizer.step()


main()
