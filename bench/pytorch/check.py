#!/usr/bin/env python3
"""Does what `gnnplan explain --pytorch` prints run in PyTorch, and train and infer as gnnrun does?

    check.py GNNPLAN GNNRUN [NAME ...]

Makes graphs and plans of all models with different options. Each plan is trained by gnnrun and by its program, from the
same weights, which the program has saved; the losses of all epochs are compared, and the logits that both make of the
weights that gnnrun ends with, those of a plan of inference included. Then the scripts are run: forms of data, options,
files of weights and embeddings. NAME: only the cases whose names have it. Exit status 77 where there is no PyTorch.
"""
import contextlib, gzip, io, json, pathlib, subprocess, sys, tempfile, types, warnings

try:
    import numpy, torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

EPOCHS = 8
TOLERANCE = 1e-5  # of losses, and of logits relative to the largest: float32, and sums in different orders
PLANTED = "graph generate planted --vertices 300 --nonzeros 3000 --features 24 --classes 5 --seed 3".split()
CASES = {  # graph, flags of the model and graph, flags of training
    "gcn, chosen": ("plain", "", ""),
    "gcn, two ranks": ("plain", "", "--ranks 2"),
    "gcn, 1.5d on four ranks": ("plain", "", "--ranks 4 --scheme 1.5d"),
    "gcn, rows that the loss needs": ("plain", "", "--loss-rows on"),
    "gcn, all rows": ("plain", "", "--loss-rows off"),
    "gcn, A @ X made once": ("plain", "", "--forward SS"),
    "gcn, autograd's orders": ("plain", "", "--forward DD --backward S-"),
    "gcn, not autograd's, S": ("plain", "", "--forward SS --backward S-"),
    "gcn, not autograd's, D": ("plain", "", "--forward DD --backward D-"),
    "gcn, paper space": ("plain", "", "--space paper --forward SD --backward SS"),
    "gcn, four layers": ("plain", "--layers 4", ""),
    "gcn, biases": ("plain", "--bias", ""),
    "gcn, residual, elu": ("plain", "--bias --residual --activation elu --layers 3", ""),
    "gcn, jk, leaky_relu": ("plain", "--bias --jk concat --activation leaky_relu --layers 3", ""),
    "gcn, jk, residual, rows of the loss": ("plain", "--jk concat --residual --layers 3", "--loss-rows on"),
    "gcn, jk last, biases": ("plain", "--bias --jk last --layers 3", ""),
    "gcn, maps before and behind, biases": ("plain", "--bias --pre 9,7 --post 11 --layers 3", ""),
    "gcn, maps before and behind, rows of the loss":
        ("directed", "--pre 9 --pre-activation --post 5,4 --residual linear", "--loss-rows on"),
    "gcn, maps before, not autograd's": ("plain", "--pre 9", "--forward SS --backward DD"),
    "gcn, layer norm, biases": ("plain", "--bias --norm layer --residual linear --jk last --layers 3", ""),
    "gcn, layer norm behind the activation": ("plain", "--norm layer --norm-after activation", "--loss-rows on"),
    "gcn, sums, batch norm": ("plain", "--layers 4 --norm batch --residual sums --jk last", ""),
    "gcn, sums, elu": ("plain", "--layers 3 --bias --activation elu --residual sums", "--loss-rows on"),
    "sage mean, sums, layer norm":
        ("directed", "--model sage --bias --layers 3 --pre 16 --norm layer --residual sums --post 8", ""),
    "gat, sums, layer norm": ("plain", "--model gat --heads 2 --bias --norm layer --residual sums --layers 3", ""),
    "gat, sums, layer norm, three ranks, layers made again":
        ("plain", "--model gat --heads 2 --bias --norm layer --residual sums --layers 3",
         "--ranks 3 --grid 1x3 --recompute 1"),
    "gcn, batch norm, biases": ("plain", "--bias --norm batch --residual linear --layers 3", ""),
    "gcn, batch norm, rows of the loss": ("directed", "--norm batch --layers 3 --bias", "--loss-rows on"),
    "gcn, batch norm behind the activation, jk":
        ("plain", "--norm batch --norm-after activation --bias --jk concat", "--loss-rows on"),
    "gcn, directed": ("directed", "", ""),
    "gcn, directed, not autograd's": ("directed", "", "--forward SS --backward S-"),
    "gcn, symmetrised": ("directed", "--symmetrise", ""),
    "gcn, row means, directed": ("directed", "--normalisation row_mean", "--loss-rows on"),
    "gcn, not normalised": ("plain", "--normalisation none", ""),
    "gcn, weights of edges": ("directed", "--edge-weights", "--loss-rows on"),
    "gcn, weights of edges, symmetrised": ("directed", "--edge-weights --symmetrise", ""),
    "gcn, row means, weights of edges": ("directed", "--edge-weights --normalisation row_mean", ""),
    "gcn, sgd": ("plain", "", "--optimizer sgd --momentum 0.9"),
    "sage mean": ("directed", "--model sage", ""),
    "sage mean, biases, residual": ("directed", "--model sage --bias --residual", "--loss-rows on"),
    "sage mean, not autograd's": ("plain", "--model sage", "--forward SS --backward S-"),
    "sage mean, weights of edges": ("directed", "--model sage --edge-weights", ""),
    "sage mean, symmetric": ("plain", "--model sage --normalisation symmetric", ""),
    "sage sum": ("directed", "--model sage --aggregator sum", ""),
    "sage max": ("directed", "--model sage --aggregator max", ""),
    "sage max, rows of the loss, jk":
        ("directed", "--model sage --aggregator max --jk concat --layers 3", "--loss-rows on"),
    "sage pool": ("plain", "--model sage --aggregator pool --bias", ""),
    "sage pool, elu, rows of the loss":
        ("directed", "--model sage --aggregator pool --activation elu", "--loss-rows on"),
    "sage pool, maps before, residual":
        ("directed", "--model sage --aggregator pool --pre 6,6 --residual linear --bias", ""),
    "sage mean, layer norm behind dropout, two ranks":
        ("directed", "--model sage --norm layer --norm-after dropout --ranks 2 --post 6 --bias", ""),
    "sage gcn": ("directed", "--model sage --aggregator gcn --bias --jk concat", ""),
    "sage mean, jk last, rows of the loss": ("directed", "--model sage --jk last --residual", "--loss-rows on"),
    "gin": ("directed", "--model gin --bias", ""),
    "gin, epsilon 0.5": ("directed", "--model gin --epsilon 0.5", "--loss-rows on"),
    "gin, epsilon trained": ("directed", "--model gin --epsilon train --bias", ""),
    "gin, epsilon trained, S": ("plain", "--model gin --epsilon train", "--forward SS --loss-rows on"),
    "gin, epsilon trained, D": ("plain", "--model gin --epsilon train", "--forward DD --loss-rows on"),
    "gin, epsilon trained, not autograd's": ("plain", "--model gin --epsilon train", "--forward SS --backward S-"),
    "gin, symmetric, weights of edges": ("directed", "--model gin --normalisation symmetric --edge-weights", ""),
    "gin, residual": ("plain", "--model gin --residual --activation elu --epsilon 0.1", ""),
    "gat": ("directed", "--model gat --bias", ""),
    "gat, heads": ("directed", "--model gat --heads 4 --output-heads 2 --slope 0.1", ""),
    "gat, averaged heads": ("plain", "--model gat --heads 3 --average-heads --activation relu", "--loss-rows on"),
    "gat, residual, jk": ("plain", "--model gat --heads 2 --residual --jk concat --layers 3 --bias", ""),
    "gat, maps before and behind": ("plain", "--model gat --heads 2 --pre 8 --post 6 --bias", "--loss-rows on"),
    "gat, two ranks": ("plain", "--model gat --heads 2 --residual", "--ranks 2 --loss-rows on"),
    "gcn, several labels, rows of the loss": ("labels", "--bias --rocauc", "--loss-rows on"),
    "gcn, several labels, four ranks": ("labels", "--rocauc --ranks 4 --layers 3", ""),
    "sage mean, labels not all known, jk": ("masked", "--model sage --jk concat --bias --rocauc", ""),
    "gcn, two classes": ("two classes", "--bias --rocauc", "--loss-rows on"),
    "gat, labels not all known": ("masked", "--model gat --heads 2", "--loss-rows on"),
    "agnn": ("directed", "--model agnn --bias", ""),
    "sgc": ("directed", "--model sgc --bias", ""),
    "sgc, rows of the loss": ("directed", "--model sgc --hops 3", "--loss-rows on"),
    "sgc, two layers, not autograd's": ("directed", "--model sgc --layers 2", "--forward SS --backward S- --loss-rows on"),
    "sign": ("directed", "--model sign --bias --hops 3", ""),
    "sign, rows of the loss": ("directed", "--model sign --hops 2 --layers 3", "--loss-rows on"),
    "sign, features drop": ("plain", "--model sign --hops 1", "--ranks 2"),
    "appnp": ("directed", "--model appnp --bias", ""),
    "appnp, no biases, rows of the loss": ("directed", "--model appnp --hops 3", "--loss-rows on"),
    "appnp, not autograd's": ("plain", "--model appnp --teleport 0.3 --hops 4", "--forward S --backward S --loss-rows on"),
    "appnp, one layer kept, two ranks": ("plain", "--model appnp --layers 1 --hops 2", "--forward S --ranks 2"),
    "appnp, biases, rows of the loss, four ranks":
        ("directed", "--model appnp --layers 3 --hops 2 --bias", "--loss-rows on --ranks 4"),
    "gcnii": ("directed", "--model gcnii --layers 4 --bias", ""),
    "gcnii, rows of the loss, elu, two ranks":
        ("directed", "--model gcnii --layers 3 --activation elu --theta 1.5", "--loss-rows on --ranks 2"),
    "gcnii, batch norm, maps behind":
        ("plain", "--model gcnii --layers 3 --teleport 0.3 --norm batch --post 6 --bias", ""),
    "gcnii, without the first, not autograd's":
        ("plain", "--model gcnii --teleport 0 --layers 2", "--forward SS --backward SS"),
    "agnn, elu, three layers": ("plain", "--model agnn --activation elu --layers 3", "--loss-rows on"),
}

# Some cases run with gnnrun's flags of training, which the programs have by the same names.
RUNS = {
    "gcn, biases": {"decay": "all", "lr-schedule": "step:2:0.5"},
    "gcn, four layers": {"decay": "weights", "lr-schedule": "warmup:4", "weight-decay": 0.05},
    "sage mean, biases, residual": {"decay": "weight=0.05,1.neighbour.weight=0,bias=0.1", "lr-schedule": "cosine:6"},
    "gin, epsilon trained": {"decay": "all", "lr-schedule": "plateau:0.5:0", "lr": 0.1},
    "gin, epsilon trained, S": {"decay": "weights", "weight-decay": 0.05},
    "gat, residual, jk": {"decay": "weights", "weight-decay": 0.05},
}


def call(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def make_graphs(gnnplan, folder):
    """An undirected graph, and a directed one with weights of edges and a vertex that has no edges; both with several
    labels a vertex, of which the second does not know all; and the first with two classes."""
    graphs = {name: folder / f"{name}.npz" for name in ("plain", "directed", "labels", "masked", "two classes")}
    call(gnnplan, *PLANTED, "-o", graphs["plain"])
    arrays = dict(numpy.load(graphs["plain"]))
    random = numpy.random.default_rng(7)
    edges = arrays["edge_index"]
    edges = edges[:, (random.random(edges.shape[1]) < 0.6) & (edges != 17).all(0)]
    edges = numpy.concatenate([edges, edges[:, :20], [[5, 6], [5, 6]]], axis=1)  # listed twice, and self loops
    weights = random.uniform(0.2, 2, edges.shape[1]).astype(numpy.float32)
    numpy.savez(graphs["directed"], **{**arrays, "edge_index": edges, "edge_weight": weights})
    numpy.savez(graphs["two classes"], **{**arrays, "y": arrays["y"] % 2})
    labels = (arrays["x"] @ random.standard_normal((arrays["x"].shape[1], 9)) > 0.5).astype(numpy.float32)
    numpy.savez(graphs["labels"], **{**arrays, "y": labels})
    labels[random.random(labels.shape) < 0.3] = numpy.nan
    numpy.savez(graphs["masked"], **{**arrays, "edge_index": edges, "y": labels})
    return graphs


def module_of(source):
    module = types.ModuleType("program")
    exec(compile(source, "the printed program", "exec"), module.__dict__)
    return module


def program_of(gnnplan, plan):
    source = call(gnnplan, "explain", "--pytorch", plan)
    wide = max(map(len, source.splitlines()))
    if wide > 100:
        raise RuntimeError(f"the program is {wide} columns wide")
    return module_of(source)


def difference(ours, theirs):
    return float(numpy.abs(ours - theirs).max() / numpy.abs(ours).max())


def check_scores(program, data, logits, epoch):
    """The scores that gnnrun's last evaluation found are those of its logits."""
    several = data.y.dim() == 2
    for score in ("f1" if several else "accuracy", "rocauc"):
        for name, rows in data.subsets.items():
            if f"{name}_{score}" in epoch:
                ours, theirs = epoch[f"{name}_{score}"], getattr(program, score)(logits[rows], data.y[rows])
                assert abs(ours - theirs) < 1e-12, (name, score, ours, theirs)
    assert ("valid_f1" in epoch) == several and ("valid_rocauc" in epoch) == program.ROCAUC, epoch


def compare(tools, folder, graph, of_model, of_training, of_run):
    """The largest differences of losses, of logits after training, and of an inference."""
    gnnplan, gnnrun = tools
    plan, report, start, end, logits = (folder / name for name in ("plan.json", "run.json", "start.safetensors",
                                                                   "end.safetensors", "logits.npy"))
    asked = ["plan", "--graph", graph, "--hidden", 16, "--machine", "cpu-node", *of_model]
    run = ["--data", graph, "--in-process", "--threads", 1, "-q"]
    call(gnnplan, *asked, *of_training, "-o", plan)
    program = program_of(gnnplan, plan)
    torch.manual_seed(1)
    model, data = program.Model(), program.read(str(graph), "cpu")
    model.save(start)
    told = [word for name, value in of_run.items() for word in ("--" + name, value)]
    call(gnnrun, plan, *run, *told, "--epochs", EPOCHS, "--autotune", 0, "--eval-every", EPOCHS, "--load-weights", start,
         "--report", report, "--save-weights", end, "--save-embeddings", logits)
    epochs = json.loads(report.read_text())["epochs"]
    ours = numpy.array([epoch["loss"] for epoch in epochs])
    arguments = {name.replace("lr-schedule", "schedule").replace("-", "_"): value for name, value in of_run.items()}
    theirs = numpy.array(list(program.train(model, data, EPOCHS, **arguments)))
    assert len(ours) == len(theirs) == EPOCHS
    model.load(end)
    found = [float((numpy.abs(ours - theirs) / numpy.abs(ours)).max()),
             difference(numpy.load(logits), program.logits_of(model, data).numpy())]
    check_scores(program, data, torch.from_numpy(numpy.load(logits)), epochs[-1])

    call(gnnplan, *(flag for flag in asked if flag != "--rocauc"), "--task", "infer", "-o", plan)
    program = program_of(gnnplan, plan)
    model = program.Model()
    model.load(end)
    call(gnnrun, plan, *run, "--load-weights", end, "--save-embeddings", logits)
    data = program.read(str(graph), "cpu", trains=False)
    return ours, [*found, difference(numpy.load(logits), program.logits_of(model, data).numpy())]


def run_script(program, *arguments):
    """The output of the script, and its exit status."""
    out, sys.argv = io.StringIO(), ["program", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            program.run(program.main)
    except SystemExit as end:
        return f"{out.getvalue()}{end.code if isinstance(end.code, str) else ''}", end.code
    return out.getvalue(), 0


def check_forms(tools, folder, graphs):
    """The same graph as edge lists, an OGB folder and a SciPy archive has the same matrix."""
    gnnplan, plan = tools[0], folder / "plan.json"
    with numpy.load(graphs["directed"]) as file:
        (source, target), weight = file["edge_index"], file["edge_weight"]
    listed = list(zip(source.tolist(), target.tolist(), map(repr, weight.tolist())))
    texts = {"edges.txt": "# a comment\n" + "".join(f"{u} {v} {w}\n" for u, v, w in listed),
             "edges.csv": "weight,target,source\n" + "".join(f"{w},{v},{u}\n" for u, v, w in listed),
             "edges.tsv.gz": "# target\tsource\tweight\n" + "".join(f"{v}\t{u}\t{w}\n" for u, v, w in listed)}
    for name, text in texts.items():
        (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    asked = ["plan", "--hidden", 16, "--machine", "cpu-node", "--edge-weights", "-o", plan, "--graph"]
    call(gnnplan, *asked, graphs["directed"])
    program = program_of(gnnplan, plan)
    wanted = program.adjacency(300, *program.read(str(graphs["directed"]), "cpu").edges)
    numpy.savez(folder / "scipy.npz", row=source, col=target, data=weight, shape=[300, 300], format=numpy.array("coo"))
    for name in (*texts, "scipy.npz"):
        call(gnnplan, *asked, folder / name, "--features", 24, "--classes", 5)
        program = program_of(gnnplan, plan)
        with contextlib.redirect_stderr(io.StringIO()) as note:
            found = program.adjacency(300, *program.read(str(folder / name), "cpu").edges)
        assert "no x, y, split: random ones are made up" in note.getvalue(), note.getvalue()
        for part in ("target", "source", "value"):
            assert torch.equal(getattr(found, part), getattr(wanted, part)), (name, part)
    (folder / "matrix.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    printed, status = run_script(program, folder / "matrix.mtx")
    assert status and "save its edges as edge_index" in printed, printed

    ogb = folder / "ogb"
    call(gnnplan, *PLANTED, "-o", ogb)
    call(gnnplan, *[flag for flag in asked if flag != "--edge-weights"], ogb)
    program = program_of(gnnplan, plan)
    (folder / "binary/raw").mkdir(parents=True)
    with numpy.load(graphs["plain"]) as file:
        numpy.savez(folder / "binary/raw/data.npz", edge_index=file["edge_index"], node_feat=file["x"],
                    num_nodes_list=[300], num_edges_list=[file["edge_index"].shape[1]])
        numpy.savez(folder / "binary/raw/node-label.npz", node_label=file["y"][:, None].astype(numpy.float32))
    other = program.read(str(graphs["plain"]), "cpu")
    for name in ("ogb", "binary"):
        with contextlib.redirect_stderr(io.StringIO()) as note:
            one = program.read(str(folder / name), "cpu")
        assert ("has no split" in note.getvalue()) == (name == "binary"), note.getvalue()
        assert torch.allclose(one.x, other.x) and torch.equal(one.y, other.y) and len(one.subsets["test"]) > 0
        for part in ("target", "source"):
            assert torch.equal(getattr(program.adjacency(300, *one.edges), part),
                               getattr(program.adjacency(300, *other.edges), part)), (name, part)


def check_scripts(tools, folder, graphs):
    """Training and inference by the scripts, with files that gnnrun reads and writes."""
    gnnplan, gnnrun = tools
    plan, weights, logits, ours = (folder / name for name in ("plan.json", "w.safetensors", "logits.npy", "ours.npy"))
    asked = ["plan", "--graph", graphs["plain"], "--hidden", 16, "--machine", "cpu-node", "--model", "gat",
             "--heads", 2, "-o", plan]
    call(gnnplan, *asked, "--dropout", 0.5, "--attention-dropout", 0.3, "--epochs", 60)
    program = program_of(gnnplan, plan)
    printed, status = run_script(program, "--help")
    assert status == 0 and "--save-weights" in printed, printed
    printed, status = run_script(program, graphs["plain"], "--feature-norm", "row", "--save-weights", weights,
                                 "--save-embeddings", logits, "--lr", 0.02, "--seed", 5, "--eval-every", 20)
    assert status == 0 and printed.count("valid") == 3 and "epoch 60" in printed, printed
    call(gnnplan, *asked, "--task", "infer")
    call(gnnrun, plan, "--data", graphs["plain"], "--in-process", "-q", "--feature-norm", "row", "--load-weights",
         weights, "--save-embeddings", ours)
    assert difference(numpy.load(ours), numpy.load(logits)) <= TOLERANCE
    program = program_of(gnnplan, plan)
    printed, status = run_script(program, graphs["plain"], "--feature-norm", "row", "--weights", weights,
                                 "--save-embeddings", logits)
    assert status == 0 and "300 vertices  train" in printed, printed
    assert difference(numpy.load(ours), numpy.load(logits)) <= TOLERANCE
    printed, status = run_script(program, graphs["plain"], "--weights", weights)
    assert status and "--feature-norm is row in it, not none" in printed, printed
    # The part before the script needs no NumPy, and is enough.
    copied = call(gnnplan, "explain", "--pytorch", plan).partition("# The script: ")[0]
    assert "numpy" not in copied.partition("import torch")[2]
    model = module_of(copied).Model()
    assert model.state_dict().keys() == program.read_weights(weights).keys()
    model.load(weights)
    data = program.read(str(graphs["plain"]), "cpu", "row")
    with torch.no_grad():
        assert difference(numpy.load(ours), model(data.x, *data.edges).numpy()) <= TOLERANCE
    try:
        from safetensors.torch import load_file
    except ImportError:
        return
    model.load_state_dict(load_file(weights))


def main(gnnplan, gnnrun, *names):
    warnings.filterwarnings("ignore")  # sparse CSR is in beta
    failed, worst = [], [0, 0, 0]
    print(f"PyTorch {torch.__version__}; largest differences of losses, logits, logits of an inference")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        graphs = make_graphs(gnnplan, folder)
        for case, (graph, of_model, of_training) in CASES.items():
            if names and not any(name in case for name in names):
                continue
            try:
                losses, found = compare((gnnplan, gnnrun), folder, graphs[graph], of_model.split(), of_training.split(),
                                         RUNS.get(case, {}))
            except Exception as why:
                print(f"{case:38} {type(why).__name__}: {why}")
                failed.append(case)
                continue
            worst = [max(pair) for pair in zip(worst, found)]
            if max(found) > TOLERANCE:
                failed.append(case)
            print(f"{case:38} loss {losses[0]:.6f} -> {losses[-1]:.6f}  " + "  ".join(f"{error:.1e}" for error in found)
                  + ("  TOO LARGE" if case in failed else ""), flush=True)
        for check in (check_forms, check_scripts):
            if names and not any(name in check.__name__ for name in names):
                continue
            try:
                check((gnnplan, gnnrun), folder, graphs)
                print(f"{check.__doc__} Yes.")
            except Exception as why:
                print(f"{check.__doc__} {type(why).__name__}: {why}")
                failed.append(check.__name__)
    print(f"largest of all: {', '.join(f'{error:.1e}' for error in worst)}; {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
