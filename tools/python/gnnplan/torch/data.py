"""Reads a graph with features, labels and split from an .npz archive."""

import os
import zipfile

import numpy

from .._errors import make
from .errors import DATA, MISMATCH, MISSING, refuse

TRAIN, VALID, TEST, UNUSED = 0, 1, 2, 255
OTHER_NAMES = {"x": "node_feat", "y": "node_label", "num_nodes": "num_nodes_list",
               "edge_weight": "edge_feat", "valid_idx": "val_idx", "valid_mask": "val_mask"}


class Data:
    """Features, labels (a class or -1, or a column of 0, 1 and nan for each label) and subsets."""

    def __init__(self, path, plan):
        found = arrays(path)
        wanted = ("edge_index", "x") if plan.infers else ("edge_index", "x", "y")
        need = [name for name in wanted if name not in found]
        if need:
            refuse(f"generated data ({path} has no {', '.join(need)})")
        self.vertices = int(numpy.ravel(found.get("num_nodes", len(found["x"])))[0])
        self.edges = found["edge_index"].astype(numpy.int64)
        self.weights = None
        if plan.graph.get("edge_weights"):
            if "edge_weight" not in found:
                raise make(MISMATCH, f"{path} has no edge_weight, which the plan uses: make "
                           "the plan without --edge-weights, or give other data")
            self.weights = found["edge_weight"].reshape(-1).astype(numpy.float32)
        self.labels = labels_in(found, plan)
        self.subset = subset_of(found, self.vertices, plan.graph["split"])
        self._features = found["x"]
        self.row_norm = plan.run.get("feature_norm") == "row"
        self._check(path, plan)

    def _check(self, path, plan):
        want = plan.graph["vertices"], plan.model["widths"][0]
        have = self.vertices, self._features.shape[1]
        if want != have:
            raise make(MISMATCH, f"{path} has {have[0]} vertices with {have[1]} features, and "
                       f"the plan is for {want[0]} with {want[1]}: give the plan's data, or "
                       "make another plan")
        if self.edges.size and not 0 <= self.edges.min() <= self.edges.max() < self.vertices:
            raise make(DATA, f"{path}: edge_index has ids beyond its {self.vertices} vertices")
        if not plan.infers:
            self._check_labels(path, plan.classes())

    def _check_labels(self, path, classes):
        if not self.counted(TRAIN):
            raise make(DATA, f"{path}: the split has no training vertices with labels, and a "
                       "loss needs at least one")
        if self.labels.ndim == 2:
            if self.labels.shape[1] != classes:
                raise make(MISMATCH, f"{path} has {self.labels.shape[1]} labels a vertex, and "
                           f"the plan is for {classes}: give the plan's data")
            return
        missing = numpy.flatnonzero((self.subset == TRAIN) & (self.labels < 0))
        if missing.size:
            raise make(DATA, f"{path}: vertex {missing[0]} is in the train set but has no "
                       "label: take it out of the split")
        if self.labels.max() >= classes:
            raise make(MISMATCH, f"{path} has the class {self.labels.max()}, and the plan is "
                       f"for {classes} classes: give the plan's data")

    def features(self, vertices, columns):
        """Some columns of the features of these vertices."""
        rows = self._features[vertices].astype(numpy.float32)
        if self.row_norm:
            total = numpy.abs(rows.astype(numpy.float64)).sum(1, keepdims=True)
            scale = 1.0 / numpy.where(total > 0, total, 1.0)
            rows = rows * scale.astype(numpy.float32)
        return rows[:, columns[0]:columns[1]]

    def known(self):
        """Says which labels are known: one for each vertex, or one for each element of the logits."""
        return ~numpy.isnan(self.labels) if self.labels.ndim == 2 else self.labels >= 0

    def counted(self, which):
        """How many known labels a subset has."""
        return 0 if self.labels is None else int(self.known()[self.subset == which].sum())


def arrays(path):
    if not os.path.exists(path):
        raise make(MISSING, f"{path} is not there: give the .npz archive of the graph")
    if os.path.isdir(path) or not zipfile.is_zipfile(path):
        refuse(f"data that is no .npz archive ({path})")
    with numpy.load(path, allow_pickle=False) as file:
        found = dict(file)
    for name, other in OTHER_NAMES.items():
        if other in found and name not in found:
            found[name] = found.pop(other)
    if "x_ids" in found or "node_feat_ids" in found or "indptr" in found:
        refuse(f"features by ids, or a SciPy archive ({path})")
    return found


def labels_in(found, plan):
    """The labels; of an inference None where there are none, or others than the plan's."""
    y = found.get("y")
    if not plan.infers:
        return labels_of(y, plan.model.get("loss", "softmax") != "softmax")
    if y is None:
        return None
    several = y.ndim == 2 and y.shape[1] > 1
    return labels_of(y, several) if not several or y.shape[1] == plan.classes() else None


def labels_of(y, several):
    if several:
        return y.reshape(len(y), -1).astype(numpy.float32)
    return numpy.nan_to_num(y.reshape(len(y), -1)[:, 0].astype(numpy.float64), nan=-1).astype(
        numpy.int64)


def subset_of(found, n, split):
    """The subset of each vertex, by index arrays or by masks (of several, one column)."""
    subset = numpy.full(n, UNUSED, numpy.uint8)
    for which, name in ((TRAIN, "train"), (VALID, "valid"), (TEST, "test")):
        if name + "_idx" in found:
            subset[found[name + "_idx"].astype(numpy.int64)] = which
        elif name + "_mask" in found:
            mask = found[name + "_mask"].reshape(n, -1)
            subset[mask[:, int(split or 0) if mask.shape[1] > 1 else 0].astype(bool)] = which
    return subset
