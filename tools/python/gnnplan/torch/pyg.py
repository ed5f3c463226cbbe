"""accelerate_pyg(): layers of PyTorch Geometric multiply by gnnplan's kernels, in scripts that stay as they are."""

import weakref

import torch

from .._errors import make
from .spmm_cpu import Adjacency, spmm

REDUCTIONS = {"sum": "sum", "add": "sum", "mean": "mean", "max": "max"}
LAYERS = ("GCNConv", "SAGEConv", "GINConv")  # whose messages are rows of x, times the weight of the edge


class _Kept:
    """Results by the tensors that they were made of, for as long as these live and stay as they were."""

    def __init__(self):
        self._results = {}

    def get(self, tensors, rest, make_result):
        if torch.is_inference_mode_enabled() or any(tensor.is_inference() for tensor in tensors):
            return make_result()  # such tensors do not tell when they are changed, and cannot be trained with
        key = (tuple((id(tensor), tensor._version) for tensor in tensors), rest)
        if key not in self._results:
            self._results[key] = make_result()
            for tensor in tensors:
                weakref.finalize(tensor, self._results.pop, key, None)
        return self._results[key]


_adjacencies, _norms = _Kept(), _Kept()


def _plain(layer, edge_index, weight):
    """Whether sums over these edges are a sparse product with one weight for each."""
    return (isinstance(edge_index, torch.Tensor) and edge_index.layout == torch.strided and not edge_index.is_cuda
            and layer.flow == "source_to_target" and layer.node_dim in (-2, 0)
            and isinstance(layer.aggr, str) and layer.aggr in REDUCTIONS
            and not layer.explain
            and (weight is None or (not weight.requires_grad and REDUCTIONS[layer.aggr] == "sum")))


def _has_hooks(layer):
    return any(getattr(layer, f"_{name}_forward_{when}hooks", None)
               for name in ("propagate", "message", "aggregate", "message_and_aggregate") for when in ("pre_", ""))


def _propagate_of(original):
    def propagate(self, edge_index, size=None, **given):
        x, weight = given.get("x"), given.get("edge_weight")
        source, target = x if isinstance(x, (tuple, list)) else (x, x)
        known = set(given) <= {"x", "edge_weight"} and isinstance(source, torch.Tensor)
        if not (known and source.dtype == torch.float32 and source.dim() == 2 and not _has_hooks(self)
                and _plain(self, edge_index, weight)):
            return original(self, edge_index, size=size, **given)
        rows = size[1] if size is not None and size[1] is not None else len(source if target is None else target)
        tensors = [edge_index] if weight is None else [edge_index, weight]
        shape = (rows, len(source))
        matrix = _adjacencies.get(tensors, shape, lambda: Adjacency.of_edges(edge_index[1], edge_index[0], weight, shape))
        return spmm(matrix, source, REDUCTIONS[self.aggr])

    return propagate


def accelerate_pyg():
    """From here on GCNConv, SAGEConv and GINConv of PyTorch Geometric sum, average or maximise over neighbours by
    gnnplan's kernels, where features are float32 on the CPU and edges are given as edge_index; elsewhere they do as
    before. What GCNConv makes of edge_index (self loops, normalisation) is kept for as long as that tensor lives."""
    try:
        from torch_geometric import nn
        from torch_geometric.nn.conv import gcn_conv
    except ImportError as missing:
        raise make(69, "PyTorch Geometric is not installed", "accelerate_pyg", "pip install torch_geometric") from missing
    if getattr(gcn_conv.gcn_norm, "by_gnnplan", False):
        return
    for name in LAYERS:
        layer = getattr(nn, name)
        layer.propagate = _propagate_of(layer.propagate)
    made = gcn_conv.gcn_norm

    def gcn_norm(edge_index, edge_weight=None, *rest, **named):
        if named or edge_weight is not None or not isinstance(edge_index, torch.Tensor) or edge_index.layout != torch.strided:
            return made(edge_index, edge_weight, *rest, **named)
        return _norms.get([edge_index], rest, lambda: made(edge_index, edge_weight, *rest))

    gcn_norm.by_gnnplan = True
    gcn_conv.gcn_norm = gcn_norm
