#include "tools/advise/pytorch/pytorch_source.hpp"

namespace gnnplan::tools {

const char* const pytorch_parameters = R"py(

class Parameters(torch.nn.Module):
    """Parameters by their names: of "1.mlp.0.weight", self[1].mlp[0].weight."""

    def __init__(self, tensors=()):
        super().__init__()
        for path in tensors:
            group = self
            *names, last = path.split(".")
            for name in names:
                if name not in group._modules:
                    group.add_module(name, Parameters())
                group = group._modules[name]
            trains = not last.startswith("running_")
            group.register_parameter(last, torch.nn.Parameter(tensors[path], trains))

    def __getitem__(self, name):
        return getattr(self, str(name))


def glorot(*shape):
    return torch.nn.init.xavier_uniform_(torch.empty(shape))


class Once:
    """The result of make(...), made once while it is called with the same tensors; two are kept."""

    def __init__(self, make):
        self.make, self.made = make, []

    def __call__(self, *what):
        for known, result in self.made:
            if len(known) == len(what) and all(a is b or isinstance(a, int) and a == b
                                               for a, b in zip(known, what)):
                return result
        self.made = self.made[-1:] + [(what, self.make(*what))]
        return self.made[-1][1]


def read_weights(path, feature_norm=None):
    """Tensors of a safetensors file: the length of a header in JSON, the header, the values."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        values = bytearray(file.read())
    wanted = {**FACTS, "gnnplan: --feature-norm": feature_norm} if feature_norm else FACTS
    for fact, said in header.pop("__metadata__", {}).items():
        if wanted.get(fact, said) != said:
            option = fact.partition(": ")[2]
            way_out = f" (give {option} {said})" if option.startswith("--") else ""
            raise ValueError(f"{path}: weights were trained otherwise: {option} is {said} in it, "
                             f"not {wanted[fact]}{way_out}")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if entry["dtype"] != "F32":
            raise ValueError(f"{path}: {name} is {entry['dtype']}, not F32")
        tensors[name] = torch.frombuffer(values, dtype=torch.float32, offset=begin,
                                         count=(end - begin) // 4).reshape(entry["shape"])
    return tensors


def write_weights(path, tensors, facts):
    header, values = {"__metadata__": {"format": "pt", **facts}}, b""
    for name, tensor in tensors.items():
        these = array.array("f", tensor.flatten().tolist()).tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(values), len(values) + len(these)]}
        values += these
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + values)
)py";

const char* const pytorch_entries = R"py(

def entries(n, edge_index):
    """Targets, sources and values of the matrix's entries, in this order. Listed self loops
    are dropped, and edges that are listed more than once are one edge."""
    source, target = edge_index
    key = (target * n + source)[source != target]
    if SYMMETRISE:
        key = torch.cat([key, key % n * n + key // n])
    if SELF_LOOPS:
        key = torch.cat([key, torch.arange(n, device=key.device) * (n + 1)])
    key = torch.unique(key)
    return weighed(n, key // n, key % n, torch.ones_like(key, dtype=torch.float64))
)py";

const char* const pytorch_weighed = R"py(

def merged(key, weight, mean=False):
    """Each key once, in order, with the sum or the mean of its weights."""
    key, place, count = torch.unique(key, return_inverse=True, return_counts=True)
    weight = torch.zeros_like(key, dtype=torch.float64).index_add(0, place, weight)
    return key, weight / count if mean else weight


def entries(n, edge_index, edge_weight):
    """Targets, sources and values of the matrix's entries, in this order. Listed self loops
    are dropped; edges that are listed more than once are one edge, which has their sum."""
    source, target = edge_index
    other = source != target
    key, weight = merged((target * n + source)[other], edge_weight.flatten().double()[other])
    if SYMMETRISE:
        key, weight = torch.cat([key, key % n * n + key // n]), weight.repeat(2)
        key, weight = merged(key, weight, mean=True)
    if SELF_LOOPS:
        loops = torch.arange(n, device=key.device) * (n + 1)
        key, weight = merged(torch.cat([key, loops]), torch.cat([weight, weight.new_ones(n)]))
    return weighed(n, key // n, key % n, weight)
)py";

const char* const pytorch_scaled = R"py(

def weighed(n, target, source, weight):
    into, out_of = torch.bincount(target, weight, n), torch.bincount(source, weight, n)
    if NORMALISATION == "symmetric":  # D_out^-1/2 A D_in^-1/2
        if min(into.min(), out_of.min()) < 0:
            raise ValueError("the weights of a vertex's edges add up to less than 0")
        into, out_of = [torch.where(d > 0, d.rsqrt(), d) for d in (into, out_of)]
        weight = into[target] * weight * out_of[source]
    if NORMALISATION == "row_mean":
        weight = torch.where(into != 0, 1 / into, into)[target] * weight
)py";

const char* const pytorch_itself = R"py(    loops = torch.arange(n, device=target.device)
    target, source = torch.cat([target, loops]), torch.cat([source, loops])
    weight = torch.cat([weight, weight.new_full((n,), ITSELF)])
    order = torch.argsort(target * n + source)
    target, source, weight = target[order], source[order], weight[order]
)py";

const char* const pytorch_adjacency = R"py(    return target, source, weight.float()


def starts(index, n):
    """Where the entries of each row begin; index, their rows, is sorted."""
    counts = torch.bincount(index, minlength=n)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def adjacency(n, *edges):
    return Adjacency(*entries(n, *edges), (n, n))


class Adjacency:
    """The sparse matrix A: row v has the in-neighbours of v, and columns are sorted."""

    def __init__(self, target, source, value, shape, own=None):
        self.target, self.source, self.value, self.shape = target, source, value, shape
        self.own_rows = own
        self.order = torch.sort(source, stable=True).indices  # of the transpose's entries
        self.start, self.start_t = starts(target, shape[0]), starts(source[self.order], shape[1])
        self.target_t = target[self.order]

    def csr(self, value):
        return torch.sparse_csr_tensor(self.start, self.source, value, self.shape)

    def csr_of_transpose(self, value):
        return torch.sparse_csr_tensor(self.start_t, self.target_t, value[self.order],
                                       self.shape[::-1])
)py";

}  // namespace gnnplan::tools
