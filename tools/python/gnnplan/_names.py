"""Weights by the names of other frameworks: the table of docs/models.md, for networks of one kind of layers."""

from ._errors import UsageError

# By model: the name in a layer here, the name in a layer of PyTorch Geometric, and whether it is transposed.
PYG = {"gcn": {"weight": ("lin.weight", True), "bias": ("bias", False)},
       "sage": {"neighbour.weight": ("lin_l.weight", True), "bias": ("lin_l.bias", False),
                "self.weight": ("lin_r.weight", True)}}


def state_dict(weights, model, framework="pyg"):
    """Tensors for load_state_dict() of torch_geometric.nn.GCN or GraphSAGE with as many layers."""
    import torch

    if framework != "pyg" or model not in PYG:
        raise UsageError(64, f"weights of {model} have no names of {framework} here", "state_dict",
                         "docs/models.md has the names of all models")
    state = {}
    for name, array in weights.items():
        layers, number, own = name.split(".", 2)
        if layers != "layers" or own not in PYG[model]:
            raise UsageError(64, f"{name} has no place in the network of PyTorch Geometric", "state_dict")
        theirs, turned = PYG[model][own]
        values = torch.from_numpy(array)
        state[f"convs.{int(number) - 1}.{theirs}"] = values.t().contiguous() if turned else values
    return state
