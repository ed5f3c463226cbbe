"""Data sets: files that gnnplan reads, or arrays that stay where they are."""

import os
import weakref

import numpy

from . import _core
from ._errors import DataError, UsageError

_taken = weakref.WeakValueDictionary()  # data sets of arrays by name


def _free_name(name):
    if name not in _taken:
        return name
    return next(f"{name}-{n}" for n in range(2, 1 << 30) if f"{name}-{n}" not in _taken)


def _array(values, kind, what):
    """As a contiguous array of this kind; itself where it is one."""
    if hasattr(values, "detach"):  # a tensor of PyTorch
        values = values.detach().cpu().numpy()
    values = numpy.asarray(values)
    if numpy.issubdtype(kind, numpy.integer) and not numpy.issubdtype(values.dtype, numpy.integer):
        raise DataError(65, f"{what}: whole numbers expected, found {values.dtype}", what)
    if values.dtype != kind and numpy.issubdtype(kind, numpy.integer) and values.size:
        limits = numpy.iinfo(kind)
        if values.min() < limits.min or values.max() > limits.max:
            raise DataError(65, f"{what}: {values.min()} to {values.max()} does not fit {numpy.dtype(kind)}", what)
    return numpy.ascontiguousarray(values, dtype=kind)


def _split(vertices, train, valid, test):
    """One number a vertex: 0 trains, 1 validates, 2 tests, 255 does nothing. Masks or ids."""
    if train is None and valid is None and test is None:
        return None
    split = numpy.full(vertices, 255, numpy.uint8)
    for number, chosen in enumerate((train, valid, test)):
        if chosen is None:
            continue
        if hasattr(chosen, "detach"):
            chosen = chosen.detach().cpu().numpy()
        chosen = numpy.asarray(chosen)
        if chosen.dtype == bool and chosen.shape != (vertices,):
            raise DataError(65, f"a mask of the split has shape {chosen.shape}, and there are {vertices} vertices", "split")
        split[chosen] = number
    return split


class Data:
    """A graph with features, labels and a split. `path` is its name, where plans and runs find it."""

    def __init__(self, path, arrays=None):
        self.path, self._arrays = path, arrays

    def __repr__(self):
        return f"<gnnplan.Data {self.path}>"

    @classmethod
    def open(cls, path):
        """Whatever `gnnplan plan --graph` reads: an OGB folder, .npz, Matrix Market, edge lists."""
        path = os.fspath(path)
        return cls(path if path.startswith(("/", "./", "../")) else "./" + path)

    @classmethod
    def from_arrays(cls, edge_index, x=None, y=None, train=None, valid=None, test=None, *, edge_weight=None,
                    vertices=None, name="arrays"):
        """edge_index: [2, edges], sources and targets. x: [vertices, features], float32 is borrowed and not copied. y:
        the class of each vertex, -1 where it has none. train, valid, test: masks or ids."""
        sources, targets = (_array(row, numpy.int32, "edge_index") for row in edge_index)
        if len(sources) != len(targets):
            raise DataError(65, f"edge_index has {len(sources)} sources and {len(targets)} targets", "edge_index")
        if edge_weight is not None:
            edge_weight = _array(edge_weight, numpy.float32, "edge_weight")
            if edge_weight.shape != sources.shape:
                raise DataError(65, f"{len(sources)} weights expected, found shape {edge_weight.shape}", "edge_weight")
        if x is not None:
            x = _array(x, numpy.float32, "x")
            if x.ndim != 2:
                raise DataError(65, f"features are [vertices, columns], found shape {x.shape}", "x")
        if y is not None:
            y = _array(y, numpy.int32, "y").reshape(-1)
        if vertices is None:
            known = [len(values) for values in (x, y) if values is not None]
            if not known:
                raise UsageError(64, "how many vertices there are is said by x, y or vertices", "vertices")
            vertices = known[0]
        split = _split(vertices, train, valid, test)
        lent = _core.LentArrays(_free_name(name), vertices, sources, targets, edge_weight, x, y, split)
        data = cls(lent.name, lent)
        data._kept = {"edge_index": (sources, targets), "x": x, "y": y, "edge_weight": edge_weight, "split": split,
                      "num_nodes": vertices}
        _taken[lent.name] = data
        return data

    @classmethod
    def from_scipy(cls, matrix, x=None, y=None, train=None, valid=None, test=None, *, weighted=False, name="arrays"):
        """A sparse matrix of SciPy: entry (i, j) is the edge from i to j. `weighted`: its values are weights."""
        matrix = matrix.tocoo()
        if matrix.shape[0] != matrix.shape[1]:
            raise DataError(65, f"a graph's matrix is square, found shape {matrix.shape}", "matrix")
        return cls.from_arrays((matrix.row, matrix.col), x, y, train, valid, test,
                               edge_weight=matrix.data if weighted else None, vertices=matrix.shape[0], name=name)

    @classmethod
    def from_pyg(cls, data, *, name="arrays"):
        """A torch_geometric.data.Data of one graph, with train_mask, val_mask and test_mask where it has them."""
        get = lambda key: getattr(data, key, None)
        y = get("y")
        return cls.from_arrays(data.edge_index, get("x"), y, get("train_mask"), get("val_mask"), get("test_mask"),
                               vertices=int(data.num_nodes), name=name)

    @classmethod
    def from_dgl(cls, graph, *, name="arrays"):
        """A homogeneous graph of DGL with ndata feat, label, train_mask, val_mask and test_mask where it has them."""
        get = graph.ndata.get
        return cls.from_arrays(graph.edges(), get("feat"), get("label"), get("train_mask"), get("val_mask"),
                               get("test_mask"), vertices=graph.num_nodes(), name=name)

    @property
    def borrowed(self):
        """Whether it is of arrays, which stay in the memory of this process."""
        return self._arrays is not None

    def save(self, path):
        """Writes the arrays as an .npz, uncompressed, that all programs here read."""
        if not self.borrowed:
            raise UsageError(64, f"{self.path} is a file already", "save")
        kept = dict(self._kept, edge_index=numpy.stack(self._kept["edge_index"]))
        split = kept.pop("split")
        if split is not None:
            for number, key in enumerate(("train_idx", "valid_idx", "test_idx")):
                kept[key] = numpy.flatnonzero(split == number)
        numpy.savez(path, **{key: values for key, values in kept.items() if values is not None})
