"""Draws problems: a graph, a network on it, weights, and how a run is distributed."""

from files import rounded
from graphs import draw_split
from network import Graph, shapes

# Magnitudes of features: most are ordinary, some so small or large that squares leave the range of float32.
MAGNITUDES = [1.0] * 6 + [1e-25, 1e-20, 1e-8, 1e10, 1e20]
SCHEMES = ["", "--scheme rdm", "--scheme 1d", "--scheme 1.5d", "--scheme 2d", "--scheme 3d"]
PINS = ["--exchange rows", "--exchange panels", "--overlap on", "--overlap off", "--permute on", "--values stored",
        "--values factored", "--load whole", "--load sharded", "--buffer 1KiB", "--partition"]
PINS_OF_MODELS = {"agnn": ["--scores columns", "--scores whole-rows", "--scores dealt-rows"],
                  "gat": ["--attention stored", "--attention recompute"]}
PINS_OF_TASKS = {"infer": ["--ring on"], "train": ["--loss-rows on", "--loss-rows off", "--constant-input"]}


def draw_network(draw):
    """The options for gnnplan plan."""
    model = draw.choice(["gcn", "sage", "sage", "gin", "gat", "agnn", "sgc", "appnp", "sign", "gcnii"])
    network = {"model": model, "bias": draw.random() < 0.5, "symmetrise": draw.random() < 0.3,
               "feature_norm": draw.choice(["none", "none", "none", "row"])}
    if draw.random() < 0.7:
        network["activation"] = draw.choice(["relu", "elu", "leaky_relu"])
    if model == "sage":
        network["aggregator"] = draw.choice(["mean", "sum", "max", "pool", "gcn"])
    if model == "gin":
        network["epsilon"] = draw.choice([0.0, 0.0, 1e-9, 0.5, "train"])
    if model == "gat":
        network |= {"heads": draw.choice([1, 2, 4]), "output_heads": draw.choice([1, 3]),
                    "average_heads": draw.random() < 0.3, "slope": draw.choice([0.2, 0.0, 0.5])}
    if model in ("sgc", "appnp", "sign"):
        network["hops"] = draw.choice([1, 2, 3, 5])
    if model == "appnp":
        network["teleport"] = draw.choice([0.1, 0.5, 0.0, 1.0])
    width = draw.choice([4, 8])  # of models whose layers have as many columns
    if model == "gcnii":
        network |= {"teleport": draw.choice([0.1, 0.5, 0.0]), "theta": draw.choice([0.5, 1.5])}
    if model not in ("agnn", "sign"):
        network |= {"residual": draw.choice([None, None, "input", "linear", "sums"]),
                    "jk": draw.choice([None, None, "concat", "last"]),
                    "pre": draw.choice([None, None, [4], [8, 4]])}
        network["post"] = draw.choice([None, [8], [6, 3]]) if network["jk"] is None else None
        # The one layer of appnp, behind maps that --pre draws, keeps its bias under a norm.
        network["norm"] = draw.choice([None, None, "layer", "batch"]) if model != "appnp" else None
        if network["norm"]:
            network["norm_after"] = draw.choice(["sum", "sum", "activation", "dropout"])
        network["pre_activation"] = network["pre"] is not None and draw.random() < 0.4
    if model == "gcnii":
        network |= {"pre": draw.choice([[width], [6, width]]), "pre_activation": True}
        network["jk"] = None if network["post"] else "last"
    if model in ("gcn", "gin", "sgc", "appnp", "sign", "gcnii") or network.get("aggregator") in ("mean", "sum", "gcn"):
        network["normalisation"] = draw.choice([None, None, "symmetric", "row_mean", "none"])
        network["edge_weights"] = draw.random() < 0.4
    hidden = [width] * 2 if model in ("agnn", "gcnii") else [draw.choice([4, 8, 12]), draw.choice([4, 8])]
    if model == "appnp":
        hidden = []
    widths = [draw.choice([3, 6, 9]), *hidden[:draw.choice([1, 1, 2])], draw.choice([2, 3, 5])]
    return network | {"widths": widths}


def draw_graph(draw, network):
    """Few edges or many, loops and repetitions among them; vertices of either end without any."""
    vertices, (features, *_, classes) = draw.randrange(12, 40), network["widths"]
    listed = [(draw.randrange(vertices - 2), draw.randrange(1, vertices - 1),
               draw.randrange(17) / 8 if network.get("edge_weights") else 1.0)
              for _ in range(draw.choice([1, 2, 4]) * vertices)]
    if draw.random() < 0.4:
        listed += [(v, u, w) for u, v, w in listed]
    # Norms square what they normalise.
    magnitudes = [m for m in MAGNITUDES if m < 1e18 or not network.get("norm")]
    magnitude, mixed = draw.choice(magnitudes), draw.random() < 0.2
    rows = []
    for _ in range(vertices):
        scale = draw.choice(magnitudes) if mixed else magnitude
        rows.append([rounded(draw.choice([0.0, 1.0, 1.0]) * scale * draw.uniform(-1, 1)) for _ in range(features)])
    labels = [v % classes for v in range(vertices)]
    split = draw_split(draw, vertices)
    for v in split["valid"] + split["test"]:
        if draw.random() < 0.2:
            labels[v] = None
    labels[split["train"][0]] = classes - 1
    if draw.random() < 0.4:  # several labels for each vertex, all known or not
        unknown = draw.choice([0.0, 0.0, 0.3])
        labels = [[None if draw.random() < unknown else draw.randrange(2) for _ in range(classes)]
                  for _ in range(vertices)]
        labels[split["train"][0]] = [1] * classes
    return Graph(vertices, listed, rows, labels, split, bool(network.get("edge_weights")))


def draw_tensor(shape, number):
    if len(shape) == 1:
        return [number() for _ in range(shape[0])]
    return [[number() for _ in range(shape[1])] for _ in range(shape[0])]


def draw_weights(draw, network):
    def number(name):
        return rounded(draw.uniform(0.5, 2) if name.endswith("running_var") else draw.uniform(-1, 1))

    return {name: draw_tensor(shape, lambda name=name: number(name)) for name, shape in shapes(network).items()}


def flags_of(network):
    """The network as options of gnnplan plan."""
    text = f"--model {network['model']} --widths {','.join(map(str, network['widths']))}"
    for name in ("norm", "norm_after", "aggregator", "epsilon", "activation", "heads", "output_heads", "slope", "jk",
                 "normalisation", "hops", "teleport", "theta"):
        if network.get(name) is not None:
            text += f" --{name.replace('_', '-')} {network[name]}"
    if network.get("residual"):
        text += " --residual" + {"input": ""}.get(network["residual"], f" {network['residual']}")
    for name in ("pre", "post"):
        if network.get(name):
            text += f" --{name} {','.join(map(str, network[name]))}"
    for name in ("bias", "pre_activation", "average_heads", "symmetrise", "edge_weights"):
        if network.get(name):
            text += f" --{name.replace('_', '-')}"
    return text


def draw_pins(draw, network, task):
    """The distribution: a scheme and up to three pinned choices, some of which may not go together."""
    pins = draw.sample(PINS + PINS_OF_MODELS.get(network["model"], []) + PINS_OF_TASKS[task], draw.randrange(4))
    return [draw.choice(SCHEMES), *pins]
