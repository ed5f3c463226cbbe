#!/usr/bin/env python3
"""SpMM of gnnplan's CPU backend and of PyTorch's CSR: same matrix, same operands, same threads, in one process, alternating.

    gnnplan graph generate rmat --vertices 170000 --nonzeros 2490000 --seed 1 -o arxiv.npz
    /usr/bin/python3 bench/kernels/spmm_peers.py arxiv.npz --build build/release --widths 128

PyTorch is whichever the interpreter has: Debian's is `apt-get install python3-torch` and /usr/bin/python3; another runs
in its own virtual environment. Prints versions, medians and ratios.
"""
import argparse, ctypes, pathlib, platform, time, warnings

import numpy
import torch


def load(path):
    """The graph with self loops, normalised symmetrically: row starts, columns, values."""
    with numpy.load(path) as file:
        n, (source, target) = int(file["num_nodes"]), file["edge_index"].astype(numpy.int64)
    loops = numpy.arange(n, dtype=numpy.int64)
    key = numpy.unique(numpy.concatenate([target * n + source, loops * n + loops]))
    row, column = key // n, (key % n).astype(numpy.int32)
    degree = numpy.bincount(row, minlength=n)
    start = numpy.concatenate([[0], numpy.cumsum(degree)])
    value = (1 / numpy.sqrt(degree[row].astype(float) * degree[column])).astype(numpy.float32)
    return start, column, value


def in_panels(start, column, value, width):
    """The same matrix in source panels of `width` columns."""
    n = len(start) - 1
    row = numpy.repeat(numpy.arange(n), numpy.diff(start))
    panel = column // width
    order = numpy.argsort(panel, kind="stable")
    starts, before = [], 0
    for p in range(-(-n // width)):
        counts = numpy.bincount(row[panel == p], minlength=n)
        starts.append(before + numpy.concatenate([[0], numpy.cumsum(counts)]))
        before += int(counts.sum())
    return numpy.concatenate(starts), column[order], value[order]


class Ours:
    def __init__(self, build, threads):
        self.library = ctypes.CDLL(str(build / "lib" / "libgnnplan_spmm.so"))
        self.library.gnnplan_set_threads(threads)

    def product(self, matrix, b, c):
        """A function that computes c = matrix * b."""
        rows, width = b.shape
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in matrix]
        arguments = [ctypes.c_int64(rows), ctypes.c_int64(rows), ctypes.c_int64(len(matrix[0]) // (rows + 1)), *pointers,
                     ctypes.c_void_p(b.data_ptr()), ctypes.c_void_p(c.data_ptr()), ctypes.c_int64(width)]
        return lambda: self.library.gnnplan_spmm(*arguments)


def measure(functions, repeats):
    """Medians in seconds; one round of all of them after another, the first one left out."""
    times = [[] for _ in functions]
    for round in range(repeats + 1):
        for function, seconds in zip(functions, times):
            start = time.perf_counter()
            function()
            if round > 0:
                seconds.append(time.perf_counter() - start)
    return [float(numpy.median(seconds)) for seconds in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=pathlib.Path, help=".npz of `gnnplan graph generate`")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--widths", type=lambda text: [int(part) for part in text.split(",")], default=[128])
    parser.add_argument("--panel-columns", type=int, default=0, help="of source panels; 0: one panel")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, Python {platform.python_version()}")
    start, column, value = load(options.graph)
    n = len(start) - 1
    print(f"{options.graph.name}: {n} vertices, {len(column)} nonzeros, panels of {options.panel_columns or n} columns")
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
    theirs = torch.sparse_csr_tensor(torch.from_numpy(start.astype(numpy.int32)), torch.from_numpy(column),
                                     torch.from_numpy(value), size=(n, n))
    matrix = in_panels(start, column, value, options.panel_columns) if options.panel_columns else (start, column, value)
    ours = Ours(options.build, options.threads)
    for width in options.widths:
        b, c = torch.rand(n, width), torch.empty(n, width)
        run = ours.product(matrix, b, c)
        run()
        want = theirs @ b
        difference = float((want - c).abs().max() / want.abs().max())
        assert difference < 1e-4, f"results differ by {difference}"  # sums of thousands of terms in another order
        peer, own = measure([lambda: theirs @ b, run], options.repeats)
        print(f"width {width}: PyTorch {peer * 1e3:.1f} ms, gnnplan {own * 1e3:.2f} ms, ratio {peer / own:.1f}")


if __name__ == "__main__":
    main()
