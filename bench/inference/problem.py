"""A problem of inference as files that gnnplan and DGL both read. Runs in DGL's environment.

    python problem.py GRAPH.npz FOLDER --widths 128,128,128,40 --heads 4

GRAPH.npz is of `gnnplan graph generate`. Writes into FOLDER, with every pair of neighbours once, in no order:

    edges.csv                  the edge list
    data.npz                   the same as edge_index, with features x, not compressed
    gcn.safetensors, gat.safetensors    Glorot's weights, named as gnnplan names them
"""
import argparse, json, pathlib, struct

import numpy


def write_edges(graph, folder):
    with numpy.load(graph) as file:
        source, target = file["edge_index"]
        features, vertices = file["x"], int(file["num_nodes"])
    once = source < target
    edges = numpy.stack([source[once], target[once]]).astype(numpy.int64)
    generator = numpy.random.default_rng(1)
    edges = edges[:, generator.permutation(edges.shape[1])]
    if edges.max() != vertices - 1:  # an edge list has as many vertices as its largest id says
        edges = numpy.concatenate([edges, [[0], [vertices - 1]]], axis=1)
    numpy.savez(folder / "data.npz", edge_index=edges, x=features, num_nodes=vertices)
    import pandas

    pandas.DataFrame(edges.T).to_csv(folder / "edges.csv", header=False, index=False)


def shapes(model, widths, heads):
    """Names and shapes of the matrices. The last layer of GAT has one head."""
    found = {}
    for layer, (f, g) in enumerate(zip(widths, widths[1:]), 1):
        found[f"layers.{layer}.weight"] = (f, g)
        if model == "gat":
            k = heads if layer < len(widths) - 1 else 1
            found[f"layers.{layer}.attention.source"] = found[f"layers.{layer}.attention.target"] = (k, g // k)
    return found


def write_weights(path, of):
    generator = numpy.random.default_rng(2)
    header, body = {}, b""
    for name, shape in of.items():
        bound = numpy.sqrt(6 / sum(shape))
        values = generator.uniform(-bound, bound, shape).astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(body), len(body) + len(values)]}
        body += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def load_weights(path):
    content = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    body = content[8 + size:]
    return {name: numpy.frombuffer(body[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
            for name, entry in json.loads(content[8:8 + size]).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--widths", required=True, type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--heads", type=int, default=4)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    write_edges(options.graph, options.folder)
    for model in ("gcn", "gat"):
        write_weights(options.folder / f"{model}.safetensors", shapes(model, options.widths, options.heads))


if __name__ == "__main__":
    main()
