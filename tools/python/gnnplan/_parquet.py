"""Tables of edges and vertices: Parquet files, folders of them, or tables of pyarrow, pandas or polars."""

import os

import numpy

from ._errors import DataError, UsageError, make


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as missing:
        raise make(69, "pyarrow is not installed", "from_parquet", "pip install pyarrow") from missing
    return pyarrow


def _read(table, names, what):
    """The table with these columns, of a file where it is one."""
    pyarrow = _pyarrow()
    if hasattr(table, "to_arrow"):  # polars
        table = table.to_arrow()
    elif type(table).__name__ == "DataFrame":
        table = pyarrow.Table.from_pandas(table, preserve_index=False)
    if isinstance(table, pyarrow.Table):
        known = table.column_names
    else:
        table = os.fspath(table)
        if not os.path.exists(table):
            raise make(66, f"there is no such file or folder: {table}", what)
        try:
            data = pyarrow.parquet.ParquetDataset(table)
            known = data.schema.names
        except pyarrow.ArrowException as error:
            raise DataError(65, f"{table} is no Parquet: {error}", what) from error
    for name in names:
        if name not in known:
            raise DataError(65, f"{what} have no column {name}: found {', '.join(known)}", what)
    return table.select(names) if isinstance(table, pyarrow.Table) else data.read(names)


def _numbers(column, what):
    if column.null_count:
        raise DataError(65, f"{what}: {column.null_count} values are null", what)
    types = _pyarrow().types
    if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_boolean(column.type)):
        raise DataError(65, f"{what}: numbers expected, found {column.type}", what)
    return column.to_numpy()


def _labels(column, what):
    """Null is no label."""
    pyarrow = _pyarrow()
    if pyarrow.types.is_list(column.type) or pyarrow.types.is_fixed_size_list(column.type):
        return _matrix(column, what)
    if not (pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type)):
        raise DataError(65, f"{what}: a class is a number from 0, found {column.type}", what)
    return (column.fill_null(-1) if pyarrow.types.is_integer(column.type) else column.cast("float64")).to_numpy()


def _matrix(column, what):
    """A column of lists, all of one length, as rows; a value that is null is NaN."""
    rows = column.combine_chunks()
    types = _pyarrow().types
    if not (types.is_list(rows.type) or types.is_fixed_size_list(rows.type)):
        raise DataError(65, f"{what}: lists of numbers expected, found {rows.type}", what,
                        f"a column of numbers is one of several: [\"{what}\"]")
    if rows.null_count:
        raise DataError(65, f"{what}: {rows.null_count} rows are null", what)
    values = rows.flatten()
    columns = len(values) // len(rows) if len(rows) else 0
    lengths = _pyarrow().compute.list_value_length(rows)
    if columns * len(rows) != len(values) or not bool((lengths.to_numpy(zero_copy_only=False) == columns).all()):
        raise DataError(65, f"{what}: all rows have as many values", what)
    return values.to_numpy(zero_copy_only=False).reshape(len(rows), columns)


def _features(table, features, what):
    if isinstance(features, str):
        return _matrix(table[features], what)
    out = numpy.empty((len(table), len(features)), numpy.float32)
    for number, name in enumerate(features):
        out[:, number] = _numbers(table[name], name)
    return out


def _rows_of(ends, ids, what):
    """For each end the row whose id it is."""
    compute = _pyarrow().compute
    try:
        rows = compute.index_in(ends, value_set=ids.combine_chunks().cast(ends.type))
    except _pyarrow().ArrowException as error:
        raise DataError(65, f"{what} is of {ends.type}, and ids are of {ids.type}", what) from error
    if rows.null_count:
        missing = ends.filter(compute.is_null(rows))[0].as_py()
        raise DataError(65, f"{what}: no vertex has the id {missing!r}", what)
    return rows.to_numpy()


def arrays_of(edges, vertices, source, target, weight, ids, features, label, parts):
    """Keyword arguments of Data.from_arrays()."""
    asked = {"id": ids, "features": features, "label": label, **parts}
    if vertices is None and any(name is not None for name in asked.values()):
        raise UsageError(64, "id, features, label and masks are columns of vertices", "vertices", "say vertices=")
    pyarrow = _pyarrow()
    edges = _read(edges, [source, target] + ([] if weight is None else [weight]), "edges")
    ends = [edges[source], edges[target]]
    for name, end in zip((source, target), ends):
        if ids is None and not pyarrow.types.is_integer(end.type):
            raise DataError(65, f"{name}: numbers of vertices expected, found {end.type}", name,
                            "where ends are ids of a table of vertices, say vertices= and id=")
    if vertices is None:
        index = [_numbers(end, name) for end, name in zip(ends, (source, target))]
        count = 1 + max((int(row.max()) for row in index if row.size), default=-1)
        arrays = {"edge_index": index, "vertices": count}
    else:
        listed = [features] if isinstance(features, str) else list(features or ())
        columns = [name for name in (ids, label, *parts.values()) if name is not None]
        table = _read(vertices, list(dict.fromkeys(listed + columns)), "vertices")
        if ids is not None and len(table[ids].unique()) != len(table):
            raise DataError(65, f"{ids}: an id is of one vertex", ids)
        index = [_numbers(end, name) if ids is None else _rows_of(end, table[ids], name)
                 for end, name in zip(ends, (source, target))]
        arrays = {"edge_index": index, "vertices": len(table),
                  "x": None if features is None else _features(table, features, "features"),
                  "y": None if label is None else _labels(table[label], label)}
        arrays.update({part: None if name is None else _numbers(table[name], name) for part, name in parts.items()})
    return dict(arrays, edge_weight=None if weight is None else _numbers(edges[weight], weight))
