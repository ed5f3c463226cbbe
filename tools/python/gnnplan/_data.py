"""Data sets: files that gnnplan reads, or arrays that stay where they are."""

import os
import threading
import weakref

import numpy

from . import _core
from ._errors import DataError, UsageError

_taken = weakref.WeakValueDictionary()  # data sets of arrays by name
_naming = threading.Lock()


def _free_name(name):
    if name not in _taken:
        return name
    return next(f"{name}-{n}" for n in range(2, 1 << 30) if f"{name}-{n}" not in _taken)


def _of_numpy(values):
    if hasattr(values, "detach"):  # a tensor of PyTorch
        values = values.detach().cpu()
        values = (values.float() if values.dtype.is_floating_point else values).numpy()
    return numpy.asarray(values)


def _array(values, kind, what):
    """As a contiguous array of this kind; itself where it is one."""
    values = _of_numpy(values)
    if values.size == 0 and values.dtype == numpy.float64:
        values = values.astype(kind)  # an empty list
    whole = numpy.issubdtype(kind, numpy.integer)
    if not numpy.issubdtype(values.dtype, numpy.integer if whole else numpy.number) or values.dtype.kind == "c":
        raise DataError(65, f"{what}: {'whole' if whole else 'real'} numbers expected, found {values.dtype}", what)
    if values.dtype != kind and numpy.issubdtype(kind, numpy.integer) and values.size:
        limits = numpy.iinfo(kind)
        if values.min() < limits.min or values.max() > limits.max:
            raise DataError(65, f"{what}: {values.min()} to {values.max()} does not fit {numpy.dtype(kind)}", what)
    return numpy.ascontiguousarray(values, dtype=kind)


def _ids(vertices, chosen, name):
    """The vertices of a mask, of bools or of zeros and ones, or of a list of ids."""
    chosen = _of_numpy(chosen)
    if chosen.dtype != bool and chosen.shape == (vertices,) and bool(numpy.isin(chosen, (0, 1)).all()):
        chosen = chosen.astype(bool)
    if chosen.dtype == bool:
        if chosen.shape != (vertices,):
            raise DataError(65, f"{name}: a mask of {vertices} vertices expected, found shape {chosen.shape}", name)
        return numpy.flatnonzero(chosen)
    ids = _array(chosen, numpy.int64, name).reshape(-1)
    if ids.size and (ids.min() < 0 or ids.max() >= vertices):
        raise DataError(65, f"{name}: ids {ids.min()} to {ids.max()}, and there are {vertices} vertices", name)
    return ids


def _split(vertices, **parts):
    """One number a vertex: 0 trains, 1 validates, 2 tests, 255 does nothing."""
    if all(chosen is None for chosen in parts.values()):
        return None
    split = numpy.full(vertices, 255, numpy.uint8)
    for number, (name, chosen) in enumerate(parts.items()):
        if chosen is None:
            continue
        ids = _ids(vertices, chosen, name)
        twice = ids[split[ids] != 255]
        if twice.size:
            raise DataError(65, f"{name}: vertex {twice[0]} is in another part of the split, too", name)
        split[ids] = number
    return split


def _ends(edge_index):
    """Sources and targets."""
    if hasattr(edge_index, "shape") and (len(edge_index.shape) != 2 or edge_index.shape[0] != 2):
        raise DataError(65, f"edge_index is [2, edges], found shape {tuple(edge_index.shape)}", "edge_index")
    ends = [_array(row, numpy.int32, "edge_index") for row in edge_index]
    if len(ends) != 2 or ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
        raise DataError(65, "edge_index is as many sources as targets, found shapes "
                        + " and ".join(str(row.shape) for row in ends), "edge_index")
    return ends


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
        if not name:
            raise UsageError(64, "a data set has a name", "name")
        sources, targets = _ends(edge_index)
        if edge_weight is not None:
            edge_weight = _array(edge_weight, numpy.float32, "edge_weight")
            if edge_weight.shape != sources.shape:
                raise DataError(65, f"{len(sources)} weights expected, found shape {edge_weight.shape}", "edge_weight")
        if x is not None:
            x = _array(x, numpy.float32, "x")
            if x.ndim != 2:
                raise DataError(65, f"features are [vertices, columns], found shape {x.shape}", "x")
        if y is not None:
            y = _array(y, numpy.int32, "y")
            if y.ndim > 1 and y.size != len(y):
                raise DataError(65, f"y has one class for each vertex, found shape {y.shape}", "y",
                                "of one-hot rows take .argmax(1); several labels a vertex are read from files")
            y = y.reshape(-1)
        if vertices is None:
            known = [len(values) for values in (x, y) if values is not None]
            if not known:
                raise UsageError(64, "how many vertices there are is said by x, y or vertices", "vertices")
            vertices = known[0]
        split = _split(vertices, train=train, valid=valid, test=test)
        with _naming:
            lent = _core.LentArrays(_free_name(name), vertices, sources, targets, edge_weight, x, y, split)
            data = _taken[lent.name] = cls(lent.name, lent)
        data._kept = {"edge_index": (sources, targets), "x": x, "y": y, "edge_weight": edge_weight, "split": split,
                      "num_nodes": vertices}
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
                               edge_weight=get("edge_weight"), vertices=int(data.num_nodes), name=name)

    @classmethod
    def from_dgl(cls, graph, *, name="arrays"):
        """A homogeneous graph of DGL with ndata feat, label, train_mask, val_mask and test_mask where it has them."""
        get = graph.ndata.get
        return cls.from_arrays(graph.edges(), get("feat"), get("label"), get("train_mask"), get("val_mask"),
                               get("test_mask"), vertices=graph.num_nodes(), name=name)

    @property
    def weighted(self):
        """Whether it is of arrays with weights of edges, which plans of it take unless they are told not to."""
        return self.borrowed and self._kept["edge_weight"] is not None

    def __reduce__(self):
        raise UsageError(64, "arrays stay in their process", "Data", "save() them, and open the file there")

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
