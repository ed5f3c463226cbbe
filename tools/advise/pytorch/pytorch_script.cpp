#include "tools/advise/pytorch/pytorch_source.hpp"

namespace gnnplan::tools {

const char* const pytorch_reading = R"py(

def arrays(path):
    """The arrays of an .npz file, and those of an OGB folder under the same names."""
    folder = pathlib.Path(path)
    if not folder.is_dir():
        with numpy.load(path) as file:
            return renamed(dict(file))

    def table(pattern, kind):
        found = sorted(folder.glob(pattern + ".csv*"))
        return numpy.loadtxt(found[0], kind, delimiter=",", ndmin=2) if found else None

    if (folder / "raw/data.npz").exists():
        found = {}
        for name in ("raw/data.npz", "raw/node-label.npz"):
            if (folder / name).exists():
                found.update(numpy.load(folder / name))
        found = renamed(found)
    else:
        if (folder / "raw/node-feat").is_dir():
            raise ValueError("raw/node-feat: this program reads features that are in the order of "
                             "vertices; sort its lines by their ids into raw/node-feat.csv")
        found = {"edge_index": table("raw/edge", numpy.int64).T,
                 "num_nodes": table("raw/num-node-list", numpy.int64),
                 "edge_weight": table("raw/edge-feat", numpy.float32) if WEIGHTED else None,
                 "x": table("raw/node-feat", numpy.float32),
                 "y": table("raw/node-label", numpy.float64)}
    for subset in ("train", "valid", "test"):
        found[subset + "_idx"] = table(f"split/{SPLIT or '*'}/{subset}", numpy.int64)
    return {name: values for name, values in found.items() if values is not None}


def renamed(found):
    """OGB's names of arrays, and SciPy's, as PyTorch Geometric has them."""
    if "indptr" in found:
        found["row"] = numpy.repeat(numpy.arange(len(found["indptr"]) - 1),
                                    numpy.diff(found.pop("indptr")))
        found["col"] = found.pop("indices")
    if "row" in found and "col" in found:
        found["edge_index"] = numpy.stack([found.pop("row"), found.pop("col")])
        found["num_nodes"] = found.pop("shape")[0]
        found["edge_weight"] = found.pop("data")
        found.pop("format", None)
    for name, ogb in {"x": "node_feat", "x_ids": "node_feat_ids", "y": "node_label",
                      "num_nodes": "num_nodes_list", "edge_weight": "edge_feat",
                      "valid_idx": "val_idx", "valid_mask": "val_mask"}.items():
        if ogb in found:
            found.setdefault(name, found.pop(ogb))
    if "x" in found and "x_ids" in found:
        found["x"] = found["x"][numpy.argsort(found.pop("x_ids"))]
    known = {"edge_index", "edge_weight", "num_nodes", "num_edges_list", "x", "y"}
    known |= {f"{s}_{kind}" for s in ("train", "valid", "test") for kind in ("idx", "mask")}
    others = set(found) - known
    if others and not {"x", "y"} <= set(found):
        raise ValueError("x and y are not made up where they may have other names: "
                         + ", ".join(sorted(others)))
    return found


def subsets_of(found, n):
    """The vertices of each subset, sorted; none where the data has no split."""
    subsets = {}
    for name in ("train", "valid", "test"):
        if name + "_idx" in found:
            subsets[name] = numpy.unique(found[name + "_idx"])
        elif name + "_mask" in found:
            mask = found[name + "_mask"].reshape(n, -1)
            subsets[name] = numpy.flatnonzero(mask[:, int(SPLIT or 0) if mask.shape[1] > 1 else 0])
    return subsets


def made_up(found, n, path):
    """Random features, labels that follow from them, and a split, where the data has none."""
    random = numpy.random.default_rng(1)
    missing = [name for name in ("x", "y") if name not in found]
    if "x" in missing:
        found["x"] = random.random((n, FEATURES), numpy.float32)
    if "y" in missing:
        scores = found["x"] @ random.standard_normal((FEATURES, CLASSES))
        found["y"] = scores > 0 if SEVERAL_LABELS else scores.argmax(1)
    if not subsets_of(found, n):
        missing.append("split")
        parts = numpy.split(random.permutation(n), [n * 3 // 5, n * 4 // 5])
        found.update(train_idx=parts[0], valid_idx=parts[1], test_idx=parts[2])
    if missing:
        print(f"note: {path} has no {', '.join(missing)}: random ones are made up. gnnrun draws "
              "others, so its losses differ.", file=sys.stderr)


def labels_of(y):
    """A class for each vertex, -1 of none, or a column of 0, 1 and nan (unknown) for each label."""
    if SEVERAL_LABELS:
        return y.reshape(len(y), -1).astype(numpy.float32)
    return numpy.nan_to_num(y.reshape(-1), nan=-1).astype(numpy.int64)


def read(path, device, feature_norm="none", trains=True):
    """The graph: x, y, edges (what Model reads beside x), subsets."""
    text = pathlib.Path(path).is_file() and not path.endswith(".npz")
    found = edge_list(path) if text else arrays(path)
    n = int(numpy.ravel(found["num_nodes"])[0]) if "num_nodes" in found else len(found["x"])
    edges = found["edge_index"].astype(numpy.int64)
    if edges.size and not 0 <= edges.min() <= edges.max() < n:
        raise ValueError(f"{path}: ids go from {edges.min()} to {edges.max()}, of {n} vertices")
    if WEIGHTED and "edge_weight" not in found:
        raise ValueError(f"{path} has no weights of edges, which the plan uses")
    if trains:
        made_up(found, n, path)
    elif "x" not in found:
        raise ValueError(f"{path} has no features: weights are of those that they were trained "
                         "with; save these as x, and edge_index, in an .npz")
    if found["x"].shape[1] != FEATURES:
        raise ValueError(f"{path} has {found['x'].shape[1]} features, the plan {FEATURES}")
    x = torch.from_numpy(numpy.ascontiguousarray(found["x"], numpy.float32))
    if feature_norm == "row":
        total = x.abs().sum(1, keepdim=True)
        x = torch.where(total > 0, x / total, x)
    y = labels_of(found.get("y", numpy.full(n, numpy.nan)))
    tensors = [torch.from_numpy(numpy.ascontiguousarray(edges))]
    if WEIGHTED:
        tensors.append(torch.from_numpy(found["edge_weight"].astype(numpy.float32)))
    subsets = subsets_of(found, n) or {"all": numpy.arange(n)}
    return types.SimpleNamespace(
        x=x.to(device), y=torch.from_numpy(y).to(device),
        edges=[tensor.to(device) for tensor in tensors],
        subsets={name: torch.from_numpy(rows.astype(numpy.int64)).to(device)
                 for name, rows in subsets.items()})


@torch.no_grad()
def logits_of(model, data):
    model.eval()
    return model(data.x, *data.edges)


def accuracy(logits, y):
    labelled = y >= 0
    return (logits.argmax(1) == y)[labelled].double().mean().item()


def f1(logits, y):
    """Micro-averaged over all labels that are known."""
    found, known = logits > 0, ~y.isnan()
    right = (found & (y == 1)).sum().item()
    wrong = (known & (found != (y == 1))).sum().item()
    return 2 * right / (2 * right + wrong) if right + wrong else 1.0


def rocauc(logits, y):
    """The mean over the labels that some vertices have and others have not, or of two classes."""
    if y.dim() == 1:
        logits, y = logits[:, 1:] - logits[:, :1], y.float().masked_fill(y < 0, torch.nan)[:, None]
    areas = []
    for z, has in zip(logits.T.cpu().numpy(), y.T.cpu().numpy()):
        z, has = z[~numpy.isnan(has)], has[~numpy.isnan(has)] == 1
        _, place, count = numpy.unique(z, return_inverse=True, return_counts=True)
        ranks = (numpy.cumsum(count) - (count - 1) / 2)[place]  # equal logits share their mean
        there, absent = has.sum(), (~has).sum()
        if there and absent:
            areas.append((ranks[has].sum() - there * (there + 1) / 2) / (there * absent))
    return numpy.mean(areas) if areas else float("nan")


def scores(logits, data):
    """"train 81.2 %  valid 79.0 %  test 80.1 %"; other scores than accuracies by their names."""
    several = data.y.dim() == 2
    text = []
    for score in [f1 if several else accuracy] + [rocauc] * ROCAUC:
        text += [score.__name__] * (score is not accuracy)
        for name, rows in data.subsets.items():
            y = data.y[rows]
            if (~y.isnan() if several else y >= 0).any():
                value = 100 * score(logits[rows], y)
                text.append(f"{name} {value:.1f} %" if value == value else f"{name} -")
    return "  ".join(text)


def options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("graph", metavar="GRAPH", help="an .npz archive, an OGB folder, or an "
                        "edge list (training makes up what it lacks)")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--feature-norm", choices=["none", "row"], default=FEATURE_NORM,
                        help="row: divide each vertex's features by the sum of their magnitudes")
    parser.add_argument("--save-logits", "--save-embeddings", metavar="FILE",
                        help="write all logits (.npy)")
    return parser


def run(main):
    warnings.filterwarnings("ignore", ".* beta")  # sparse matrices, and maxima over edges
    try:
        main()
    except (AssertionError, OSError, RuntimeError, ValueError) as why:
        sys.exit(f"error: {why}")
)py";

const char* const pytorch_edge_lists = R"py(

SOURCE = "source src from fromnodeid u i row node1 id1 startid".split()
TARGET = "target dst to tonodeid v j col node2 id2 endid".split()
WEIGHT = "weight w value".split()


def edge_list(path):
    """The edges of a text that has one in each line, source first unless a header says so; blanks,
    commas, semicolons or tabs separate its columns, and # and % begin comments."""

    def names_of(line):
        return [re.sub("[^a-z0-9]", "", column.lower()) for column in line.split(separator)]

    save = "save its edges as edge_index [2, edges] in an .npz (numpy.savez)"
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        line, comment = file.readline(), ""
        if line.startswith("%%MatrixMarket") or path.endswith((".graph", ".metis")):
            raise ValueError(f"{path} is no edge list: {save}")
        while line and (line[0] in "#%" or not line.strip()):
            line, comment = file.readline(), line[1:]
        separator = next((c for c in ",;\t" if c in line), None)
        header = re.match("[0-9]", line) is None
        names = names_of(line if header else comment)
        at = [next((i for i, name in enumerate(names) if name in known), None)
              for known in (SOURCE, TARGET, WEIGHT)]
        if None in at[:2] or len(names) != len(line.split(separator)):
            if header and len(names) > 2:
                raise ValueError(f"{path} has a header without source and target: {save}")
            at = [0, 1, 2]
        table = numpy.loadtxt(file if header else itertools.chain([line], file), ndmin=2,
                              comments=["#", "%"], delimiter=separator,
                              usecols=at if WEIGHTED else at[:2])
    found = {"edge_index": table[:, :2].T.astype(numpy.int64) - INDEX_BASE, "num_nodes": VERTICES}
    return {**found, "edge_weight": table[:, 2]} if WEIGHTED else found
)py";

const char* const pytorch_training = R"py(

def groups_of(model, weight_decay, decay):
    """Each parameter with its weight decay, as gnnrun --decay says it. DECAYS: those of "first"."""
    def strength(name, parameter):
        if "=" in decay:
            said = [part.rsplit("=", 1) for part in decay.split(",")]
            fits = [(len(end), float(number)) for end, number in said if name.endswith(end)]
            return max(fits)[1] if fits else 0.0
        decays = {"first": name in DECAYS, "weights": parameter.dim() == 2, "all": True}
        return weight_decay * decays[decay]
    return [{"params": [parameter], "weight_decay": strength(name, parameter)}
            for name, parameter in model.named_parameters()]


def scheduler_of(optimizer, schedule):
    """Returns the scheduler that changes the learning rate as gnnrun --lr-schedule does."""
    kind, *numbers = schedule.split(":")
    of = torch.optim.lr_scheduler
    if kind == "warmup":
        return of.LambdaLR(optimizer, lambda done: min(1, (done + 1) / int(numbers[0])))
    if kind == "step":
        return of.StepLR(optimizer, int(numbers[0]), float(numbers[1]))
    if kind == "cosine":
        return of.CosineAnnealingLR(optimizer, int(numbers[0]))
    if kind == "plateau":
        return of.ReduceLROnPlateau(optimizer, factor=float(numbers[0]), patience=int(numbers[1]))
    return of.LambdaLR(optimizer, lambda done: 1)


def loss_of(logits, y):
    if y.dim() == 1:
        return F.cross_entropy(logits, y, ignore_index=-1)
    known = ~y.isnan()
    return F.binary_cross_entropy_with_logits(logits[known], y[known])


def train(model, data, epochs, lr=0.01, weight_decay=5e-4, decay="first", schedule=""):
    """Yields the loss of each epoch, before its update."""
    optimizer = OPTIMIZER(groups_of(model, weight_decay, decay), lr)
    scheduler = scheduler_of(optimizer, schedule)
    rows = data.subsets["train"]
    for _ in range(epochs):
        model.train()
        loss = loss_of(LOGITS(model, data, rows), data.y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step(*([loss.item()] if schedule.startswith("plateau") else []))
        yield loss.item()


def main():
    parser = options("Trains the plan's model on one device; prints the loss before each update, "
                     "and scores after it.")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate (0.01)")
    parser.add_argument("--lr-schedule", default="", metavar="KIND:N[:N]", help="as gnnrun's")
    parser.add_argument("--weight-decay", type=float, default=5e-4, help="L2 (5e-4)")
    parser.add_argument("--decay", default="first", help="what decays, as gnnrun's (first)")
    parser.add_argument("--eval-every", type=int, default=EVAL_EVERY, metavar="N",
                        help="print scores after every N epochs and the last; 0: the last")
    parser.add_argument("--seed", type=int, default=1, help="of weights and dropout (1)")
    parser.add_argument("--weights", metavar="FILE", help="begin with these (safetensors)")
    parser.add_argument("--save-weights", metavar="FILE", help="write them at the end")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    data = read(args.graph, args.device, args.feature_norm)
    model = Model()
    if args.weights:
        model.load(args.weights, args.feature_norm)
    model.to(args.device)
    losses = train(model, data, args.epochs, args.lr, args.weight_decay, args.decay,
                   args.lr_schedule)
    for epoch, loss in enumerate(losses, 1):
        evaluates = epoch == args.epochs or args.eval_every and epoch % args.eval_every == 0
        after = scores(logits_of(model, data), data) if evaluates else ""
        print(f"epoch {epoch:<4} loss {loss:.6f}  {after}".rstrip(), flush=True)
    if args.save_weights:
        model.save(args.save_weights, args.feature_norm)
    if args.save_logits:
        numpy.save(args.save_logits, logits_of(model, data).cpu().numpy())


if __name__ == "__main__":
    run(main)
)py";

const char* const pytorch_inference = R"py(

def main():
    parser = options("Applies the plan's model to all vertices, in one pass.")
    parser.add_argument("--weights", metavar="FILE", required=True,
                        help="what gnnrun --save-weights wrote (safetensors)")
    args = parser.parse_args()
    data = read(args.graph, args.device, args.feature_norm, trains=False)
    model = Model()
    model.load(args.weights, args.feature_norm)
    logits = logits_of(model.to(args.device), data)
    print(f"{len(logits)} vertices  {scores(logits, data)}".rstrip())
    if args.save_logits:
        numpy.save(args.save_logits, logits.cpu().numpy())


if __name__ == "__main__":
    run(main)
)py";

}  // namespace gnnplan::tools
