"""Data sets: files that gnnplan reads, or arrays that stay where they are."""

import os
import threading
import weakref

import numpy

from . import _core, _ogb, _parquet
from ._arrays import array, classes_of, ends_of, label_bits, of_numpy, split_of, written_ends
from ._errors import DataError, UsageError

_taken = weakref.WeakValueDictionary()  # data sets of arrays by name
_naming = threading.Lock()


def _free_name(name):
    if name not in _taken:
        return name
    return next(f"{name}-{n}" for n in range(2, 1 << 30) if f"{name}-{n}" not in _taken)


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
        """edge_index: [2, edges], sources and targets, borrowed as int32 or int64. x: [vertices, features], borrowed as
        float32. y: the class of each vertex, -1 or NaN where it has none, or [vertices, labels] of 0, 1 and NaN. train,
        valid, test: masks or ids."""
        return cls._lent(*ends_of(edge_index), _core.Compressed.none, x, y, {"train": train, "valid": valid, "test": test},
                         edge_weight, vertices, name)

    @classmethod
    def _lent(cls, sources, targets, compressed, x, y, parts, edge_weight, vertices, name):
        if not name:
            raise UsageError(64, "a data set has a name", "name")
        edges = (sources if compressed == _core.Compressed.targets else targets).shape
        if edge_weight is not None:
            edge_weight = array(edge_weight, numpy.float32, "edge_weight")
            if edge_weight.shape != edges:
                raise DataError(65, f"{edges[0]} weights expected, found shape {edge_weight.shape}", "edge_weight")
        if x is not None:
            x = array(x, numpy.float32, "x")
            if x.ndim != 2:
                raise DataError(65, f"features are [vertices, columns], found shape {x.shape}", "x")
        y = None if y is None else of_numpy(y)
        if y is not None and y.ndim not in (1, 2):
            raise DataError(65, f"y has a class or a row of labels for each vertex, found shape {y.shape}", "y")
        if vertices is None:
            known = [len(values) for values in (x, y) if values is not None]
            if not known:
                raise UsageError(64, "how many vertices there are is said by x, y or vertices", "vertices")
            vertices = known[0]
        several = y is not None and y.ndim == 2 and y.shape[1] > 1
        if several and len(y) != vertices:
            raise DataError(65, f"{vertices} rows of labels expected, found shape {y.shape}", "y")
        classes = None if y is None or several else classes_of(y.reshape(-1))
        bits = label_bits(y) if several else (None, None)
        split = split_of(vertices, **parts)
        with _naming:
            lent = _core.LentArrays(_free_name(name), vertices, sources, targets, compressed, edge_weight, x, classes,
                                    y.shape[1] if several else 0, *bits, split)
            data = _taken[lent.name] = cls(lent.name, lent)
        data._kept = {"edges": (sources, targets, compressed), "x": x, "y": y if several else classes,
                      "edge_weight": edge_weight, "split": split, "num_nodes": vertices}
        return data

    @classmethod
    def from_scipy(cls, matrix, x=None, y=None, train=None, valid=None, test=None, *, weighted=False, name="arrays"):
        """A sparse matrix of SciPy: entry (i, j) is the edge from i to j. `weighted`: its values are weights. Rows of a
        CSR matrix and columns of a CSC matrix are borrowed."""
        if matrix.shape[0] != matrix.shape[1]:
            raise DataError(65, f"a graph's matrix is square, found shape {matrix.shape}", "matrix")
        parts = {"train": train, "valid": valid, "test": test}
        if matrix.format in ("csr", "csc"):
            ends = (matrix.indptr, matrix.indices) if matrix.format == "csr" else (matrix.indices, matrix.indptr)
            compressed = _core.Compressed.sources if matrix.format == "csr" else _core.Compressed.targets
        else:
            matrix = matrix.tocoo()
            ends, compressed = ends_of((matrix.row, matrix.col)), _core.Compressed.none
        return cls._lent(*ends, compressed, x, y, parts, matrix.data if weighted else None, matrix.shape[0], name)

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

    @classmethod
    def from_ogb(cls, dataset, root="dataset", *, name=None):
        """A data set of OGB: its name, where OGB's loaders have unpacked it below `root`, or what a loader returns,
        NodePropPredDataset or that of PyTorch Geometric or DGL."""
        if isinstance(dataset, str):
            return cls.open(_ogb.folder_of(dataset, root))
        return cls.from_arrays(**_ogb.arrays_of(dataset), name=name or getattr(dataset, "name", "arrays"))

    @classmethod
    def from_parquet(cls, edges, vertices=None, *, source="source", target="target", weight=None, id=None, features=None,
                     label=None, train=None, valid=None, test=None, name="arrays"):
        """Tables of pyarrow, Parquet files, or folders of them. The other arguments are names of columns: of edges
        `source`, `target` and `weight`; of vertices `features` (a column of lists, or a list of columns), `label` and the
        masks `train`, `valid` and `test`. Ends of edges are numbers of rows of `vertices`, or, with `id`, values of that
        column, which may be words."""
        return cls.from_arrays(**_parquet.arrays_of(edges, vertices, source, target, weight, id, features, label,
                                                    {"train": train, "valid": valid, "test": test}), name=name)

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
        kept = dict(self._kept)
        kept["edge_index"] = written_ends(*kept.pop("edges"))
        split = kept.pop("split")
        if split is not None:
            for number, key in enumerate(("train_idx", "valid_idx", "test_idx")):
                kept[key] = numpy.flatnonzero(split == number)
        numpy.savez(path, **{key: values for key, values in kept.items() if values is not None})
