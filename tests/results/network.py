"""The models of docs/models.md and the weighing of docs/edge-weights.md in double precision, vertex by vertex, as the
pages say them. Nothing here is shared with the product.

A network is a dictionary of what is asked of gnnplan plan, and of --feature-norm; weights are tensors by the names that
files give them, each a list of rows or of numbers."""

import dataclasses
import math


@dataclasses.dataclass
class Graph:
    """Edges as they are listed: loops and repetitions among them, and a weight for each, which is 1 unless weighted."""
    vertices: int
    listed: list
    features: list
    labels: list
    split: dict
    weighted: bool = False

    def edges(self, symmetrise):
        """Weights by (source, target): no loops, the weights of repeated edges added up."""
        weights = {}
        for u, v, w in self.listed:
            if u != v:
                weights[u, v] = weights.get((u, v), 0.0) + w if self.weighted else 1.0
        if symmetrise:
            weights = {pair: self.mean(weights, edge) for edge in weights for pair in (edge, edge[::-1])}
        return weights

    @staticmethod
    def mean(weights, edge):
        there, back = weights[edge], weights.get(edge[::-1])
        return there if back is None else (there + back) / 2


def normalisation_of(network):
    if network.get("normalisation"):
        return network["normalisation"]
    mean = network["model"] == "sage" and network.get("aggregator", "mean") in ("mean", "gcn")
    symmetric = ("gcn", "sgc", "appnp", "sign", "gcnii")
    return "symmetric" if network["model"] in symmetric else "row_mean" if mean else "none"


def neighbours_of(graph, network):
    """For each vertex its in-neighbours, with the coefficient of each in a sum."""
    loops = network["model"] in ("gcn", "gat", "agnn", "sgc", "appnp", "sign", "gcnii") or network.get("aggregator") == "gcn"
    weights = graph.edges(network.get("symmetrise", False))
    if loops:
        weights.update({(v, v): 1.0 for v in range(graph.vertices)})
    out_degree, in_degree = [0.0] * graph.vertices, [0.0] * graph.vertices
    for (u, v), w in weights.items():
        out_degree[u] += w
        in_degree[v] += w
    kind = normalisation_of(network)

    def coefficient(u, v, w):
        if kind == "none":
            return w
        scale = in_degree[v] if kind == "row_mean" else math.sqrt(out_degree[u] * in_degree[v])
        return w / scale if scale != 0 else 0.0

    result = [[] for _ in range(graph.vertices)]
    for (u, v), w in sorted(weights.items()):
        result[v].append((u, coefficient(u, v, w)))
    return result


def times(row, matrix):
    result = [0.0] * len(matrix[0])
    for x, weights in zip(row, matrix, strict=True):
        for j, w in enumerate(weights):
            result[j] += x * w
    return result


def plus(*rows):
    return [math.fsum(values) for values in zip(*rows, strict=True)]


def weighed(coefficients, rows, columns):
    return [math.fsum(c * row[j] for c, row in zip(coefficients, rows, strict=True)) for j in range(columns)]


def softmax(scores):
    largest = max(scores)
    exponentials = [math.exp(s - largest) for s in scores]
    total = math.fsum(exponentials)
    return [e / total for e in exponentials]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def cosine(a, b):
    # Scaled by the largest magnitude, so that squares stay in range.
    a, b = ([x / max(map(abs, row), default=0.0) for x in row] if any(row) else row for row in (a, b))
    lengths = math.sqrt(dot(a, a)) * math.sqrt(dot(b, b))
    return dot(a, b) / lengths if lengths > 0 else 0.0


def shapes(network):
    """The shapes of the weights by name: one number for a vector."""
    widths, model, result = network["widths"], network["model"], {}
    layers, jumps = len(widths) - 1, network.get("jk") == "concat"
    headed = network.get("jk") or network.get("post")
    biased = [] if not network.get("bias") else ["bias"]
    if model == "agnn":
        result["layers.1.embedding.weight"] = [widths[0], widths[1]]
        result |= {f"layers.1.embedding.{part}": [widths[1]] for part in biased}
        result |= {f"layers.{layer}.beta": [1] for layer in range(1, layers + 1)}
        result[f"layers.{layers}.output.weight"] = widths[-2:]
        return result | {f"layers.{layers}.output.{part}": widths[-1:] for part in biased}
    if model == "sign":
        hops, inner = network["hops"], widths[1:-1]
        for hop in range(hops + 1):
            result[f"layers.{hops}.hop.{hop}.weight"] = widths[:2]
            if inner:
                result |= {f"layers.{hops}.hop.{hop}.{part}": [inner[0]] for part in biased}
                result[f"layers.{hops}.output.0.{hop}.weight"] = [inner[0], widths[2]]
        for k in range(1, len(inner)):
            result[f"layers.{hops}.output.{k}.weight"] = widths[k + 1:k + 3]
        names = [f"output.{k}" for k in range(len(inner))] or ["hop"]
        return result | {f"layers.{hops}.{name}.{part}": [made]
                         for name, made in zip(names, widths[2:] or widths[1:]) for part in biased}
    read = widths[0]

    def mapped(name, made):
        return {f"{name}.weight": [read, made]} | {f"{name}.{part}": [made] for part in biased}

    for k, made in enumerate(network.get("pre") or []):
        result |= mapped(f"layers.1.input.{k}", made)
        read = made
    for layer in range(1, layers + 1):
        last = layer == layers
        made = read if last and headed and (layer > 1 or network.get("pre")) else widths[layer]
        own = {}
        if model in ("gcn", "sgc", "appnp", "gcnii"):
            own["weight"] = [read, made]
        elif model == "sage":
            own["neighbour.weight"] = [read, made]
            if network.get("aggregator") != "gcn":
                own["self.weight"] = [read, made]
            if network.get("aggregator") == "pool":
                own |= {"pool.weight": [read, read]} | {f"pool.{part}": [read] for part in biased}
        elif model == "gin":
            own |= {"mlp.0.weight": [read, made], "mlp.1.weight": [made, made]}
            own |= {f"mlp.{k}.{part}": [made] for k in (0, 1) for part in biased}
            if network.get("epsilon") == "train":
                own["epsilon"] = [1]
        else:
            heads = network.get("output_heads" if last else "heads", 1)
            averaged = heads > 1 and (last or network.get("average_heads"))
            columns = made if averaged else made // heads
            own |= {"weight": [read, heads * columns], "attention.source": [heads, columns],
                    "attention.target": [heads, columns]}
        adds = network.get("residual") and (layer > 1 or network["residual"] != "sums")
        if adds and (network["residual"] == "linear" or read != made):
            own["residual.weight"] = [read, made]
        if model not in ("gin", "gcnii"):
            own |= {part: [made] for part in biased}
        if network.get("norm") and (not last or headed):
            own |= {"norm.weight": [made], "norm.bias": [made]}
            if network["norm"] == "batch":
                own |= {"norm.running_mean": [made], "norm.running_var": [made]}
                if network.get("norm_after", "sum") == "sum":  # whose mean takes a bias away
                    own.pop("mlp.1.bias" if model == "gin" else "bias", None)
        if jumps or (network.get("jk") == "last" and last):
            own["jk.weight"] = [made, widths[-1]]
            own |= {f"jk.{part}": widths[-1:] for part in biased if last}
        result |= {f"layers.{layer}.{name}": shape for name, shape in own.items()}
        read = made
    post = network.get("post") or []
    for k, made in enumerate([*post, widths[-1]] if post else []):
        result |= mapped(f"layers.{layers}.output.{k}", made)
        read = made
    return result


class Network:
    """`rounded` is applied to the terms of each edge's score, because float32 sums keep only the last places of the
    larger term."""

    def __init__(self, graph, network, weights, rounded=lambda score: score):
        self.graph, self.network, self.weights, self.rounded = graph, network, weights, rounded
        self.features = graph.features
        if network.get("feature_norm") == "row":
            self.features = [[x / (math.fsum(map(abs, row)) or 1.0) for x in row] for row in graph.features]
        self.neighbours = neighbours_of(graph, network)
        self.layers = len(network["widths"]) - 1
        self.training = False

    def activate(self, row):
        kind = self.network.get("activation") or ("elu" if self.network["model"] == "gat" else "relu")
        negative = {"relu": lambda z: 0.0, "elu": math.expm1, "leaky_relu": lambda z: 0.01 * z}[kind]
        return [z if z > 0 else negative(z) for z in row]

    def weight(self, layer, name):
        return self.weights[f"layers.{layer}.{name}"]

    def linear(self, layer, name, rows):
        matrix = self.weight(layer, name)
        return [times(row, matrix) for row in rows]

    def biased(self, layer, name, rows):
        if not self.network.get("bias"):
            return rows
        return [plus(row, self.weight(layer, name)) for row in rows]

    def summed(self, rows):
        columns = len(rows[0])
        return [weighed([c for _, c in near], [rows[u] for u, _ in near], columns) for near in self.neighbours]

    def largest(self, rows):
        columns = len(rows[0])
        return [[max(rows[u][j] for u, _ in near) for j in range(columns)] if near else [0.0] * columns
                for near in self.neighbours]

    def gcn(self, layer, rows):
        return self.linear(layer, "weight", self.summed(rows))

    def propagated(self, rows):
        """x = (1 - teleport) sums of x + teleport rows, as often as there are hops, from the rows on."""
        made, share = rows, self.network.get("teleport", 0.0)
        for _ in range(self.network["hops"]):
            made = [[(1 - share) * x + share * y for x, y in zip(a, b, strict=True)]
                    for a, b in zip(self.summed(made), rows, strict=True)]
        return made

    def gcnii(self, layer, rows):
        """((1 - teleport) sums + teleport H^0) (beta W + (1 - beta) I), H^0 being what the maps before layer 1 make."""
        teleport, beta = self.network["teleport"], math.log(self.network["theta"] / layer + 1)
        made = [[(1 - teleport) * x + teleport * y for x, y in zip(a, b, strict=True)]
                for a, b in zip(self.summed(rows), self.before_layers(), strict=True)]
        mapped = self.linear(layer, "weight", made)
        return [[beta * x + (1 - beta) * y for x, y in zip(a, b, strict=True)]
                for a, b in zip(mapped, made, strict=True)]

    def sgc(self, layer, rows):
        return self.linear(layer, "weight", self.propagated(rows))

    def appnp(self, layer, rows):
        return self.propagated(self.biased(layer, "bias", self.linear(layer, "weight", rows)))

    def sage(self, layer, rows):
        aggregator = self.network.get("aggregator", "mean")
        if aggregator == "gcn":
            return self.linear(layer, "neighbour.weight", self.summed(rows))
        if aggregator == "pool":
            mapped = self.biased(layer, "pool.bias", self.linear(layer, "pool.weight", rows))
            aggregated = self.largest([self.activate(row) for row in mapped])
        else:
            aggregated = (self.largest if aggregator == "max" else self.summed)(rows)
        near = self.linear(layer, "neighbour.weight", aggregated)
        return [plus(a, b) for a, b in zip(near, self.linear(layer, "self.weight", rows), strict=True)]

    def gin(self, layer, rows):
        asked = self.network.get("epsilon", 0.0)
        epsilon = self.weight(layer, "epsilon")[0] if asked == "train" else asked
        sums = [plus([(1 + epsilon) * x for x in row], near)
                for row, near in zip(rows, self.summed(rows), strict=True)]
        inner = self.biased(layer, "mlp.0.bias", self.linear(layer, "mlp.0.weight", sums))
        return self.linear(layer, "mlp.1.weight", [self.activate(row) for row in inner])

    def gat(self, layer, rows):
        last = layer == self.layers
        heads = self.network.get("output_heads" if last else "heads", 1)
        slope = self.network.get("slope", 0.2)
        source, target = self.weight(layer, "attention.source"), self.weight(layer, "attention.target")
        mapped = self.linear(layer, "weight", rows)
        columns = len(mapped[0]) // heads
        by_head = []
        for k in range(heads):
            own = [row[k * columns:(k + 1) * columns] for row in mapped]
            s, t = [dot(row, source[k]) for row in own], [dot(row, target[k]) for row in own]
            made = []
            for v, near in enumerate(self.neighbours):
                scores = [self.rounded(s[u]) + self.rounded(t[v]) for u, _ in near]
                alpha = softmax([x if x > 0 else slope * x for x in scores])
                made.append(weighed(alpha, [own[u] for u, _ in near], columns))
            by_head.append(made)
        if heads > 1 and (last or self.network.get("average_heads")):
            return [[x / heads for x in plus(*parts)] for parts in zip(*by_head, strict=True)]
        return [[x for part in parts for x in part] for parts in zip(*by_head, strict=True)]

    def agnn(self):
        rows = self.biased(1, "embedding.bias", self.linear(1, "embedding.weight", self.features))
        outputs = [[self.activate(row) for row in rows]]
        for layer in range(1, self.layers + 1):
            rows, beta = outputs[-1], self.weight(layer, "beta")[0]
            made = []
            for v, near in enumerate(self.neighbours):
                alpha = softmax([self.rounded(beta * cosine(rows[u], rows[v])) for u, _ in near])
                made.append(weighed(alpha, [rows[u] for u, _ in near], len(rows[0])))
            outputs.append(made)
        logits = self.biased(self.layers, "output.bias", self.linear(self.layers, "output.weight", outputs[-1]))
        return outputs[1:-1] + [logits]

    def sign(self):
        hops, inner, parts, outputs = self.network["hops"], self.network["widths"][1:-1], [], [self.features]
        for hop in range(hops + 1):
            mapped = self.linear(hops, f"hop.{hop}.weight", outputs[-1])
            if inner:
                read = [self.activate(row) for row in self.biased(hops, f"hop.{hop}.bias", mapped)]
                mapped = self.linear(hops, f"output.0.{hop}.weight", read)
            parts.append(mapped)
            outputs.append(self.summed(outputs[-1]))
        rows = self.biased(hops, "output.0.bias" if inner else "hop.bias",
                           [plus(*row) for row in zip(*parts, strict=True)])
        for k in range(1, len(inner)):
            rows = self.linear(hops, f"output.{k}.weight", [self.activate(row) for row in rows])
            rows = self.biased(hops, f"output.{k}.bias", rows)
        return [*outputs[1:hops], rows]

    def normalised(self, layer, rows):
        """Normalises each row, or each column: by all rows in training, and by running values else."""
        batch = self.network["norm"] == "batch"
        lines = list(zip(*rows)) if batch else rows
        means = [math.fsum(line) / len(line) for line in lines]
        variances = [math.fsum((x - mean) ** 2 for x in line) / len(line) for line, mean in zip(lines, means)]
        if batch and not self.training:
            means, variances = (self.weight(layer, f"norm.running_{name}") for name in ("mean", "var"))
        white = [[(x - mean) / math.sqrt(variance + 1e-5) for x in line]
                 for line, mean, variance in zip(lines, means, variances, strict=True)]
        weight, bias = self.weight(layer, "norm.weight"), self.weight(layer, "norm.bias")
        return [[x * w + b for x, w, b in zip(row, weight, bias, strict=True)]
                for row in (zip(*white) if batch else white)]

    def before_layers(self):
        rows, pre = self.features, self.network.get("pre") or []
        for k in range(len(pre)):
            rows = self.biased(1, f"input.{k}.bias", self.linear(1, f"input.{k}.weight", rows))
            if k + 1 < len(pre) or self.network.get("pre_activation"):
                rows = [self.activate(row) for row in rows]
        return rows

    def behind_layers(self, rows):
        """Applies one linear map, or several, to the output of the last layer."""
        if self.network.get("jk"):
            return self.biased(self.layers, "jk.bias", self.linear(self.layers, "jk.weight", rows))
        for k in range(len(self.network["post"]) + 1):
            if k > 0:
                rows = [self.activate(row) for row in rows]
            rows = self.biased(self.layers, f"output.{k}.bias", self.linear(self.layers, f"output.{k}.weight", rows))
        return rows

    def outputs(self):
        """The outputs of each layer for every vertex; those of the last layer are the logits."""
        model = self.network["model"]
        if model in ("agnn", "sign"):
            return getattr(self, model)()
        jumps = self.network.get("jk") == "concat"
        headed = self.network.get("jk") or self.network.get("post")
        rows, made, sums = self.before_layers(), [], None
        for layer in range(1, self.layers + 1):
            value = getattr(self, model)(layer, rows)
            added = sums if self.network.get("residual") == "sums" else rows
            if self.network.get("residual") and added:
                same = self.network["residual"] != "linear" and len(added[0]) == len(value[0])
                kept = added if same else self.linear(layer, "residual.weight", added)
                value = [plus(a, b) for a, b in zip(value, kept, strict=True)]
            ends = layer == self.layers and not headed
            after = self.network.get("norm") and self.network.get("norm_after", "sum")
            if model not in ("appnp", "gcnii") and (ends or after != "sum" or self.network["norm"] != "batch"):
                value = self.biased(layer, "mlp.1.bias" if model == "gin" else "bias", value)
            sums = value
            if not ends:
                value = self.normalised(layer, value) if after == "sum" else value
                value = [self.activate(row) for row in value]
                value = self.normalised(layer, value) if after in ("activation", "dropout") else value
            made.append(value)
            rows = value
        if jumps:
            parts = [self.linear(layer, "jk.weight", rows) for layer, rows in enumerate(made, 1)]
            made.append(self.biased(self.layers, "jk.bias", [plus(*rows) for rows in zip(*parts, strict=True)]))
        elif headed:
            made[-1] = self.behind_layers(made[-1])
        return made

    def loss(self):
        """The mean cross-entropy over the training vertices."""
        self.training = True
        return mean_loss(self.outputs()[-1], self.graph)


def has_several(graph):
    return isinstance(graph.labels[0], list)


def mean_loss(logits, graph):
    def of_class(v):
        largest = max(logits[v])
        total = math.fsum(math.exp(z - largest) for z in logits[v])
        return math.log(total) + largest - logits[v][graph.labels[v]]

    def of_label(z, y):
        return max(z, 0.0) - z * y + math.log1p(math.exp(-abs(z)))

    training = graph.split["train"]
    if not has_several(graph):
        return math.fsum(map(of_class, training)) / len(training)
    losses = [of_label(z, y) for v in training for z, y in zip(logits[v], graph.labels[v], strict=True)
              if y is not None]
    return math.fsum(losses) / len(losses)


def accuracies(logits, graph):
    """The accuracy of each set, over those of its vertices that have a label; None where none has."""
    result = {}
    for name, vertices in graph.split.items():
        judged = [v for v in vertices if graph.labels[v] is not None]
        right = sum(max(range(len(logits[v])), key=logits[v].__getitem__) == graph.labels[v] for v in judged)
        result[name] = right / len(judged) if judged else None
    return result


def f1_of(judged):
    """Returns F1 of logits and labels that are known: 2 TP / (2 TP + FP + FN)."""
    right = sum(z > 0 and y == 1 for z, y in judged)
    wrong = sum((z > 0) != (y == 1) for z, y in judged)
    return 2 * right / (2 * right + wrong) if right + wrong else 1.0


def rocauc_of(columns):
    """The mean over columns that have both kinds of the share of pairs whose logits are in order, ties half."""
    areas = []
    for judged in columns:
        there, absent = ([z for z, y in judged if y == kind] for kind in (1, 0))
        if there and absent:
            pairs = sum((a > b) + (a == b) / 2 for a in there for b in absent)
            areas.append(pairs / (len(there) * len(absent)))
    return math.fsum(areas) / len(areas) if areas else None


def scores(logits, graph):
    """Returns the scores of each set, by their keys in reports; None where there is none."""
    if not has_several(graph):
        return {f"{name}_accuracy": value for name, value in accuracies(logits, graph).items()}
    result = {}
    for name, vertices in graph.split.items():
        columns = [[(logits[v][j], graph.labels[v][j]) for v in vertices if graph.labels[v][j] is not None]
                   for j in range(len(logits[0]))]
        judged = [pair for column in columns for pair in column]
        result[f"{name}_f1"] = f1_of(judged) if judged else None
        result[f"{name}_rocauc"] = rocauc_of(columns)
    return result
