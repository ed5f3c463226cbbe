"""Each kind of step is run by a function, and plans with other kinds are refused."""

from . import dense, maps
from .areas import rank_sum
from .edges import OPERATIONS as EDGE_OPERATIONS, edge, reorder
from .errors import refuse
from .heads import OPERATIONS as HEAD_OPERATIONS, head
from .loss import loss, score
from .norms import batch_norm, norm
from .product import index, spmm
from .programs import PROGRAMS
from .redistribute import redistribute
from .ring import ring_gemm
from .summands import sum_rows

RUN = {
    "spmm": spmm, "index": index, "gemm": dense.gemm, "ring_gemm": ring_gemm, "redistribute": redistribute,
    "weight_grad": dense.weight_grad, "all_reduce": dense.all_reduce,
    "reduce_scatter": dense.reduce_scatter, "update": dense.update, "loss": loss, "score": score,
    "rank_sum": rank_sum, "sum_rows": sum_rows, "norm": norm, "batch_norm": batch_norm,
    "head": head, "edge": edge, "edge_transpose": reorder, "edge_gather": reorder,
    "map": lambda step, rank: maps.OPERATIONS[step["op"]](step, rank),
}
RULES = {"adam", "adamw", "sgd", "momentum", "rmsprop"}
SAMPLERS = {"node", "edge", "walk", "neighbours"}
EXCHANGES = {"none", "panels", "rows", "relay", "relayed_rows"}


def check(plan):
    """Refuses, before training, whatever a plan has that this module has not."""
    problem, numbering = plan.problem, plan.numbering
    sampler = problem.get("batches", {}).get("sampling", {}).get("sampler")
    if sampler and sampler not in SAMPLERS:
        refuse(f"Training on batches that are drawn by {sampler} (sampler)")
    if numbering.get("clones") or (plan.configuration.get("groups") and not sampler):
        refuse("Training on parts of a cut with clones (clones)")
    if numbering.get("cut", "libra") != "libra":
        refuse(f"The vertex cut {numbering['cut']} (scheme cut)")
    if numbering["parts"] > 1 and not numbering.get("cut") and not sampler:
        refuse("Numbering by a partitioner (parts)")
    if plan.graph["generated_features"] or plan.graph["generated_classes"]:
        refuse("Data that gnnrun generates (generated_features, generated_classes)")
    for step in plan.steps:
        check_step(step, plan.model["name"])
    for tensor in plan.tensors.values():
        check_tensor(tensor)


def check_tensor(tensor):
    if tensor.role == "in_flight":
        refuse(f"Tensor {tensor.name} (role {tensor.role})")


def check_step(step, model):
    of = f"Step {step.name} of {model}"
    if step.kind not in RUN:
        refuse(f"{of} (kind {step.kind})")
    if step.kind == "map" and step["op"] not in maps.OPERATIONS:
        refuse(f"{of} (map {step['op']})")
    for kind, operations in (("head", HEAD_OPERATIONS), ("edge", EDGE_OPERATIONS)):
        if step.kind == kind and step["op"] not in operations:
            refuse(f"{of} ({kind} {step['op']})")
    if step["wire"] == "bf16":
        refuse(f"{of} (wire bf16)")
    if step.kind == "spmm":
        if step["program"] not in PROGRAMS:
            refuse(f"{of} (program {step['program']})")
        if step["exchange"] not in EXCHANGES:
            refuse(f"{of} (exchange {step['exchange']})")
    if step.kind == "update" and step["rule"] not in RULES:
        refuse(f"{of} (optimiser {step['rule']})")
