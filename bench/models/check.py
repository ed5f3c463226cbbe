#!/usr/bin/env python3
"""GCN, GraphSAGE, GIN, GAT, AGNN, SGC, APPNP and GCNII of gnnrun beside those of PyTorch Geometric and DGL.

    bench/models/check.py agreement --build build/release --data DIR/cora.npz   # logits and three training steps
    bench/models/check.py accuracy --build build/release --data DIR/cora.npz    # ten seeds
    bench/models/check.py attention --build build/release --data DIR/cora.npz   # GAT as its authors train it, 20 seeds
    bench/models/check.py speed --build build/release                           # epochs, taking turns

Agreement: gnnrun trains 20 epochs and writes weights and embeddings; a framework's convolutions with these weights must
give the same logits, and three steps from them the same weights, to 1e-4 of the largest. Accuracy: the same
hyper-parameters, Glorot weights in both, the last epoch's test accuracy; the means must lie within 0.7 points. SGC and
APPNP are trained as programs of PyTorch Geometric train them, with decay on all parameters, and so is GCNII, but for 16
layers and one decay. Attention: dropout 0.6 on
features and attention, learning rate 0.005, decay 5e-4 on all, patience 100; the mean must be at least 82.3 % and lie
within 0.6 points. Speed: two threads, epochs without dropout. The frameworks are installed under --cache at the first
call (bench/epoch/README.md).
Exit status 0 when all bars are met, 1 when one is missed, 2 when something did not run.
"""
import argparse, dataclasses, json, pathlib, statistics, subprocess, sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/epoch"))

import peer_environments as environments
from peer_entrants import surroundings
from peer_environments import NotAvailable, call

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENTS = {"pyg": environments.PYPI, "dgl": environments.DGL}
MODELS = ["sage:mean", "sage:sum", "sage:max", "sage:pool", "sage:gcn", "gin", "gat:4x1", "agnn", "sgc:2",
          "appnp:10x0.1", "gcnii:0.1x0.5", "gcn+layer", "gcn+batch", "sage:mean+batch"]
PROBLEMS = {"arxiv": (170_000, 2_490_000, "128,256,40"), "mid": (233_000, 23_000_000, "602,128,41"),
            "arxiv-3": (170_000, 2_490_000, "128,256,256,40"), "arxiv-128": (170_000, 2_490_000, "128,128,40")}


@dataclasses.dataclass(frozen=True)
class Training:
    """How accuracy() trains a model; weights decay in the first layer's matrices, or all parameters do."""

    layers: int = 2
    hidden: int = 16
    dropout: float = 0.5
    epochs: int = 200
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    decay: str = "first"
    row_normalised: bool = False


# As in examples/sgc.py and benchmark/citation/appnp.py of PyTorch Geometric, but for the last epoch's accuracy.
TRAININGS = {
    "sgc": Training(layers=1, dropout=0, epochs=100, learning_rate=0.2, weight_decay=0.005, decay="all"),
    "appnp": Training(hidden=64, decay="all", row_normalised=True),
    "gcnii": Training(layers=16, hidden=64, dropout=0.6, epochs=300, decay="all", row_normalised=True),
}


class Ours:
    def __init__(self, build, cache):
        self.bin, self.cache = build.resolve() / "bin", cache

    def plan(self, model, graph, widths, *flags):
        model, _, norm = model.partition("+")
        name, _, aggregator = model.partition(":")
        path = self.cache / "plan.json"
        chosen = ["--aggregator", aggregator] if aggregator else []
        if name == "gat":
            heads, output = aggregator.split("x")
            chosen = ["--heads", heads, "--output-heads", output]
        if name == "gcnii":
            teleport, theta = aggregator.split("x")
            chosen = ["--teleport", teleport, "--theta", theta]
        if name in ("sgc", "appnp"):
            hops, _, teleport = aggregator.partition("x")
            chosen = ["--hops", hops, *(["--teleport", teleport] if teleport else [])]
        if norm:
            chosen = [*chosen, "--norm", norm]
        call([self.bin / "gnnplan", "plan", "--graph", graph, "--ranks", 1, "--model", name, *chosen, *widths, *flags, "-o",
              path], 600, env=surroundings(2))
        return path

    def run(self, plan, graph, *flags):
        return json.loads(call([self.bin / "gnnrun", plan, "--data", graph, "--threads", 2, "--json", "--quiet", *flags],
                               3600, env=surroundings(2)))


def peer(options, framework, mode, model, data, *flags):
    python = environments.python_of(ENVIRONMENTS[framework], options.cache)
    return json.loads(call([python, HERE / "peer_models.py", framework, mode, model, data, *flags], 7200,
                           env=surroundings(2)).splitlines()[-1])


def agreement(options):
    ours, met = Ours(options.build, options.cache), True
    print("| model | framework | logits | weights after 3 steps |\n|---|---|---|---|")
    for model in options.models:
        plan = ours.plan(model, options.data, ["--hidden", 16, "--layers", 2], "--bias", "--dropout", 0)
        weights, logits, after = (options.cache / name for name in ("w.safetensors", "logits.npy", "w3.safetensors"))
        ours.run(plan, options.data, "--epochs", 20, "--autotune", 0, "--save-weights", weights, "--save-embeddings", logits)
        steps = ours.plan(model, options.data, ["--hidden", 16, "--layers", 2], "--bias", "--dropout", 0, "--optimizer", "sgd",
                          "--momentum", 0.9)
        ours.run(steps, options.data, "--epochs", 3, "--autotune", 0, "--lr", 0.1, "--weight-decay", 0, "--load-weights",
                 weights, "--save-weights", after)
        for framework in options.frameworks:
            given = ["--bias", "--weights", weights, "--against"]
            try:
                of_logits = peer(options, framework, "logits", model, options.data, *given, logits)["difference"]
                of_weights = peer(options, framework, "steps", model, options.data, *given, after, "--learning-rate",
                                  0.1)["difference"]
            except NotAvailable as why:
                print(f"| {model} | {framework} | {why} | |")
                met = False
                continue
            # DGL's maxima give their gradient to one of those that are equally large.
            ties = framework == "dgl" and model in ("sage:max", "sage:pool")
            met = met and of_logits <= 1e-4 and (ties or of_weights <= 1e-4)
            print(f"| {model} | {framework} | {of_logits:.1e} | {of_weights:.1e}{' (ties)' if ties else ''} |", flush=True)
    return met


def accuracy(options):
    ours, met = Ours(options.build, options.cache), True
    print("| model | gnnrun, mean ± deviation | PyTorch Geometric | difference |\n|---|---|---|---|")
    for model in options.models:
        training = TRAININGS.get(model.partition(":")[0], Training())
        data = row_normalised(options) if training.row_normalised else options.data
        widths = ["--hidden", training.hidden, "--layers", training.layers]
        epochs = ["--epochs", training.epochs, "--weight-decay", training.weight_decay]
        plan = ours.plan(model, data, widths, "--bias", "--dropout", training.dropout)
        found = [100 * ours.run(plan, data, *epochs, "--lr", training.learning_rate, "--decay", training.decay,
                                "--autotune", 0, "--seed", seed + 1, "--eval-every",
                                training.epochs)["epochs"][-1]["test_accuracy"] for seed in range(options.seeds)]
        theirs = [100 * value for value in
                  peer(options, "pyg", "accuracy", model, data, "--bias", *widths, *epochs, "--learning-rate",
                       training.learning_rate, *(["--decay-all"] if training.decay == "all" else []), "--dropout",
                       training.dropout, "--seeds", options.seeds)["accuracies"]]
        apart = statistics.mean(found) - statistics.mean(theirs)
        met = met and abs(apart) <= 0.7
        shown = [f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f} %" for values in (found, theirs)]
        print(f"| {model} | {shown[0]} | {shown[1]} | {apart:+.2f} |", flush=True)
    return met


def row_normalised(options):
    """Features divided by the sum of their row, as the authors have them."""
    path = options.cache / "normalised.npz"
    divide = ("import numpy, sys; data = dict(numpy.load(sys.argv[1])); x = data['x']; "
              "data['x'] = (x / numpy.maximum(x.sum(1, keepdims=True), 1)).astype(numpy.float32); "
              "numpy.savez(sys.argv[2], **data)")
    call([environments.python_of(environments.PYPI, options.cache), "-c", divide, options.data, path], 600)
    return path


def attention(options):
    ours, met = Ours(options.build, options.cache), True
    data = row_normalised(options)
    print("| model | gnnrun, mean ± deviation | PyTorch Geometric | difference |\n|---|---|---|---|")
    for model in options.models:
        plan = ours.plan(model, data, ["--hidden", 64, "--layers", 2], "--bias", "--dropout", 0.6, "--attention-dropout", 0.6)
        reports = [ours.run(plan, data, "--epochs", 1000, "--autotune", 0, "--seed", seed + 1, "--lr", 0.005,
                            "--weight-decay", 5e-4, "--decay-all", "--eval-every", 1, "--patience", 100, "--keep-best")
                   for seed in range(options.seeds)]
        found = [100 * epoch["test_accuracy"] for report in reports for epoch in report["epochs"]
                 if epoch["epoch"] == report["best_epoch"]]
        theirs = [100 * value for value in
                  peer(options, "pyg", "attention", model, data, "--bias", "--hidden", 64, "--seeds",
                       options.seeds)["accuracies"]]
        apart = statistics.mean(found) - statistics.mean(theirs)
        met = met and abs(apart) <= 0.6 and statistics.mean(found) >= 82.3
        shown = [f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f} %" for values in (found, theirs)]
        print(f"| {model} | {shown[0]} | {shown[1]} | {apart:+.2f} |", flush=True)
    return met


def speed(options):
    ours, met = Ours(options.build, options.cache), True
    print("| problem | model | gnnrun, plain order | gnnrun, own plan | PyG, CSR | DGL |\n|---|---|---|---|---|---|")
    for name in options.problems:
        vertices, nonzeros, widths = PROBLEMS[name]
        features, *_, classes = widths.split(",")
        graph = options.cache / f"models-{name}.npz"
        if not graph.exists():
            call([ours.bin / "gnnplan", "graph", "generate", "rmat", "--vertices", vertices, "--nonzeros", nonzeros,
                  "--features", features, "--classes", classes, "-o", graph], 3600, env=surroundings(2))
        for model in options.models:
            # As SAGEConv and GINConv of PyTorch Geometric and autograd multiply; attention has one order.
            hidden = len(widths.split(",")) - 2
            plain = ["--forward", "S" * (hidden + 1), "--backward", "D" * hidden + "-"]
            plain = [] if model.startswith(("gat", "agnn")) else plain
            plans = {"plain": [*plain, "--loss-rows", "off"], "own": []}
            seconds = {column: [] for column in ("plain", "own", "pyg", "dgl")}
            for _ in range(options.rounds):
                for column, flags in plans.items():
                    plan = ours.plan(model, graph, ["--widths", widths], "--dropout", 0, *flags)
                    report = ours.run(plan, graph, "--epochs", 6, "--autotune", 0, "--eval-every", 0)
                    seconds[column] += [epoch["seconds"] for epoch in report["epochs"][2:]]
                for framework in options.frameworks:
                    try:
                        found = peer(options, framework, "speed", model, graph, "--widths", widths, "--epochs", 6)
                        seconds[framework] += found["seconds"][2:]
                    except NotAvailable as why:
                        print(f"{framework}: {why}", file=sys.stderr)
            middle = {column: statistics.median(values) if values else float("nan") for column, values in seconds.items()}
            cells = [f"{1000 * middle['plain']:.0f} ms", f"{1000 * middle['own']:.0f} ms"]
            for framework in ("pyg", "dgl"):
                cells.append(f"{1000 * middle[framework]:.0f} ms ({middle[framework] / middle['plain']:.1f}x, "
                             f"{middle[framework] / middle['own']:.1f}x)")
            print(f"| {name} | {model} | {' | '.join(cells)} |", flush=True)
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: text.split(",")
    parser.add_argument("what", choices=["agreement", "accuracy", "attention", "speed"])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder of the build")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/peers", help="environments and graphs")
    parser.add_argument("--data", type=pathlib.Path, help="Cora as an .npz")
    parser.add_argument("--models", type=names, help=f"of {','.join(MODELS)}")
    parser.add_argument("--frameworks", type=names, default=list(ENVIRONMENTS), help="of pyg,dgl")
    parser.add_argument("--problems", type=names, default=["arxiv", "mid"], help=f"of {','.join(PROBLEMS)}")
    parser.add_argument("--seeds", type=int, help="default: 10, of attention 20")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    defaults = {"agreement": MODELS, "accuracy": ["sage:mean", "gin", "sgc:2", "appnp:10x0.1"],
                "attention": ["gat:8x1"], "speed": ["sage:mean", "sage:max"]}
    options.seeds = options.seeds or (20 if options.what == "attention" else 10)
    options.models = options.models or defaults[options.what]
    if options.what != "speed" and options.data is None:
        parser.error("--data is missing")
    try:
        return 0 if {"agreement": agreement, "accuracy": accuracy, "attention": attention, "speed": speed}[options.what](options) else 1
    except (NotAvailable, subprocess.SubprocessError) as why:
        print(f"check.py: {why}", file=sys.stderr)
        return 2


sys.exit(main())
