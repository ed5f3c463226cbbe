"""A training problem in the form that the frameworks start from: plain NumPy arrays, one file each.

    python peer_problem.py GRAPH.npz FOLDER
    python peer_problem.py dress EDGES.txt.gz GRAPH.npz FEATURES CLASSES    # makes such a GRAPH.npz of an edge list
"""
import pathlib, sys

import numpy

ARRAYS = ("start", "column", "value", "features", "labels", "training")


def prepare(graph, folder):
    """Writes the arrays of a .npz data set of `gnnplan graph generate`.

    start [N + 1], column and value [nnz]: the symmetric adjacency matrix with self loops, normalised symmetrically, as CSR;
    features [N, f] float32; labels [N] int64; training: the vertices that the loss is over, int64.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with numpy.load(graph) as file:
        n, (source, target) = int(file["num_nodes"]), file["edge_index"].astype(numpy.int64)
        for name, ours in (("x", "features"), ("y", "labels"), ("train_idx", "training")):
            numpy.save(folder / f"{ours}.npy", file[name])
    loops = numpy.arange(n, dtype=numpy.int64)
    key = numpy.unique(numpy.concatenate([target * n + source, loops * n + loops]))
    row, column = key // n, key % n
    degree = numpy.bincount(row, minlength=n)
    numpy.save(folder / "start.npy", numpy.concatenate([[0], numpy.cumsum(degree)]).astype(numpy.int32))
    numpy.save(folder / "column.npy", column.astype(numpy.int32))
    numpy.save(folder / "value.npy", (1 / numpy.sqrt(degree[row].astype(float) * degree[column])).astype(numpy.float32))


def dress(edges, graph, features, classes):
    """Writes an edge list as a .npz data set: both directions, random features and labels, 60 % for training."""
    draw = numpy.random.default_rng(1)
    ends = numpy.loadtxt(edges, dtype=numpy.int64, comments="#").T
    n, ends = int(ends.max()) + 1, ends[:, ends[0] != ends[1]]
    key = numpy.unique(numpy.concatenate([ends[0] * n + ends[1], ends[1] * n + ends[0]]))
    order = draw.permutation(n)
    split = dict(zip(("train_idx", "valid_idx", "test_idx"), numpy.split(order, [n * 6 // 10, n * 8 // 10])))
    numpy.savez(graph, edge_index=numpy.stack([key // n, key % n]), num_nodes=n, y=draw.integers(int(classes), size=n),
                x=draw.normal(size=(n, int(features))).astype(numpy.float32), **split)


def load(folder):
    return {name: numpy.load(pathlib.Path(folder) / f"{name}.npy") for name in ARRAYS}


if __name__ == "__main__":
    dress(*sys.argv[2:]) if sys.argv[1] == "dress" else prepare(*sys.argv[1:])
