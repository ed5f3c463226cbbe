#include "tools/advise/pytorch_source.hpp"

namespace gnnplan::tools {

const char* const pytorch_imports = R"py(
import pathlib
import sys

import numpy
import torch
import torch.nn.functional as F

)py";

const char* const pytorch_matrices = R"py(L = len(WIDTHS) - 1


def edges(file, n):
    """Targets and sources of the edges, each once, sorted, with the plan's self loops."""
    source, target = file["edge_index"].astype(numpy.int64)
    if SYMMETRISE:
        source, target = numpy.concatenate([source, target]), numpy.concatenate([target, source])
    key = (target * n + source)[target != source]
    if SELF_LOOPS:
        key = numpy.concatenate([key, numpy.arange(n, dtype=numpy.int64) * (n + 1)])
    key = numpy.unique(key)
    return key // n, key % n


def weights(target, source, n):
    """D_out^-1/2 A D_in^-1/2, or the mean over in-neighbours, or 1."""
    degree_in = numpy.bincount(target, minlength=n).astype(numpy.float64)
    degree_out = numpy.bincount(source, minlength=n).astype(numpy.float64)
    if NORMALISATION == "symmetric":
        return 1 / numpy.sqrt(degree_out[source] * degree_in[target])
    return 1 / degree_in[target] if NORMALISATION == "row_mean" else numpy.ones(len(target))


def csr(row, column, value, shape):
    order = numpy.lexsort((column, row))
    start = numpy.concatenate([[0], numpy.cumsum(numpy.bincount(row, minlength=shape[0]))])
    return torch.sparse_csr_tensor(torch.from_numpy(start), torch.from_numpy(column[order]),
                                   torch.from_numpy(value[order].astype(numpy.float32)), shape)


def matrices(target, source, value, n, training):
    """A and its transpose for each layer; with LOSS_ROWS only the rows that the loss needs."""
    A, At = {}, {}
    rows = numpy.sort(training) if LOSS_ROWS else numpy.arange(n)
    for l in range(L, 0, -1):
        kept = numpy.isin(target, rows) if LOSS_ROWS else slice(None)
        read = numpy.unique(source[kept]) if LOSS_ROWS and l > 1 else numpy.arange(n)
        if l < L and not LOSS_ROWS:
            A[l], At[l] = A[L], At[L]
            continue
        i, j = numpy.searchsorted(rows, target[kept]), numpy.searchsorted(read, source[kept])
        A[l] = csr(i, j, value[kept], (len(rows), len(read)))
        At[l] = csr(j, i, value[kept], (len(read), len(rows)))
        rows = read
    return A, At


class Propagate(torch.autograd.Function):
    """A @ x. Autograd's own backward of a sparse product would transpose A in every epoch."""

    @staticmethod
    def forward(ctx, l, x):
        ctx.layer = l
        return A[l] @ x

    @staticmethod
    def backward(ctx, g):
        return None, At[ctx.layer] @ g


propagate = Propagate.apply
)py";

const char* const pytorch_product = R"py(

class Product(torch.autograd.Function):
    """A x W with the backward products in the plan's order, which autograd does not take.

    order, backward: S multiplies by the sparse matrix first, D by the weights. operand: W's
    gradient is made of A @ x and g (T), or of x and A.T @ g (G).
    """

    @staticmethod
    def forward(ctx, l, x, w, order, backward, operand):
        ctx.how = l, order, backward, operand
        if order == "D":
            ctx.save_for_backward(x, w)
            return A[l] @ (x @ w)
        Ax = A[l] @ x
        ctx.save_for_backward(Ax if operand == "T" else x, w)
        return Ax @ w

    @staticmethod
    def backward(ctx, g):
        l, order, backward, operand = ctx.how
        kept, w = ctx.saved_tensors
        Ag = At[l] @ g if backward == "S" or operand == "G" else None
        if operand == "T":
            w_grad = (kept if order == "S" else A[l] @ kept).T @ g
        else:
            w_grad = kept.T @ Ag
        x_grad = None
        if ctx.needs_input_grad[1]:
            x_grad = Ag @ w.T if backward == "S" else At[l] @ (g @ w.T)
        return None, x_grad, w_grad, None, None, None
)py";

const char* const pytorch_training = R"py(

def glorot(rows, columns):
    return torch.nn.init.xavier_uniform_(torch.empty(rows, columns)).requires_grad_()


def arrays(path):
    """The arrays of an .npz file; those of an OGB folder under the same names."""
    folder = pathlib.Path(path)
    binary = folder / "raw/data.npz"
    if not folder.is_dir():
        with numpy.load(path) as file:
            return renamed(dict(file))

    def table(pattern, kind):
        found = sorted(folder.glob(pattern + ".csv*"))
        return numpy.loadtxt(found[0], kind, delimiter=",", ndmin=2) if found else None

    if binary.exists():
        with numpy.load(binary) as data, numpy.load(folder / "raw/node-label.npz") as labels:
            found = renamed({**data, **labels})
    else:
        found = {"edge_index": table("raw/edge", numpy.int64).T,
                 "num_nodes": table("raw/num-node-list", numpy.int64)[0, 0],
                 "x": table("raw/node-feat", numpy.float32),
                 "y": table("raw/node-label", numpy.float64)}
    found["train_idx"] = table(f"split/{SPLIT or '*'}/train", numpy.int64)
    return {name: values for name, values in found.items() if values is not None}


def renamed(found):
    """OGB's names of arrays beside PyTorch Geometric's."""
    for name, ogb in {"x": "node_feat", "y": "node_label", "num_nodes": "num_nodes_list"}.items():
        if ogb in found:
            found.setdefault(name, found.pop(ogb))
    known = {"edge_index", "edge_weight", "edge_feat", "num_nodes", "num_edges_list", "x", "y"}
    for subset in ("train", "valid", "val", "test"):
        known |= {subset + "_idx", subset + "_mask"}
    others = set(found) - known
    if others and not {"x", "y"} <= set(found):
        sys.exit("x and y are not made up where they may have other names: "
                 + ", ".join(sorted(others)))
    return found


def read(path):
    """Sets A, At; features, labels of the computed rows, which of those train, initial weights."""
    global A, At
    file = arrays(path)
    n = int(numpy.ravel(file["num_nodes"])[0]) if "num_nodes" in file else len(file["x"])
    target, source = edges(file, n)
    random = numpy.random.default_rng(1)  # where the file has only a graph; gnnrun draws others
    x = file["x"] if "x" in file else random.random((n, WIDTHS[0]))
    y = file["y"] if "y" in file else random.integers(WIDTHS[-1], size=n)
    X = torch.from_numpy(x.astype(numpy.float32))
    y = torch.from_numpy(numpy.nan_to_num(y.reshape(-1), nan=-1).astype(numpy.int64))
    if "train_idx" in file:
        training = file["train_idx"].reshape(-1)
    else:
        mask = file["train_mask"].reshape(n, -1) if "train_mask" in file else numpy.ones((n, 1))
        training = numpy.flatnonzero(mask[:, int(SPLIT) if mask.shape[1] > 1 else 0])
    A, At = matrices(target, source, weights(target, source, n), n, training)
    if LOSS_ROWS:
        y, training = y[torch.from_numpy(numpy.sort(training))], numpy.arange(len(training))
    layers = range(1, L + 1)
    W = {l: glorot(WIDTHS[l - 1], WIDTHS[l]) for l in layers}
    b = {l: torch.zeros(WIDTHS[l], requires_grad=True) for l in layers if BIAS}
    return X, y, torch.from_numpy(training.astype(numpy.int64)), W, b


def train(X, y, training, W, b, epochs):
    """The loss before each update."""
    x = A[1] @ X if CACHE_AX else X
    others = [W[l] for l in W if l > 1] + list(b.values())
    groups = [{"params": [W[1]], "weight_decay": WEIGHT_DECAY}, {"params": others}]
    groups = [group for group in groups if group["params"]]
    optimizer = OPTIMIZER(groups)
    for _ in range(epochs):
        loss = F.cross_entropy(network(x, W, b)[training], y[training])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    torch.manual_seed(1)
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else EPOCHS
    for epoch, loss in enumerate(train(*read(sys.argv[1]), epochs), 1):
        print(f"epoch {epoch}  loss {loss:.6f}")
)py";

}  // namespace gnnplan::tools
