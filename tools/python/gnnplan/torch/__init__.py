"""Executes a plan of gnnplan with PyTorch and torch.distributed.

    torchrun --nproc_per_node 4 -m gnnplan.torch plan.json --data graph.npz

It reads the same schedule as the planner's cost model and gnnrun do, one step after the other,
and needs nothing but PyTorch and NumPy. docs/pytorch.md says which plans it runs.
"""
