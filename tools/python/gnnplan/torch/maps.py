"""Elementwise work on local blocks."""

import torch

from . import philox

LEAKY_SLOPE = 0.01


def activation_of(step):
    return "relu" if step["relu"] else step["activation"] or "none"


def activated(name, x):
    if name == "relu":
        return torch.relu(x)
    if name == "elu":
        return torch.where(x > 0, x, torch.expm1(torch.clamp(x, max=0)))
    if name == "leaky_relu":
        return torch.where(x > 0, x, LEAKY_SLOPE * x)
    return x


def slope(name, y):
    """The slope of an activation where it has made y."""
    ones = torch.ones_like(y)
    below = {"relu": 0 * ones, "elu": y + 1, "leaky_relu": LEAKY_SLOPE * ones}.get(name, ones)
    return torch.where(y > 0, ones, below)


def probability(step, rank, drops):
    training = rank.settings.training and drops
    return rank.plan.dropout(step["layer"]) if training else 0.0


def dropped(step, rank, x, share):
    """x after dropout, whose draws are keyed by vertices, or by rows, and by columns."""
    if share == 0 or x.numel() == 0:
        return x
    (first, last), columns = rank.block(step["tensor"])
    rows = range(first, last)
    if step["vertices"]:
        rows = rank.values[step["vertices"]][:, 0].cpu().numpy()
    kept = philox.kept(rank.seed, rank.settings.epoch, step["layer"], share, rows, columns)
    return x * torch.from_numpy(kept).to(x.device) * (1 / (1 - share))


def activate(step, rank):
    z = rank.values[step["tensor"]]
    if step["operand"]:
        first, last = rank.block(step["tensor"])[1]
        z = z + rank.values[step["operand"]][0, first:last]
    z = dropped(step, rank, activated(activation_of(step), z),
                probability(step, rank, step["dropout"]))
    rank.values[step["tensor"]] = z
    if step["out"]:
        rank.values[step["out"]] = z > 0


def activation_gradient(step, rank):
    share = probability(step, rank, step["dropout"])
    g = rank.values[step["tensor"]]
    if step["operand"]:
        g = g * slope(activation_of(step), rank.values[step["operand"]] * (1 - share))
    rank.values[step["tensor"]] = dropped(step, rank, g, share)


def dropout(step, rank):
    """Where nothing is dropped, the result is the tensor itself."""
    share = probability(step, rank, True)
    rank.values[step["out"]] = dropped(step, rank, rank.values[step["tensor"]], share)


def apply_mask(step, rank):
    """The mask was taken after dropout, so what it keeps is what dropout has scaled."""
    scale = 1 / (1 - probability(step, rank, step["dropout"]))
    g = rank.values[step["tensor"]]
    rank.values[step["tensor"]] = g * rank.values[step["operand"]] * scale


def column_sum(step, rank):
    out = rank.zeros(rank.tensor(step["out"]))
    first, last = rank.block(step["tensor"])[1]
    out[0, first:last] = rank.values[step["tensor"]].sum(0)


def divide(step, rank):
    a, b = rank.values[step["tensor"]], rank.values[step["operand"]]
    rank.values[step["tensor"]] = torch.where(b == 0, torch.zeros_like(a), a / b)


def add_scaled(step, rank):
    factor = step["scale"]
    if step["epsilon"]:
        factor = factor + rank.values[step["epsilon"]][0, 0]
    rank.values[step["tensor"]] = (rank.values[step["tensor"]]
                                   + factor * rank.values[step["operand"]])


def dot(step, rank):
    out = rank.zeros(rank.tensor(step["out"]))
    out[0, 0] = (rank.values[step["tensor"]] * rank.values[step["operand"]]).sum()


def set_from(key, make):
    """An operation that puts make(tensor, operand, scale) where a key of the step says."""
    def run(step, rank):
        operand = rank.values[step["operand"]] if step["operand"] else None
        made = make(rank.values[step["tensor"]], operand, step["scale"])
        rank.values[step[key] or step["tensor"]] = made
    return run


OPERATIONS = {
    "activate": activate, "activation_gradient": activation_gradient, "dropout": dropout,
    "apply_mask": apply_mask, "column_sum": column_sum, "divide": divide,
    "add_scaled": add_scaled, "dot": dot,
    "positive_mask": set_from("out", lambda x, operand, scale: x > 0),
    "add": set_from("tensor", lambda x, operand, scale: x + operand),
    "copy": set_from("out", lambda x, operand, scale: x.clone()),
    "difference": set_from("out", lambda x, operand, scale: x[:, 1:] - x[:, :1]),
    "blend": set_from("tensor", lambda x, operand, scale: (1 - scale) * x + scale * operand),
    "scaled": set_from("out", lambda x, operand, scale: scale * x),
    "add_identity": set_from("tensor", lambda x, operand, scale: x + scale * torch.eye(
        len(x), dtype=x.dtype, device=x.device)),
}
