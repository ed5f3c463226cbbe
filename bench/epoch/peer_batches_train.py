"""Trains a GCN on GraphSAINT's batches with one of the frameworks and prints how long they took as JSON.

    python peer_batches_train.py pyg FOLDER --walk 3000:2 --widths 128,128,41 --batches 50 --workers 0 --threads 2

Runs in that framework's environment. A batch is drawn by walks, cut out of the graph, and trained on: forward, loss,
backward and Adam, without dropout and bias, with ReLU between layers; it ends when the loss is in the host's memory.
With --workers other processes draw and cut batches while this one trains. FOLDER is what peer_problem.py writes; walks
are of the graph with self loops, so that they go round in place now and then and batches are rather smaller.

pyg   GraphSAINTRandomWalkSampler and GCNConv. Edges have the whole graph's normalisation times the sampler's
      coefficients, and losses the sampler's, as in its examples/graph_saint.py; --coverage 0: neither. An edge that
      was in none of the batches of which coefficients were counted has 10,000, and a few of these make losses of
      thousands: it draws other batches than it counted.
dgl   SAINTSampler, which has no coefficients, and GraphConv, which normalises by the degrees within the batch.
"""
import argparse, json, pathlib, sys, time, warnings

sys.dont_write_bytecode = True  # of the file beside this one

import numpy
import peer_problem
import torch

warnings.filterwarnings("ignore")


def edge_index(problem):
    target = numpy.repeat(numpy.arange(len(problem["start"]) - 1), numpy.diff(problem["start"]))
    return torch.from_numpy(numpy.stack([problem["column"].astype(numpy.int64), target]))


def tensors(problem):
    """Features, labels, and whether a vertex is for training."""
    training = torch.zeros(len(problem["labels"]), dtype=torch.bool)
    training[torch.from_numpy(problem["training"])] = True
    return torch.from_numpy(problem["features"]), torch.from_numpy(problem["labels"]), training


class Pyg:
    def __init__(self, problem, options, count):
        import torch_geometric
        from torch_geometric.loader import GraphSAINTRandomWalkSampler

        x, y, training = tensors(problem)
        edges = edge_index(problem)
        data = torch_geometric.data.Data(x=x, y=y, training=training, edge_index=edges, num_nodes=len(y),
                                         edge_weight=torch.from_numpy(problem["value"]))
        self.weighted = options.coverage > 0
        kept = pathlib.Path(options.folder) / f"saint-{options.walk[0]}"  # the sampler names its file by H, not by R
        kept.mkdir(exist_ok=True)
        self.loader = GraphSAINTRandomWalkSampler(
            data, batch_size=options.walk[0], walk_length=options.walk[1], num_steps=count,
            sample_coverage=options.coverage, save_dir=kept, log=False, num_workers=options.workers)
        make = lambda *sides: torch_geometric.nn.GCNConv(*sides, bias=False, normalize=False)
        self.layers = [make(*sides) for sides in zip(options.widths, options.widths[1:])]
        self.version = f"PyTorch Geometric {torch_geometric.__version__}, PyTorch {torch.__version__}"

    def loss(self, batch):
        weights = batch.edge_weight * batch.edge_norm if self.weighted else batch.edge_weight
        x = batch.x
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x, batch.edge_index, weights))
        x = self.layers[-1](x, batch.edge_index, weights)[batch.training]
        if not self.weighted:
            return torch.nn.functional.cross_entropy(x, batch.y[batch.training])
        losses = torch.nn.functional.cross_entropy(x, batch.y[batch.training], reduction="none")
        return (losses * batch.node_norm[batch.training]).sum()

    @staticmethod
    def size(batch):
        return batch.num_nodes, batch.edge_index.shape[1]


class Dgl:
    def __init__(self, problem, options, count):
        import dgl

        self.ids = dgl.NID
        self.x, self.y, self.training = tensors(problem)
        graph = dgl.graph(tuple(edge_index(problem)), num_nodes=len(self.y))
        graph.create_formats_()
        sampler = dgl.dataloading.SAINTSampler(mode="walk", budget=options.walk)
        self.loader = dgl.dataloading.DataLoader(graph, torch.arange(count), sampler, batch_size=1,
                                                 num_workers=options.workers)
        make = lambda *sides: dgl.nn.GraphConv(*sides, norm="both", bias=False)
        self.layers = [make(*sides) for sides in zip(options.widths, options.widths[1:])]
        self.version = f"DGL {dgl.__version__}, PyTorch {torch.__version__}"

    def loss(self, batch):
        vertices = batch.ndata[self.ids]
        x, training = self.x[vertices], self.training[vertices]
        for layer in self.layers[:-1]:
            x = torch.relu(layer(batch, x))
        return torch.nn.functional.cross_entropy(self.layers[-1](batch, x)[training], self.y[vertices][training])

    @staticmethod
    def size(batch):
        return batch.num_nodes(), batch.num_edges()


def train(options):
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    problem = peer_problem.load(options.folder)
    begin = time.perf_counter()
    peer = {"pyg": Pyg, "dgl": Dgl}[options.peer](problem, options, options.warm_up + options.batches)
    prepared = time.perf_counter() - begin
    optimizer = torch.optim.Adam([weights for layer in peer.layers for weights in layer.parameters()], lr=0.01)
    ends, losses, sizes = [], [], []
    for batch in peer.loader:
        loss = peer.loss(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        sizes.append(peer.size(batch))
        ends.append(time.perf_counter())
    mean = lambda values: sum(values) / len(values)
    return {"version": peer.version, "before_seconds": prepared, "batches": options.batches,
            "seconds": ends[-1] - ends[options.warm_up - 1], "losses": losses,
            "vertices": mean([size[0] for size in sizes]), "nonzeros": mean([size[1] for size in sizes])}


def main():
    numbers = lambda by: lambda text: tuple(int(part) for part in text.split(by))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=["pyg", "dgl"])
    parser.add_argument("folder")
    parser.add_argument("--walk", type=numbers(":"), default=(3000, 2), help="roots:steps, default 3000:2")
    parser.add_argument("--widths", required=True, type=numbers(","))
    parser.add_argument("--batches", type=int, default=50, help="that are timed, default 50")
    parser.add_argument("--warm-up", type=int, default=5, help="batches before them, default 5")
    parser.add_argument("--coverage", type=int, default=50, help="of PyG's coefficients; 0: none")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    print(json.dumps(train(parser.parse_args())))


if __name__ == "__main__":
    main()
