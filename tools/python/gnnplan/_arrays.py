"""Arrays as the compiled part takes them: of the types that it reads, themselves where they have one."""

import numpy

from . import _core
from ._errors import DataError


def of_numpy(values):
    if hasattr(values, "detach"):  # a tensor of PyTorch
        values = values.detach().cpu()
        values = (values.float() if values.dtype.is_floating_point else values).numpy()
    return numpy.asarray(values)


def array(values, kind, what):
    """As a contiguous array of this kind; itself where it is one."""
    values = of_numpy(values)
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


def ids_of(vertices, chosen, name):
    """The vertices of a mask, of bools or of zeros and ones, or of a list of ids."""
    chosen = of_numpy(chosen)
    if chosen.dtype != bool and chosen.shape == (vertices,) and bool(numpy.isin(chosen, (0, 1)).all()):
        chosen = chosen.astype(bool)
    if chosen.dtype == bool:
        if chosen.shape != (vertices,):
            raise DataError(65, f"{name}: a mask of {vertices} vertices expected, found shape {chosen.shape}", name)
        return numpy.flatnonzero(chosen)
    ids = array(chosen, numpy.int64, name).reshape(-1)
    if ids.size and (ids.min() < 0 or ids.max() >= vertices):
        raise DataError(65, f"{name}: ids {ids.min()} to {ids.max()}, and there are {vertices} vertices", name)
    return ids


def split_of(vertices, **parts):
    """One number a vertex: 0 trains, 1 validates, 2 tests, 255 does nothing."""
    if all(chosen is None for chosen in parts.values()):
        return None
    split = numpy.full(vertices, 255, numpy.uint8)
    for number, (name, chosen) in enumerate(parts.items()):
        if chosen is None:
            continue
        ids = ids_of(vertices, chosen, name)
        twice = ids[split[ids] != 255]
        if twice.size:
            raise DataError(65, f"{name}: vertex {twice[0]} is in another part of the split, too", name)
        split[ids] = number
    return split


def _ids_as_they_are(values, what):
    """int32 and int64 as they are, and other whole numbers as int64."""
    values = of_numpy(values)
    if values.dtype in (numpy.int32, numpy.int64) and values.dtype.isnative:
        if values.size and (values.min() < 0 or values.max() >= 2**31 - 1):
            raise DataError(65, f"{what}: ids are from 0 to 2^31 - 2, found {values.min()} to {values.max()}", what)
        return values
    return _ids_as_they_are(array(values, numpy.int64, what), what)


def ends_of(edge_index):
    """Sources and targets, of one type."""
    if hasattr(edge_index, "shape") and (len(edge_index.shape) != 2 or edge_index.shape[0] != 2):
        raise DataError(65, f"edge_index is [2, edges], found shape {tuple(edge_index.shape)}", "edge_index")
    ends = [_ids_as_they_are(row, "edge_index") for row in edge_index]
    if len(ends) != 2 or ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
        raise DataError(65, "edge_index is as many sources as targets, found shapes "
                        + " and ".join(str(row.shape) for row in ends), "edge_index")
    return ends if ends[0].dtype == ends[1].dtype else [numpy.asarray(row, numpy.int64) for row in ends]


def written_ends(sources, targets, compressed):
    """[2, edges] in int32, as files have them."""
    edges = numpy.empty((2, (sources if compressed == _core.Compressed.targets else targets).size), numpy.int32)
    for row, (ends, starts) in enumerate(((sources, _core.Compressed.sources), (targets, _core.Compressed.targets))):
        edges[row] = numpy.repeat(numpy.arange(ends.size - 1, dtype=numpy.int32), numpy.diff(ends)) \
            if compressed == starts else ends
    return edges


def classes_of(y):
    """The class of each vertex: -1 where it has none, which floats may say as NaN."""
    if y.dtype.kind == "f":
        unknown = numpy.isnan(y)
        whole = numpy.where(unknown, -1, y)
        if not bool(((whole == numpy.floor(whole)) & (numpy.abs(whole) < 2**31)).all()):
            raise DataError(65, "y: classes are whole numbers, found others", "y",
                            "there is no regression; several labels a vertex are columns of 0 and 1")
        y = whole.astype(numpy.int64)
    return array(y, numpy.int32, "y")


def label_bits(y):
    """Several labels a vertex: the bits of those that it has, and of those that are known; None where all are."""
    if y.dtype.kind not in "biuf":
        raise DataError(65, f"y: labels are numbers, found {y.dtype}", "y")
    has = y == 1
    known = has | (y == 0)
    if y.dtype.kind == "f":
        unknown = numpy.isnan(y)
        bad = ~(known | unknown)
    else:
        bad = ~known
    if bad.any():
        vertex, label = numpy.argwhere(bad)[0]
        raise DataError(65, f"label {label} of vertex {vertex} is {y[vertex, label]}, not 0, 1 or nan", "y",
                        "one class a vertex is one column; several columns say of each label whether a vertex has it")
    bits = [None if each is known and bool(known.all()) else numpy.packbits(each.ravel(), bitorder="little")
            for each in (has, known)]
    return bits
