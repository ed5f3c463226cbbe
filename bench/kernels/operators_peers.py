#!/usr/bin/env python3
"""Generalised SpMM of gnnplan's CPU backend and of DGL: same matrix, operands and threads, in one process, alternating.

    gnnplan graph generate rmat --vertices 170000 --nonzeros 2490000 --seed 1 -o arxiv.npz
    OMP_WAIT_POLICY=passive PEERS/dgl/bin/python bench/kernels/operators_peers.py arxiv.npz --build build/release

PEERS is the folder of environments that bench/epoch/peers.py makes; OMP_WAIT_POLICY=passive because PyTorch's wheel
brings an OpenMP of its own, whose idle threads would take the cores. DGL's kernel is what dgl.ops.gspmm calls, without
gradients; for max and min it also says which entry it was. Where entries have one number, DGL's copies of numbers have
one column, and so have ours here. Prints medians and ratios.
"""
import argparse, ctypes, os, pathlib, platform

import dgl, numpy, torch
from dgl._sparse_ops import _gspmm

from spmm_peers import load, measure

OPS = ["copy_lhs", "copy_rhs", "add", "sub", "mul", "div"]  # in the order of kernels/operators.hpp
REDUCES = ["sum", "max", "min"]


class Ours:
    def __init__(self, build, threads, start, column):
        self.library = ctypes.CDLL(str(build / "lib" / "libgnnplan_spmm.so"))
        self.library.gnnplan_set_threads(threads)
        self.matrix = (start, column)

    def reduction(self, op, reduce, x, e, out):
        """A function that computes `out`."""
        rows, width = out.shape
        start, column = (ctypes.c_void_p(array.ctypes.data) for array in self.matrix)
        arguments = [ctypes.c_int(OPS.index(op)), ctypes.c_int(REDUCES.index(reduce)), ctypes.c_int64(rows), start, column,
                     ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(e.data_ptr()), ctypes.c_int64(e.shape[1]),
                     ctypes.c_void_p(out.data_ptr()), ctypes.c_int64(width)]
        return lambda: self.library.gnnplan_gspmm(*arguments)


def dgl_graph(start, column):
    """Entry k of the matrix is edge k."""
    target = numpy.repeat(numpy.arange(len(start) - 1, dtype=numpy.int32), numpy.diff(start))
    graph = dgl.graph((torch.from_numpy(column), torch.from_numpy(target)), num_nodes=len(start) - 1)
    return graph.formats(["coo", "csc"])._graph


def compare(ours, graph, op, reduce, x, e, repeats):
    """Seconds of DGL's kernel and of ours, whose results must agree."""
    out = torch.empty(x.shape[0], 1 if op == "copy_rhs" and e.shape[1] == 1 else x.shape[1])
    own = ours.reduction(op, reduce, x, e, out)
    theirs = lambda: _gspmm(graph, op, reduce, None if op == "copy_rhs" else x, None if op == "copy_lhs" else e)[0]
    own()
    want = theirs()
    difference = float((want - out).abs().max() / want.abs().max())
    assert difference < 1e-4, f"results of {op}-{reduce} differ by {difference}"  # sums of thousands in another order
    return measure([theirs, own], repeats)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=pathlib.Path, help=".npz of `gnnplan graph generate`")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--numbers", type=lambda text: text.split(","), default=["scalar"], help="of entries: scalar,vector")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    print(f"DGL {dgl.__version__}, PyTorch {torch.__version__}, {torch.get_num_threads()} threads, Python "
          f"{platform.python_version()}, OMP_WAIT_POLICY={os.environ.get('OMP_WAIT_POLICY', 'unset')}")
    start, column, _ = load(options.graph)
    n = len(start) - 1
    print(f"{options.graph.name}: {n} vertices, {len(column)} nonzeros, width {options.width}")
    graph = dgl_graph(start, column)
    ours = Ours(options.build, options.threads, start, column)
    x = torch.rand(n, options.width) + 0.5
    for numbers in options.numbers:
        e = torch.rand(len(column), 1 if numbers == "scalar" else options.width) + 0.5
        for op in OPS:
            for reduce in REDUCES:
                peer, own = compare(ours, graph, op, reduce, x, e, options.repeats)
                print(f"{numbers} {op}-{reduce}: DGL {peer * 1e3:.1f} ms, gnnplan {own * 1e3:.2f} ms, ratio {peer / own:.2f}",
                      flush=True)


if __name__ == "__main__":
    main()
