"""PyTorch and gnnplan: a plan is executed with torch.distributed, and sparse products are made by gnnplan's kernels.

    torchrun --nproc_per_node 4 -m gnnplan.torch plan.json --data graph.npz

reads the same schedule as the planner's cost model and gnnrun do, one step after the other, and needs nothing but
PyTorch and NumPy; docs/pytorch.md says which plans it runs. gnnplan.torch.spmm(matrix, x) needs the compiled part of the
package, which is loaded when it is asked for (docs/python.md).
"""


def __getattr__(name):
    if name == "accelerate_pyg":
        from .pyg import accelerate_pyg

        return accelerate_pyg
    if name in ("Adjacency", "spmm"):
        from . import spmm_cpu

        return getattr(spmm_cpu, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
