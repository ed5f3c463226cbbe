"""Trains a GCN with one of the frameworks and prints its epochs as JSON. Runs in that framework's environment.

    python peer_train.py csr FOLDER --widths 128,256,256,40 --epochs 9 --threads 2 [--device cuda]

No dropout, no bias, ReLU between layers, Glorot's initial weights, cross-entropy over the training vertices, Adam. An
epoch is forward, loss, backward and update; it ends when the loss is in the host's memory, before which a GPU has done
all of it. FOLDER is what peer_problem.py writes.
"""
import argparse, json, sys, time, warnings

sys.dont_write_bytecode = True  # of the file beside this one

import peer_problem

warnings.filterwarnings("ignore")  # sparse CSR is in beta, and the like: not what is asked here


def csr_tensor(torch, problem, device):
    """With 32-bit indices, which MKL takes as they are."""
    n = len(problem["start"]) - 1
    parts = (torch.from_numpy(problem[name]) for name in ("start", "column", "value"))
    return torch.sparse_csr_tensor(*parts, size=(n, n)).to(device)


def edge_index(torch, problem):
    """[2, nnz]: sources and targets, self loops included, as the convolutions of the libraries take them."""
    import numpy

    target = numpy.repeat(numpy.arange(len(problem["start"]) - 1), numpy.diff(problem["start"]))
    return torch.from_numpy(numpy.stack([problem["column"].astype(numpy.int64), target]))


def torch_gcn(torch, problem, widths, device):
    """PyTorch alone: A (X W), and as A is symmetric the same product backwards.

    Autograd's own backward of a CSR product transposes A in every epoch and is 1.1 to 1.6 times slower.
    """
    adjacency = csr_tensor(torch, problem, device)

    class Propagate(torch.autograd.Function):
        @staticmethod
        def forward(_, dense):
            return adjacency @ dense

        @staticmethod
        def backward(_, gradient):
            return adjacency @ gradient

    class Layer(torch.nn.Module):
        def __init__(self, rows, columns):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(rows, columns)))

        def forward(self, features):
            return Propagate.apply(features @ self.weight)

    return [Layer(*sides) for sides in zip(widths, widths[1:])], lambda layer, x: layer(x), f"PyTorch {torch.__version__}"


def pyg_gcn(torch, problem, widths, device, as_csr):
    """PyTorch Geometric's GCNConv, normalisation kept; it multiplies by the weights first in every layer."""
    import torch_geometric

    if as_csr:  # normalised already
        graph, options = csr_tensor(torch, problem, device), {"normalize": False}
    else:
        graph, options = edge_index(torch, problem).to(device), {"cached": True, "add_self_loops": False}
    layers = [torch_geometric.nn.GCNConv(*sides, bias=False, **options) for sides in zip(widths, widths[1:])]
    return (layers, lambda layer, x: layer(x, graph),
            f"PyTorch Geometric {torch_geometric.__version__}, PyTorch {torch.__version__}")


def dgl_gcn(torch, problem, widths, device):
    """DGL's GraphConv; of the two orders it takes the one whose sparse product is narrower."""
    import dgl

    graph = dgl.graph(tuple(edge_index(torch, problem)), num_nodes=len(problem["labels"])).to(device)
    graph.create_formats_()
    layers = [dgl.nn.GraphConv(*sides, norm="both", bias=False) for sides in zip(widths, widths[1:])]
    return layers, lambda layer, x: layer(graph, x), f"DGL {dgl.__version__}, PyTorch {torch.__version__}"


NETWORKS = {"csr": torch_gcn, "pyg-edges": lambda *given: pyg_gcn(*given, as_csr=False),
            "pyg-csr": lambda *given: pyg_gcn(*given, as_csr=True), "dgl": dgl_gcn}


def train(network, problem, options):
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    layers, apply, version = NETWORKS[network](torch, problem, options.widths, options.device)
    for layer in layers:
        layer.to(options.device)
    features, labels, training = (torch.from_numpy(problem[name]).to(options.device) for name in ("features", "labels", "training"))
    labels = labels[training]
    optimizer = torch.optim.Adam([weights for layer in layers for weights in layer.parameters()], lr=options.learning_rate)
    epochs = []
    for _ in range(options.epochs):
        start = time.perf_counter()
        x = features
        for layer in layers[:-1]:
            x = torch.relu(apply(layer, x))
        loss = torch.nn.functional.cross_entropy(apply(layers[-1], x)[training], labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found = loss.item()
        epochs.append({"seconds": time.perf_counter() - start, "loss": found})
    return {"version": version, "threads": torch.get_num_threads(), "epochs": epochs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("folder")
    parser.add_argument("--widths", required=True, type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    print(json.dumps(train(options.network, peer_problem.load(options.folder), options)))


main()
