"""gnnplan.torch.spmm beside SciPy, torch.sparse and PyTorch's own CSR products, taking turns:
    python3 bench/python/spmm.py [--graph vertices:nonzeros ...] [--widths 16 64 128 256] [--threads 1 2] [--rounds 5]

Each cell is the median milliseconds of a product; graphs are uniformly random, with values that are not 1."""

import argparse
import statistics
import time

import numpy
import scipy.sparse
import torch

import gnnplan.torch

GRAPHS = ["20000:400000", "170000:2500000", "60000:6000000"]


def matrix_of(text):
    vertices, nonzeros = (int(number) for number in text.split(":"))
    draw = numpy.random.default_rng(0)
    index = draw.integers(0, vertices, (2, nonzeros))
    values = draw.random(nonzeros, dtype=numpy.float32)
    matrix = scipy.sparse.coo_matrix((values, index), (vertices, vertices)).tocsr()
    matrix.sum_duplicates()
    return matrix


def entrants(matrix, x):
    """Name and product of each, the first being ours."""
    csr = torch.sparse_csr_tensor(torch.from_numpy(matrix.indptr.astype(numpy.int64)),
                                  torch.from_numpy(matrix.indices.astype(numpy.int64)),
                                  torch.from_numpy(matrix.data), matrix.shape)
    prepared = gnnplan.torch.Adjacency(csr)
    dense = x.numpy()
    return [("gnnplan", lambda: gnnplan.torch.spmm(prepared, x)), ("PyTorch, CSR", lambda: csr @ x),
            ("PyTorch, spmm_reduce", lambda: torch.sparse.mm(csr, x, "sum")), ("SciPy", lambda: matrix @ dense)]


def milliseconds(work):
    begin = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begin)


def row(matrix, width, rounds):
    x = torch.randn(matrix.shape[1], width)
    named = entrants(matrix, x)
    results = {name: torch.as_tensor(work()) for name, work in named}
    worst = max(float((results["gnnplan"] - other).abs().max()) for other in results.values())
    times = {name: [] for name, _ in named}
    for _ in range(rounds):
        for name, work in named:
            times[name].append(milliseconds(work))
    middle = {name: statistics.median(values) for name, values in times.items()}
    others = [f"{middle[name]:.1f} ({middle[name] / middle['gnnplan']:.1f}x)" for name, _ in named[1:]]
    return [f"{middle['gnnplan']:.1f}", *others, f"{worst:.1e}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", nargs="+", default=GRAPHS)
    parser.add_argument("--widths", nargs="+", type=int, default=[16, 64, 128, 256])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("| vertices:nonzeros | threads | columns | gnnplan | PyTorch, CSR | PyTorch, spmm_reduce | SciPy | largest difference |")
    print("|---|---|---|---|---|---|---|---|")
    for graph in options.graph:
        matrix = matrix_of(graph)
        for threads in options.threads:
            torch.set_num_threads(threads)
            for width in options.widths:
                print(f"| {graph} | {threads} | {width} |", " | ".join(row(matrix, width, options.rounds)), "|", flush=True)


if __name__ == "__main__":
    main()
