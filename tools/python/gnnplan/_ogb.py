"""Data sets of Open Graph Benchmark: their folders, and what its loaders return."""

import os

from ._errors import UsageError, make


def folder_of(name, root):
    """The folder that OGB's loaders have made of `name` below `root`, or `root` itself where it has the files."""
    stem = name.replace("-", "_")
    folders = [os.path.join(root, stem + end) for end in ("", "_pyg", "_dgl")] + [os.fspath(root)]
    for folder in folders:
        if os.path.isdir(os.path.join(folder, "raw")):
            return folder
    raise make(66, f"{name} is not in {root}: there is no folder {folders[0]}/raw", "from_ogb",
               f"download it: python -c \"from ogb.nodeproppred import NodePropPredDataset as D; D('{name}', '{root}')\"")


def arrays_of(dataset):
    """Keyword arguments of Data.from_arrays(): of NodePropPredDataset, PygNodePropPredDataset or DglNodePropPredDataset."""
    if not hasattr(dataset, "get_idx_split"):
        raise UsageError(64, f"a name or a loader of OGB expected, found {type(dataset).__name__}", "from_ogb",
                         "e.g. \"ogbn-arxiv\", or NodePropPredDataset(\"ogbn-arxiv\")")
    graph, split = dataset[0], dataset.get_idx_split()
    labels = None
    if isinstance(graph, tuple):
        graph, labels = graph
    if isinstance(graph, dict):
        arrays = {"edge_index": graph["edge_index"], "x": graph.get("node_feat"), "vertices": int(graph["num_nodes"])}
    elif hasattr(graph, "edge_index"):
        arrays = {"edge_index": graph.edge_index, "x": getattr(graph, "x", None), "vertices": int(graph.num_nodes)}
        labels = graph.y
    else:
        arrays = {"edge_index": graph.edges(), "x": graph.ndata.get("feat"), "vertices": graph.num_nodes()}
    return dict(arrays, y=labels, **{part: split[part] for part in ("train", "valid", "test")})
