"""Inference of all vertices with DGL, from an edge list on disk to embeddings on disk. Runs in DGL's environment.

    python dgl_infer.py gcn FOLDER --edges csv --fanout 50 --way loader --build bidirected --save E.npy

FOLDER is what problem.py writes. Prints seconds as JSON: `import`, then `read` and `build` (together the construction
of the graph), `features`, `infer`, `write`.

--edges csv reads edges.csv with pandas and makes features; npz reads both from data.npz.
--build     bidirected: dgl.graph, dgl.to_bidirected, dgl.add_self_loop; scipy: SciPy's CSR, handed to dgl.graph.
--way       loader: a DataLoader over all vertices for each layer, as inference() of DGL's example of node classification;
            whole: each layer at once on the whole graph, or on one sample of all vertices.
"""
import time

STARTED = time.perf_counter()

import argparse, json, sys, warnings

sys.dont_write_bytecode = True  # of the file beside this one
warnings.filterwarnings("ignore")

import dgl, numpy, pandas, scipy.sparse, torch

import problem

IMPORTED = time.perf_counter()


class Laps:
    def __init__(self):
        self.seconds, self.last = {"import": IMPORTED - STARTED}, IMPORTED

    def end(self, name):
        now = time.perf_counter()
        self.seconds[name], self.last = now - self.last, now


def read_edges(folder, form):
    if form == "npz":
        with numpy.load(f"{folder}/data.npz") as file:
            source, target = file["edge_index"]
    else:
        source, target = pandas.read_csv(f"{folder}/edges.csv", header=None, dtype=numpy.int64).to_numpy().T
    return numpy.ascontiguousarray(source), numpy.ascontiguousarray(target)


def build_bidirected(source, target):
    graph = dgl.to_bidirected(dgl.graph((torch.from_numpy(source), torch.from_numpy(target))))
    graph = dgl.add_self_loop(dgl.remove_self_loop(graph))
    graph.adj_tensors("csc")  # which samplers and products read; DGL would make it later
    return graph


def build_scipy(source, target):
    n = int(max(source.max(), target.max())) + 1
    loops = numpy.arange(n)
    rows, columns = numpy.concatenate([source, target, loops]), numpy.concatenate([target, source, loops])
    matrix = scipy.sparse.coo_matrix((numpy.ones(len(rows), numpy.int8), (rows, columns)), shape=(n, n)).tocsr()
    return dgl.graph(("csc", (torch.from_numpy(matrix.indptr.astype(numpy.int64)), torch.from_numpy(matrix.indices.astype(numpy.int64)), [])), num_nodes=n)


class Gcn:
    """D^-1/2 A D^-1/2 X W, with the degrees of the whole graph; what is drawn of a vertex stands for all its neighbours.

    GraphConv's own norm would take the degrees within a block, which is another model than the one that was trained.
    """

    def __init__(self, graph, of, last):
        self.width = of["weight"].shape[1]
        self.module = dgl.nn.GraphConv(*of["weight"].shape, norm="none", bias=False).eval()
        self.module.weight.data = of["weight"]
        self.degree = graph.in_degrees().float()[:, None]
        self.last = last

    def __call__(self, graph, x, sources, targets):
        degree = self.degree[targets]
        y = self.module(graph, x * self.degree[sources] ** -0.5) * degree ** 0.5 / graph.in_degrees().float()[:, None]
        return y if self.last else torch.relu(y)


class Gat:
    def __init__(self, _, of, last):
        heads = of["attention.source"].shape[0]
        f, self.width = of["weight"].shape
        self.module = dgl.nn.GATConv(f, self.width // heads, heads, bias=False).eval()
        self.module.fc.weight.data = of["weight"].T.contiguous()
        self.module.attn_l.data, self.module.attn_r.data = of["attention.source"][None], of["attention.target"][None]
        self.last = last

    def __call__(self, graph, x, sources, targets):
        y = self.module(graph, (x, x[:graph.num_dst_nodes()]) if graph.is_block else x).flatten(1)
        return y if self.last else torch.nn.functional.elu(y)


def layers_of(model, graph, weights):
    """Layers with gnnplan's weights."""
    count = sum(name.endswith(".weight") for name in weights)
    of = lambda layer: {name.split(".", 2)[2]: torch.from_numpy(values.copy()) for name, values in weights.items()
                        if name.startswith(f"layers.{layer}.")}
    return [{"gcn": Gcn, "gat": Gat}[model](graph, of(layer), layer == count) for layer in range(1, count + 1)]


def infer_by_loader(graph, x, layers, options):
    sampler = (dgl.dataloading.NeighborSampler([options.fanout]) if options.fanout else
               dgl.dataloading.MultiLayerFullNeighborSampler(1))
    for layer in layers:
        y = torch.empty(graph.num_nodes(), layer.width)
        for inputs, outputs, (block,) in dgl.dataloading.DataLoader(
                graph, torch.arange(graph.num_nodes()), sampler, batch_size=options.batch, shuffle=False, drop_last=False,
                num_workers=options.workers):
            y[outputs] = layer(block, x[inputs], inputs, outputs)
        x = y
    return x


def infer_whole(graph, x, layers, options):
    vertices = torch.arange(graph.num_nodes())
    for layer in layers:
        drawn = dgl.sampling.sample_neighbors(graph, vertices, options.fanout) if options.fanout else graph
        x = layer(drawn, x, vertices, vertices)
    return x


WAYS = {"loader": infer_by_loader, "whole": infer_whole}
BUILDS = {"bidirected": build_bidirected, "scipy": build_scipy}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["gcn", "gat"])
    parser.add_argument("folder")
    parser.add_argument("--edges", choices=["csv", "npz"], default="csv")
    parser.add_argument("--build", choices=BUILDS, default="bidirected")
    parser.add_argument("--way", choices=WAYS, default="loader")
    parser.add_argument("--fanout", type=int, default=0, help="0: all neighbours")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save", required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    laps = Laps()
    edges = read_edges(options.folder, options.edges)
    laps.end("read")
    graph = BUILDS[options.build](*edges)
    laps.end("build")
    weights = problem.load_weights(f"{options.folder}/{options.model}.safetensors")
    if options.edges == "npz":
        with numpy.load(f"{options.folder}/data.npz") as file:
            x = torch.from_numpy(file["x"])
    else:
        x = torch.randn(graph.num_nodes(), weights["layers.1.weight"].shape[0])
    laps.end("features")
    with torch.no_grad():
        x = WAYS[options.way](graph, x, layers_of(options.model, graph, weights), options)
    laps.end("infer")
    numpy.save(options.save, x.numpy())
    laps.end("write")
    laps.seconds["total"] = laps.last - STARTED
    print(json.dumps({"version": f"DGL {dgl.__version__}, PyTorch {torch.__version__}", "nonzeros": graph.num_edges(),
                      "seconds": laps.seconds}))


main()
