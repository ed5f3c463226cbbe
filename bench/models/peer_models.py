"""Networks of PyTorch Geometric or DGL with gnnplan's weights. Runs in that framework's environment.

    python peer_models.py pyg logits sage:mean DATA.npz --weights w.safetensors --against logits.npy
    python peer_models.py dgl steps sage:max DATA.npz --weights w.safetensors --against w3.safetensors --epochs 3
    python peer_models.py pyg accuracy gin DATA.npz --seeds 10 --epochs 200 --dropout 0.5
    python peer_models.py pyg attention gat:8x1 DATA.npz --seeds 20 --hidden 64 --weight-decay 5e-4
    python peer_models.py dgl speed sage:mean DATA.npz --widths 128,256,40 --epochs 5

`logits` and `steps` begin with weights that gnnrun wrote, and say by how much the result differs from gnnrun's, as a
share of the largest value; the steps are of SGD with momentum 0.9. `accuracy` and `speed` begin with Glorot's weights
and with biases of 0, and take Adam, with weight decay on the matrices of the first layer; with --decay-all `accuracy` has
it on all parameters. `attention` trains as Velickovic et al. (2018) on Cora: dropout 0.6 on features and attention,
learning rate 0.005, decay on all, features divided by their row's sum, until the validation accuracy has not grown for
100 epochs; the test accuracy is that of the best epoch. gat:HxO has H heads and O in the last layer, which are averaged.
sgc:K and appnp:KxT have K hops and the teleport T, gcnii:TxA the teleport T and theta A. gcn+layer and gcn+batch have a norm
behind each hidden layer, and so have sage and gin. DATA.npz has edge_index, x, y, train_idx, test_idx.
"""
import argparse, json, struct, sys, time, warnings

sys.dont_write_bytecode = True

import numpy
import torch

warnings.filterwarnings("ignore")


def load_safetensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        body = file.read()
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = numpy.frombuffer(body[begin:end], dtype="<f4").reshape(entry["shape"])
            found[name] = torch.from_numpy(values.copy())
    return found


class Graph:
    """Distinct edges without loops, or with one on every vertex."""

    def __init__(self, data, loops):
        self.n = len(data["y"])
        source, target = data["edge_index"].astype(numpy.int64)
        key = target * self.n + source
        key = numpy.unique(key[source != target])
        if loops:
            own = numpy.arange(self.n, dtype=numpy.int64)
            key = numpy.unique(numpy.concatenate([key, own * self.n + own]))
        self.target, self.source = key // self.n, key % self.n

    def edge_index(self):
        return torch.from_numpy(numpy.stack([self.source, self.target]))

    def csr(self, values):
        start = numpy.concatenate([[0], numpy.cumsum(numpy.bincount(self.target, minlength=self.n))])
        return torch.sparse_csr_tensor(torch.from_numpy(start), torch.from_numpy(self.source), values,
                                       size=(self.n, self.n))

    def ones(self):
        return torch.ones(len(self.source))

    def symmetric(self):
        """The entries of D^-1/2 A D^-1/2, each end by its own direction."""
        out, into = numpy.bincount(self.source, minlength=self.n), numpy.bincount(self.target, minlength=self.n)
        return torch.from_numpy(1 / numpy.sqrt(out[self.source] * into[self.target])).float()


ATTENTION_DROPOUT = 0.0  # set by main


def heads_of(text, last):
    return int(text.split("x")[1 if last else 0])


def mlp(inner, outer, bias):
    return torch.nn.Sequential(torch.nn.Linear(inner, outer, bias=bias), torch.nn.ReLU(),
                               torch.nn.Linear(outer, outer, bias=bias))


def pyg_layer(model, aggregator, f, g, bias, last=False):
    import torch_geometric.nn as nn

    if model == "gat":
        heads = heads_of(aggregator, last)
        return nn.GATConv(f, g if last else g // heads, heads, concat=not last, bias=bias, dropout=ATTENTION_DROPOUT)
    if model == "sgc":
        return nn.SGConv(f, g, int(aggregator), bias=bias)
    if model == "gcn":
        return nn.GCNConv(f, g, bias=bias, normalize=False)
    if model == "gin":
        return nn.GINConv(mlp(f, g, bias))
    if aggregator == "gcn":
        return nn.SAGEConv(f, g, aggr="mean", root_weight=False, bias=bias)
    return nn.SAGEConv(f, g, aggr="max" if aggregator == "pool" else aggregator, project=aggregator == "pool", bias=bias)


def dgl_layer(model, aggregator, f, g, bias, last=False):
    import dgl.nn as nn

    if model == "gat":
        heads = heads_of(aggregator, last)
        return nn.GATConv(f, g if last else g // heads, heads, bias=bias)
    if model == "sgc":
        return nn.SGConv(f, g, int(aggregator), bias=bias)
    if model == "gcn":
        return nn.GraphConv(f, g, norm="both", bias=bias)
    if model == "gin":
        return nn.GINConv(mlp(f, g, bias), "sum")
    if aggregator in ("sum", "max"):
        return DglSage(f, g, aggregator, bias)
    return nn.SAGEConv(f, g, aggregator, bias=bias)


class DglSage(torch.nn.Module):
    """SAGEConv has neither sums nor maxima of the neighbours as they are: its kernels do."""

    def __init__(self, f, g, aggregator, bias):
        super().__init__()
        self.aggregator = aggregator
        self.fc_neigh = torch.nn.Linear(f, g, bias=False)
        self.fc_self = torch.nn.Linear(f, g, bias=False)
        self.bias = torch.nn.Parameter(torch.zeros(g)) if bias else None

    def forward(self, graph, h):
        import dgl.function as fn

        with graph.local_scope():
            graph.ndata["h"] = h
            graph.update_all(fn.copy_u("h", "m"), getattr(fn, self.aggregator)("m", "a"))
            z = self.fc_neigh(graph.ndata["a"]) + self.fc_self(h)
        return z if self.bias is None else z + self.bias


# Our names and those of one layer: matrices are transposed.
NAMES = {
    "pyg": {"neighbour.weight": "lin_l.weight", "bias": "lin_l.bias", "self.weight": "lin_r.weight",
            "pool.weight": "lin.weight", "pool.bias": "lin.bias", "mlp.0.weight": "nn.0.weight", "mlp.0.bias": "nn.0.bias",
            "mlp.1.weight": "nn.2.weight", "mlp.1.bias": "nn.2.bias"},
    "pyg-gat": {"weight": "lin.weight", "attention.source": "att_src", "attention.target": "att_dst", "bias": "bias"},
    "pyg-gcn": {"weight": "lin.weight", "bias": "bias"},
    "dgl-gcn": {"weight": "weight", "bias": "bias"},
    "dgl-gat": {"weight": "fc.weight", "attention.source": "attn_l", "attention.target": "attn_r", "bias": "bias"},
    "pyg-sgc": {"weight": "lin.weight", "bias": "lin.bias"},
    "dgl-sgc": {"weight": "fc.weight", "bias": "fc.bias"},
    "dgl": {"neighbour.weight": "fc_neigh.weight", "bias": "bias", "self.weight": "fc_self.weight",
            "pool.weight": "fc_pool.weight", "pool.bias": "fc_pool.bias", "mlp.0.weight": "apply_func.0.weight",
            "mlp.0.bias": "apply_func.0.bias", "mlp.1.weight": "apply_func.2.weight",
            "mlp.1.bias": "apply_func.2.bias"},
}


def given(graph, framework, as_csr=False, values=None):
    """The graph as a framework takes it, with the entries of the matrix if it does not make them itself."""
    if framework == "pyg":
        return graph.csr(graph.ones() if values is None else values) if as_csr else graph.edge_index()
    import dgl

    made = dgl.graph(tuple(graph.edge_index()), num_nodes=graph.n)
    made.create_formats_()
    return made


class Network(torch.nn.Module):
    def __init__(self, framework, model, aggregator, widths, bias, graph, as_csr=False, norm=""):
        super().__init__()
        self.framework, self.model = framework, model
        make = pyg_layer if framework == "pyg" else dgl_layer
        last = len(widths) - 1
        # A batch norm would take a bias before it away.
        self.layers = torch.nn.ModuleList(make(model, aggregator, widths[l - 1], widths[l],
                                               bias and (norm != "batch" or l == last), l == last)
                                          for l in range(1, last + 1))
        normed = {"layer": torch.nn.LayerNorm, "batch": torch.nn.BatchNorm1d}
        self.norms = torch.nn.ModuleList(normed[norm](width) for width in (widths[1:-1] if norm else []))
        entries = graph.symmetric() if model == "gcn" and framework == "pyg" else None
        self.graph = given(graph, framework, as_csr or entries is not None, entries)

    def forward(self, x, dropout=0.0):
        for l, layer in enumerate(self.layers):
            x = torch.nn.functional.dropout(x, dropout, self.training)
            last = l + 1 == len(self.layers)
            x = layer(x, self.graph) if self.framework == "pyg" else layer(self.graph, x)
            if x.dim() == 3:  # DGL's heads
                x = x.mean(1) if last else x.flatten(1)
            if not last:
                x = self.norms[l](x) if self.norms else x
                x = torch.nn.functional.elu(x) if self.model == "gat" else torch.relu(x)
        return x

    def named(self):
        """Parameters of the layers under gnnplan's names; what has none stays 0."""
        found = {}
        for l, layer in enumerate(self.layers, 1):
            parameters = dict(layer.named_parameters())
            of = self.framework + (f"-{self.model}" if self.model in ("gat", "sgc", "gcn") else "")
            names = {**NAMES[of], **({"bias": "fc_self.bias"} if "fc_self.bias" in parameters else {})}
            for ours, theirs in names.items():
                if theirs in parameters:
                    found[f"layers.{l}.{ours}"] = parameters.pop(theirs)
            for rest in parameters.values():  # e.g. a bias that a framework adds
                rest.data.zero_(), rest.requires_grad_(False)
        for l, norm in enumerate(self.norms, 1):
            found |= {f"layers.{l}.norm.{key}": value for key, value in norm.state_dict(keep_vars=True).items()
                      if key != "num_batches_tracked"}
        return found

    def trained(self):
        return {name: parameter for name, parameter in self.named().items() if parameter.requires_grad}

    def set(self, weights):
        named = self.named()
        if set(named) != set(weights):
            raise SystemExit(f"the weights differ: {sorted(set(named) ^ set(weights))}")
        for name, parameter in named.items():
            parameter.data.copy_(self.as_other(name, weights[name]).reshape(parameter.shape))

    def as_other(self, name, tensor):
        """A parameter as it is in files, as a linear map has it, or the other way round; GraphConv has it as files do."""
        transposed = tensor.dim() == 2 and not (self.framework == "dgl" and self.model == "gcn")
        return tensor.T if transposed else tensor

    def reset(self):
        for name, parameter in self.named().items():
            if parameter.dim() > 1:
                torch.nn.init.xavier_uniform_(parameter)
            else:
                torch.nn.init.constant_(parameter, 1.0 if name.endswith(("norm.weight", "running_var")) else 0.0)


class Compared(Network):
    """AGNN: linear maps before the first convolution and behind the last."""

    def __init__(self, framework, layers, widths, bias, graph):
        torch.nn.Module.__init__(self)
        self.framework, self.model = framework, "agnn"
        self.first = torch.nn.Linear(widths[0], widths[1], bias=bias)
        self.last = torch.nn.Linear(widths[1], widths[-1], bias=bias)
        if framework == "pyg":
            import torch_geometric.nn as nn
        else:
            import dgl.nn as nn
        self.layers = torch.nn.ModuleList(nn.AGNNConv() for _ in range(layers))
        self.graph = given(graph, framework)

    def forward(self, x, dropout=0.0):
        x = torch.relu(self.first(torch.nn.functional.dropout(x, dropout, self.training)))
        for layer in self.layers:
            x = layer(x, self.graph) if self.framework == "pyg" else layer(self.graph, x)
        return self.last(torch.nn.functional.dropout(x, dropout, self.training))

    def named(self):
        found = {f"layers.{l}.beta": layer.beta for l, layer in enumerate(self.layers, 1)}
        for name, layer in (("1.embedding", self.first), (f"{len(self.layers)}.output", self.last)):
            found |= {f"layers.{name}.{key}": value for key, value in layer.named_parameters()}
        return found


class Predicted(Network):
    """APPNP: linear maps, and one propagation behind the last."""

    def __init__(self, framework, hops, teleport, widths, bias, graph):
        torch.nn.Module.__init__(self)
        self.framework, self.model = framework, "appnp"
        self.maps = torch.nn.ModuleList(torch.nn.Linear(f, g, bias=bias) for f, g in zip(widths, widths[1:]))
        if framework == "pyg":
            import torch_geometric.nn as nn

            self.propagation = nn.APPNP(hops, teleport)
        else:
            import dgl.nn as nn

            self.propagation = nn.APPNPConv(hops, teleport)
        self.graph = given(graph, framework)

    def forward(self, x, dropout=0.0):
        for k, linear in enumerate(self.maps):
            x = linear(torch.nn.functional.dropout(x, dropout, self.training))
            if k + 1 < len(self.maps):
                x = torch.relu(x)
        return self.propagation(x, self.graph) if self.framework == "pyg" else self.propagation(self.graph, x)

    def named(self):
        names = [*(f"layers.1.input.{k}" for k in range(len(self.maps) - 1)), "layers.1"]
        return {f"{name}.{key}": value for name, linear in zip(names, self.maps)
                for key, value in linear.named_parameters()}


class Mixed(Network):
    """GCNII: a linear map before its layers and one behind them."""

    def __init__(self, framework, teleport, theta, widths, bias, graph):
        torch.nn.Module.__init__(self)
        self.framework, self.model = framework, "gcnii"
        layers = range(1, len(widths))
        self.first = torch.nn.Linear(widths[0], widths[1], bias=bias)
        self.last = torch.nn.Linear(widths[1], widths[-1], bias=bias)
        if framework == "pyg":
            import torch_geometric.nn as nn

            made = [nn.GCN2Conv(widths[1], teleport, theta, l) for l in layers]
        else:
            import dgl.nn as nn

            made = [nn.GCN2Conv(widths[1], l, alpha=teleport, lambda_=theta, bias=False) for l in layers]
        self.layers = torch.nn.ModuleList(made)
        self.graph = given(graph, framework)

    def forward(self, x, dropout=0.0):
        drop = lambda x: torch.nn.functional.dropout(x, dropout, self.training)
        x = initial = torch.relu(self.first(drop(x)))
        for layer in self.layers:
            read = drop(x)
            x = torch.relu(layer(read, initial, self.graph) if self.framework == "pyg"
                           else layer(self.graph, read, initial))
        return self.last(drop(x))

    def as_other(self, name, tensor):
        return tensor if name.count(".") == 2 else super().as_other(name, tensor)

    def named(self):
        of_layers = {f"layers.{l}.weight": layer.weight1 for l, layer in enumerate(self.layers, 1)}
        names = (("1.input.0", self.first), (f"{len(self.layers)}.jk", self.last))
        return of_layers | {f"layers.{name}.{key}": value for name, linear in names
                            for key, value in linear.named_parameters()}


def adam(network, learning_rate, decay, everywhere=False):
    first, others = [], []
    for name, parameter in network.trained().items():
        (first if everywhere or name.startswith("layers.1.") and parameter.dim() == 2 else others).append(parameter)
    return torch.optim.Adam([{"params": first, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}],
                            lr=learning_rate)


def difference(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


def epoch(network, optimizer, x, y, training, dropout):
    network.train()
    loss = torch.nn.functional.cross_entropy(network(x, dropout)[training], y[training])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def best_test_accuracy(network, optimizer, x, y, data, dropout, patience, most):
    """The test accuracy of the epoch with the best validation accuracy, the first of equal ones."""
    training, valid, test = (torch.from_numpy(data[f"{part}_idx"]) for part in ("train", "valid", "test"))
    best, of_test, since = -1.0, 0.0, 0
    for _ in range(most):
        epoch(network, optimizer, x, y, training, dropout)
        network.eval()
        with torch.no_grad():
            right = (network(x).argmax(1) == y).double()
        since += 1
        if right[valid].mean().item() > best:
            best, of_test, since = right[valid].mean().item(), right[test].mean().item(), 0
        if since == patience:
            break
    return of_test


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=["pyg", "dgl"])
    parser.add_argument("mode", choices=["logits", "steps", "accuracy", "attention", "speed"])
    parser.add_argument("model", help="gcn, gin, agnn, sage:AGGREGATOR, gat:HEADSxOUTPUT_HEADS, sgc:HOPS, "
                        "appnp:HOPSxTELEPORT or gcnii:TELEPORTxTHETA")
    parser.add_argument("data")
    parser.add_argument("--weights")
    parser.add_argument("--against")
    parser.add_argument("--widths", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--bias", action="store_true")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--dropout", type=float, default=0)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--weight-decay", type=float, default=5e-4)
    parser.add_argument("--decay-all", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model, _, norm = options.model.partition("+")
    model, _, aggregator = model.partition(":")
    if options.mode == "attention":
        global ATTENTION_DROPOUT
        ATTENTION_DROPOUT = 0.6
    data = numpy.load(options.data)
    x, y = torch.from_numpy(data["x"]), torch.from_numpy(data["y"].astype(numpy.int64))
    training, test = torch.from_numpy(data["train_idx"]), torch.from_numpy(data["test_idx"])
    widths = options.widths or [x.shape[1], *[options.hidden] * (options.layers - 1), int(y.max()) + 1]
    # For GCN's aggregator DGL adds the vertex itself; for attention and propagation PyTorch Geometric does.
    looped = model in ("gat", "agnn", "sgc", "appnp", "gcnii")  # the values of gcn are given
    loops = options.framework == ("dgl" if looped else "pyg")
    graph = Graph(data, loops=model == "gcn" or (loops and (aggregator == "gcn" or looped)))
    if model == "agnn":
        network = Compared(options.framework, len(widths) - 1, widths, options.bias, graph)
    elif model == "appnp":
        hops, teleport = aggregator.split("x")
        network = Predicted(options.framework, int(hops), float(teleport), widths, options.bias, graph)
    elif model == "gcnii":
        teleport, theta = map(float, aggregator.split("x"))
        network = Mixed(options.framework, teleport, theta, widths, options.bias, graph)
    else:
        network = Network(options.framework, model, aggregator, widths, options.bias, graph,
                          as_csr=options.mode == "speed" and aggregator != "pool" and model != "gat", norm=norm)
    result = {"torch": torch.__version__}
    if options.weights:
        network.set(load_safetensors(options.weights))
    if options.mode == "logits":
        network.eval()
        with torch.no_grad():
            result["difference"] = difference(network(x), torch.from_numpy(numpy.load(options.against)))
    elif options.mode == "steps":
        # Adam would divide differences of rounding by gradients of nearly 0.
        optimizer = torch.optim.SGD(network.trained().values(), lr=options.learning_rate, momentum=0.9)
        result["losses"] = [epoch(network, optimizer, x, y, training, 0) for _ in range(options.epochs)]
        ends = load_safetensors(options.against)
        result["difference"] = max(difference(network.as_other(name, p.detach()).reshape(ends[name].shape), ends[name])
                                   for name, p in network.named().items())
    elif options.mode == "attention":
        x = x / x.sum(1, keepdim=True).clamp(min=1)
        result["accuracies"] = []
        for seed in range(options.seeds):
            torch.manual_seed(seed)
            network.reset()
            optimizer = adam(network, 0.005, options.weight_decay, everywhere=True)
            result["accuracies"].append(best_test_accuracy(network, optimizer, x, y, data, 0.6, 100, 1000))
    elif options.mode == "accuracy":
        result["accuracies"] = []
        for seed in range(options.seeds):
            torch.manual_seed(seed)
            network.reset()
            optimizer = adam(network, options.learning_rate, options.weight_decay, everywhere=options.decay_all)
            for _ in range(options.epochs):
                epoch(network, optimizer, x, y, training, options.dropout)
            network.eval()
            with torch.no_grad():
                right = (network(x).argmax(1) == y)[test]
            result["accuracies"].append(right.double().mean().item())
    else:
        network.reset()
        optimizer = adam(network, options.learning_rate, options.weight_decay)
        result["seconds"] = []
        for _ in range(options.epochs):
            begin = time.perf_counter()
            epoch(network, optimizer, x, y, training, 0)
            result["seconds"].append(time.perf_counter() - begin)
    print(json.dumps(result))


main()
