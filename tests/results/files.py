"""Files that the tools read and write, in plain Python: archives of NumPy, OGB raw folders, safetensors.

A matrix is a list of rows."""

import array
import ast
import gzip
import io
import json
import math
import pathlib
import struct
import sys
import zipfile

TYPES = {"f": "<f4", "q": "<i8", "d": "<f8"}


def rounded(value):
    """The float32 nearest to a number."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def packed(letter, values):
    """Numbers as bytes, little-endian."""
    numbers = array.array(letter, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def npy_bytes(letter, shape, values):
    header = f"{{'descr': '{TYPES[letter]}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + packed(letter, values)


def read_npy(path):
    """The rows of an .npy of two dimensions, or the numbers of one of one dimension."""
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    letter = next(key for key, kind in TYPES.items() if kind == header["descr"])
    numbers = array.array(letter, data[10 + length:])
    shape = header["shape"]
    if len(numbers) != math.prod(shape):
        raise ValueError(f"{path}: {len(numbers)} numbers for {shape}")
    if len(shape) == 1:
        return list(numbers)
    return [list(numbers[i * shape[1]:(i + 1) * shape[1]]) for i in range(shape[0])]


def flat(rows):
    return [x for row in rows for x in row]


def label_columns(graph):
    """The labels of each vertex in a list."""
    rows = [y if isinstance(y, list) else [y] for y in graph.labels]
    return [[math.nan if y is None else y for y in row] for row in rows]


def write_npz(graph, path):
    """A data set as an archive: edges, weights where it has some, features, labels (nan: none), and its split."""
    sources, targets = [e[0] for e in graph.listed], [e[1] for e in graph.listed]
    arrays = {"edge_index": npy_bytes("q", [2, len(sources)], sources + targets),
              "x": npy_bytes("f", [graph.vertices, len(graph.features[0])], flat(graph.features)),
              "y": npy_bytes("d", [graph.vertices, len(label_columns(graph)[0])], flat(label_columns(graph)))}
    if graph.weighted:
        arrays["edge_weight"] = npy_bytes("f", [len(sources)], [e[2] for e in graph.listed])
    for name, vertices in (graph.split or {}).items():
        arrays[f"{name}_idx"] = npy_bytes("q", [len(vertices)], vertices)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in arrays.items():
            archive.writestr(f"{name}.npy", data)


def write_ogb(graph, folder):
    """The same as an OGB raw folder."""
    folder = pathlib.Path(folder)
    lines = {"raw/edge": [f"{u},{v}" for u, v, _ in graph.listed], "raw/num-node-list": [graph.vertices],
             "raw/num-edge-list": [len(graph.listed)],
             "raw/node-feat": [",".join(f"{x:.9g}" for x in row) for row in graph.features],
             "raw/node-label": [",".join(map(str, row)) for row in label_columns(graph)]}
    for name, vertices in graph.split.items():
        lines[f"split/random/{name}"] = vertices
    for name, content in lines.items():
        path = folder / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("".join(f"{line}\n" for line in content).encode()))


def write_weights(weights, path):
    """Tensors by name as safetensors, float32: each a list of rows, or of numbers."""
    header, data = {}, io.BytesIO()
    for name, value in weights.items():
        rows = isinstance(value[0], list)
        shape = [len(value), len(value[0])] if rows else [len(value)]
        begin = data.tell()
        data.write(packed("f", flat(value) if rows else value))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, data.tell()]}
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data.getvalue())


def read_weights(path):
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    weights = {}
    for name, about in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in about["data_offsets"])
        numbers = array.array("f", data[begin:end]).tolist()
        shape = about["shape"]
        rows = len(shape) == 2
        weights[name] = [numbers[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])] if rows else numbers
    return weights


def read_embeddings(path):
    """The embeddings that --save-embeddings wrote, into one file or into a folder."""
    path = pathlib.Path(path)
    if not path.is_dir():
        return read_npy(path)
    index = json.loads((path / "index.json").read_text())
    rows = [None] * index["vertices"]
    for part in index["parts"]:
        for vertex, row in zip(read_npy(path / part["vertices"]), read_npy(path / part["values"]), strict=True):
            rows[vertex] = row
    return rows
