#!/usr/bin/python3
"""Writes models_torch.txt: losses, gradients and weights of small networks of every model as PyTorch computes them, in
double precision, with autograd alone.

Run by hand with PyTorch installed; the result is kept beside this script, so that tests need no Python.
Usage: make_models_torch.py > models_torch.txt
"""
import math
import platform

import torch

VERTICES, WIDTHS, STEPS = 11, [5, 7, 6, 4], 3
LEARNING_RATE, WEIGHT_DECAY = 0.01, 5e-4  # decay on the first layer's matrices only
# Directed, with sinks, sources and one vertex (10) without neighbours.
EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 4), (6, 4), (7, 4), (4, 8), (8, 9), (9, 0), (5, 7), (1, 8)]
LABELS = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2]
TRAINING = [0, 1, 3, 4, 6, 7, 10]
LOOPS = [(v, v) for v in range(VERTICES)]
ACTIVATIONS = {
    "relu": torch.relu,
    "elu": torch.nn.functional.elu,
    "leaky_relu": torch.nn.functional.leaky_relu,
}

# name: model, aggregator, bias, activation, residual, jk, epsilon (None: on the diagonal), trained
VARIANTS = {
    "sage_mean": ("sage", "mean", True, "relu", False, False, None),
    "sage_sum": ("sage", "sum", False, "relu", False, False, None),
    "sage_gcn": ("sage", "gcn", True, "relu", False, False, None),
    "sage_max": ("sage", "max", True, "relu", False, False, None),
    "sage_pool": ("sage", "pool", True, "relu", False, False, None),
    "gin": ("gin", "", True, "relu", False, False, None),
    "gin_trained": ("gin", "", False, "relu", False, False, 0.25),
    "gcn_residual_elu": ("gcn", "", True, "elu", True, False, None),
    "gcn_jk_leaky_relu": ("gcn", "", True, "leaky_relu", False, True, None),
    "sage_pool_residual_jk_elu": ("sage", "pool", True, "elu", True, True, None),
    "gat": ("gat", "", True, "elu", False, False, None),
    "gat_averaged_residual": ("gat", "", True, "relu", True, False, None),
    "agnn": ("agnn", "", True, "elu", False, False, None),
    "sgc": ("sgc", "", True, "relu", False, False, None),
    "appnp": ("appnp", "", True, "relu", False, False, None),
    "appnp_residual_elu": ("appnp", "", False, "elu", True, False, None),
    "gcnii": ("gcnii", "", True, "relu", False, False, None),
    "gcnii_elu": ("gcnii", "", False, "elu", False, False, None),
    "gcn_sums": ("gcn", "", True, "relu", "sums", False, None),
}
# of agnn and gcnii, whose layers have the same columns, and of sums of layers
COMPARED_WIDTHS = [5, 7, 7, 4]
# name: heads of hidden layers, of the last, whether the former are averaged, slope, widths that heads share
HEADS = {"gat": (3, 1, False, 0.2, [5, 6, 9, 4]), "gat_averaged_residual": (4, 2, True, 0.5, WIDTHS)}
# name: hops, teleport; those of the last are the defaults
PROPAGATION = {"sgc": (3, 0.0), "appnp": (3, 0.25), "appnp_residual_elu": (10, 0.1)}
# name: teleport, theta; those of the last are the defaults
INITIAL = {"gcnii": (0.25, 0.7), "gcnii_elu": (0.1, 0.5)}
SYMMETRIC = ("gcn", "sgc", "appnp", "gcnii")  # models whose entries of A have the degrees of both ends


def edges_of(model, aggregator, epsilon):
    loops = model in (*SYMMETRIC, "gat", "agnn") or aggregator == "gcn" or (model == "gin" and epsilon is None)
    return EDGES + LOOPS if loops else EDGES


def entries(model, aggregator, edges):
    """The entry of A for each edge."""
    out_degree = torch.tensor([sum(u == v for u, _ in edges) for v in range(VERTICES)], dtype=torch.float64)
    in_degree = torch.tensor([sum(u == v for _, u in edges) for v in range(VERTICES)], dtype=torch.float64)
    if model in SYMMETRIC:
        return [1 / torch.sqrt(out_degree[u] * in_degree[v]) for u, v in edges]
    if aggregator in ("mean", "gcn"):
        return [1 / in_degree[v] for _, v in edges]
    return [torch.tensor(1.0, dtype=torch.float64) for _ in edges]


class Network:
    def __init__(self, name, variant, uniform):
        self.heads = HEADS.get(name)
        self.hops, self.teleport = PROPAGATION.get(name, (1, 0.0))
        equal = variant[0] in ("agnn", "gcnii") or variant[4] == "sums"
        self.widths = self.heads[-1] if self.heads else COMPARED_WIDTHS if equal else WIDTHS
        self.initial = INITIAL.get(name)
        self.model, self.aggregator, self.bias, activation, self.residual, self.jk, self.epsilon = variant
        self.activation = ACTIVATIONS[activation]
        self.edges = edges_of(self.model, self.aggregator, self.epsilon)
        self.entries = entries(self.model, self.aggregator, self.edges)
        self.uniform = uniform
        self.parameters = {}
        self.forward(torch.zeros(VERTICES, self.widths[0], dtype=torch.float64))  # makes the parameters

    def parameter(self, name, *shape):
        if name not in self.parameters:
            self.parameters[name] = self.uniform(*shape).requires_grad_()
        return self.parameters[name]

    def linear(self, h, columns, name):
        return h @ self.parameter(name + "weight", h.shape[1], columns)

    def biased(self, z, name):
        return z + self.parameter(name + "bias", z.shape[1]) if self.bias else z

    def sums(self, h):
        rows = [torch.zeros(h.shape[1], dtype=torch.float64) for _ in range(VERTICES)]
        for (u, v), entry in zip(self.edges, self.entries):
            rows[v] = rows[v] + entry * h[u]
        return torch.stack(rows)

    def propagated(self, h):
        """Gasteiger et al. 2019, eq. 5; without a teleport Wu et al. 2019, eq. 8."""
        x = h
        for _ in range(self.hops):
            x = (1 - self.teleport) * self.sums(x) + self.teleport * h
        return x

    def maxima(self, h):
        rows = []
        for v in range(VERTICES):
            sources = [u for u, w in self.edges if w == v]
            rows.append(h[sources].amax(0) if sources else torch.zeros(h.shape[1], dtype=torch.float64))
        return torch.stack(rows)

    def attention(self, h, columns, name, last):
        """Velickovic et al. 2018, eq. 1 to 6, over a dense matrix of scores."""
        hidden, output, averages, slope, _ = self.heads
        heads = output if last else hidden
        averages = heads > 1 and (averages or last)
        each = columns if averages else columns // heads
        x = self.linear(h, heads * each, name).reshape(VERTICES, heads, each)
        s = (x * self.parameter(name + "attention.source", heads, each)).sum(2)
        t = (x * self.parameter(name + "attention.target", heads, each)).sum(2)
        scores = torch.nn.functional.leaky_relu(s[None] + t[:, None], slope)  # target, source, head
        edges = torch.zeros(VERTICES, VERTICES, dtype=torch.bool)
        for u, v in self.edges:
            edges[v, u] = True
        weights = torch.softmax(scores.masked_fill(~edges[:, :, None], -float("inf")), 1)
        sums = torch.einsum("vuk,ukj->vkj", weights, x)
        return sums.mean(1) if averages else sums.reshape(VERTICES, columns)

    def compared(self, h, name):
        """Thekumparampil et al. 2018, eq. 6, over a dense matrix of scores."""
        unit = torch.nn.functional.normalize(h, dim=1)
        edges = torch.zeros(VERTICES, VERTICES, dtype=torch.bool)
        for u, v in self.edges:
            edges[v, u] = True
        scores = self.parameter(name + "beta", 1) * (unit @ unit.T)
        return torch.softmax(scores.masked_fill(~edges, -float("inf")), 1) @ h

    def propagate(self, h):
        layers = len(self.widths) - 1
        first, last = "layers.1.embedding.", f"layers.{layers}.output."
        h = self.activation(self.biased(self.linear(h, self.widths[1], first), first))
        for l in range(1, layers + 1):
            h = self.compared(h, f"layers.{l}.")
        return self.biased(self.linear(h, self.widths[-1], last), last)

    def mixed(self, h):
        """Chen et al. 2020, eq. 5, between two linear maps."""
        layers = len(self.widths) - 1
        first, last = "layers.1.input.0.", f"layers.{layers}.jk."
        teleport, theta = self.initial
        h = initial = self.activation(self.biased(self.linear(h, self.widths[1], first), first))
        for l in range(1, layers + 1):
            x = (1 - teleport) * self.sums(h) + teleport * initial
            share = math.log(theta / l + 1)
            h = self.activation((1 - share) * x + share * self.linear(x, x.shape[1], f"layers.{l}."))
        return self.biased(self.linear(h, self.widths[-1], last), last)

    def layer(self, h, columns, name, last):
        if self.heads:
            return self.attention(h, columns, name, last)
        if self.model == "gcn":
            return self.linear(self.sums(h), columns, name)
        if self.model == "sgc":
            return self.linear(self.propagated(h), columns, name)
        if self.model == "appnp":
            return self.propagated(self.biased(self.linear(h, columns, name), name))
        if self.model == "gin":
            sums = self.sums(h)
            if self.epsilon is not None:
                sums = sums + (1 + self.epsilon + self.parameter(name + "epsilon", 1)) * h
            inner = self.biased(self.linear(sums, columns, name + "mlp.0."), name + "mlp.0.")
            return self.linear(self.activation(inner), columns, name + "mlp.1.")
        if self.aggregator == "gcn":
            return self.linear(self.sums(h), columns, name + "neighbour.")
        source = h
        if self.aggregator == "pool":
            source = self.activation(self.biased(self.linear(h, h.shape[1], name + "pool."), name + "pool."))
        aggregated = self.maxima(source) if self.aggregator in ("max", "pool") else self.sums(source)
        return self.linear(aggregated, columns, name + "neighbour.") + self.linear(h, columns, name + "self.")

    def forward(self, h):
        if self.model == "agnn":
            return self.propagate(h)
        if self.initial:
            return self.mixed(h)
        layers = len(self.widths) - 1
        outputs = []
        for l in range(1, layers + 1):
            name = f"layers.{l}."
            last = l == layers
            columns = self.widths[l - 1] if last and self.jk else self.widths[l]
            z = self.layer(h, columns, name, last)
            added = h if self.residual is True else before if self.residual and l > 1 else None
            if added is not None:
                z = z + (added if added.shape[1] == columns else self.linear(added, columns, name + "residual."))
            if self.model != "appnp":  # its biases propagate
                z = self.biased(z, name + ("mlp.1." if self.model == "gin" else ""))
            if last and not self.jk:
                return z
            before = z
            h = self.activation(z)
            outputs.append(h)
        joined = torch.cat(outputs, 1)
        weight = torch.cat([self.parameter(f"layers.{l + 1}.jk.weight", out.shape[1], WIDTHS[-1])
                            for l, out in enumerate(outputs)])
        return self.biased(joined @ weight, f"layers.{layers}.jk.")


def put(name, tensor):
    values = tensor.detach().reshape(-1).tolist() if torch.is_tensor(tensor) else tensor
    print(name, len(values), *(repr(value) for value in values))


def train(name, network, features):
    by_target = sorted(range(len(network.edges)), key=lambda e: (network.edges[e][1], network.edges[e][0]))
    put(f"{name}.matrix_rows", [network.edges[e][1] for e in by_target])
    put(f"{name}.matrix_columns", [network.edges[e][0] for e in by_target])
    put(f"{name}.matrix_values", torch.stack([network.entries[e] for e in by_target]))
    reads_features = "layers.1.input." if network.initial else "layers.1."
    decays = [p for n, p in network.parameters.items() if n.startswith(reads_features) and n.endswith("weight")]
    others = [p for p in network.parameters.values() if not any(p is d for d in decays)]
    optimizer = torch.optim.Adam([{"params": decays, "weight_decay": WEIGHT_DECAY},
                                  {"params": others, "weight_decay": 0.0}], lr=LEARNING_RATE)
    for step in range(STEPS + 1):
        for parameter, value in network.parameters.items():
            put(f"{name}.step{step}.{parameter}", value)
        if step == STEPS:
            return
        logits = network.forward(features)
        loss = torch.nn.functional.cross_entropy(logits[TRAINING], torch.tensor(LABELS)[TRAINING])
        optimizer.zero_grad()
        loss.backward()
        put(f"{name}.step{step}.loss", [loss.item()])
        for parameter, value in network.parameters.items():
            put(f"{name}.step{step}.gradient.{parameter}", value.grad)
        optimizer.step()


def main():
    print(f"# PyTorch {torch.__version__}, Python {platform.python_version()}; written by make_models_torch.py")
    print("# name, count, values; matrices row-major; gradients are without weight decay")
    generator = torch.Generator().manual_seed(20221122)

    def uniform(*shape):
        return torch.rand(*shape, dtype=torch.float64, generator=generator) * 2 - 1

    features = uniform(VERTICES, WIDTHS[0])
    put("widths", WIDTHS)
    put("features", features)
    put("labels", LABELS)
    put("training", TRAINING)
    put("learning_rate", [LEARNING_RATE])
    put("weight_decay", [WEIGHT_DECAY])
    for name, variant in VARIANTS.items():
        network = Network(name, variant, uniform)
        if network.widths != WIDTHS:
            put(f"{name}.widths", network.widths)
        train(name, network, features)


main()
