"""Dense products, sums over ranks, and updates of parameters."""

import torch

from .heads import add_squares, has_squares
from .wire import rows_of_blocks

BETA1, BETA2, EPSILON, RMS_DECAY = 0.9, 0.999, 1e-8, 0.99


def gemm(step, rank):
    """out = in W, or in W^T; with column-parallel products each rank has some columns of W."""
    weight, product = rank.values[step["weight"]], None
    left, out = rank.values[step["in"]], rank.tensor(step["out"])
    if step["transposed"]:
        product = left @ weight.t()
    else:
        first, last = rank.block(step["out"])[1]
        product = left @ weight[:, first:last]
    if step["accumulate"]:
        rank.values[out.name] += product
    else:
        rank.values[out.name] = product


def weight_grad(step, rank):
    """gradient = left^T right over local rows: a summand."""
    gradient = rank.zeros(rank.tensor(step["gradient"]))
    first, last = rank.block(step["right"])[1]
    gradient[:, first:last] = rank.values[step["left"]].t() @ rank.values[step["right"]]


def all_reduce(step, rank):
    """Sums a partial tensor in place over the ranks along the axes over which it is partial."""
    tensor = rank.tensor(step["tensor"])
    group = rank.grid.along(rank.rank, tensor.layout[2])
    flat = rank.values[tensor.name].contiguous().reshape(-1)
    add = add_squares if has_squares(rank.plan, tensor.name) else torch.add
    rank.wire.all_reduce(group, flat, add)
    rank.values[tensor.name] = flat.reshape(rank.values[tensor.name].shape)


def reduce_scatter(step, rank):
    """Sums a product over one axis; each rank ends up with its block of the rows."""
    source = rank.tensor(step["in"])
    group = rank.grid.along(rank.rank, source.layout[2])
    blocks = rows_of_blocks(rank.values[source.name].contiguous(), len(group))
    rank.wire.reduce_scatter(group, blocks)
    rank.values[step["out"]] = blocks[group.index(rank.rank)].clone()


def update(step, rank):
    """One step of the optimiser, with weight decay where the plan says so."""
    settings = rank.settings
    w, g = rank.values[step["weight"]], rank.values[step["gradient"]]
    decay = settings.weight_decay if step["decays"] else 0.0
    if step["rule"] == "adamw":
        w *= 1 - settings.rate * decay
    elif decay:
        g = g + decay * w
    m1, m2 = (rank.values[step[key]] if step[key] else None for key in ("moment1", "moment2"))
    if step["rule"] in ("adam", "adamw"):
        m1.mul_(BETA1).add_(g, alpha=1 - BETA1)
        m2.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
        corrected = torch.sqrt(m2 / (1 - BETA2 ** settings.epoch)) + EPSILON
        w -= settings.rate * (m1 / (1 - BETA1 ** settings.epoch)) / corrected
    elif step["rule"] == "momentum":
        m1.mul_(settings.momentum).add_(g)
        w -= settings.rate * m1
    elif step["rule"] == "rmsprop":
        m1.mul_(RMS_DECAY).addcmul_(g, g, value=1 - RMS_DECAY)
        w -= settings.rate * g / (torch.sqrt(m1) + EPSILON)
    else:
        w -= settings.rate * g
