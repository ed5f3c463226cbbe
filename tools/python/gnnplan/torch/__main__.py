"""The command: torchrun --nproc_per_node P -m gnnplan.torch plan.json --data graph.npz"""

import argparse
import os
import sys
import warnings

import torch
import torch.distributed as dist

from .errors import MISMATCH, UNAVAILABLE, PlanError
from .plan import Plan
from .steps import check
from .train import Training
from .wire import Wire


def options_of(arguments=None):
    parser = argparse.ArgumentParser(
        prog="torchrun --nproc_per_node P -m gnnplan.torch",
        description="Trains a network as a plan of gnnplan says, with torch.distributed.")
    parser.add_argument("plan", help="the plan that gnnplan plan -o wrote")
    parser.add_argument("--data", required=True, help="the graph's .npz archive")
    parser.add_argument("--epochs", type=int, help="default: the plan's")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate (0.01)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and dropout (1)")
    parser.add_argument("--weight-decay", type=float, default=5e-4,
                        help="of the parameters that decay in the plan (5e-4)")
    parser.add_argument("--eval-every", type=int, metavar="N", help="evaluate after every N epochs "
                        "and the last one; 0: never; default: the plan's, else 10")
    parser.add_argument("--load-weights", metavar="FILE", help="begin with these (safetensors)")
    parser.add_argument("--save-weights", metavar="FILE", help="write them at the end")
    parser.add_argument("--report", metavar="FILE", help="write losses, seconds and bytes (JSON)")
    parser.add_argument("--backend", choices=["gloo", "nccl"], default="gloo",
                        help="nccl: each rank has a GPU (gloo)")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors alone")
    return parser.parse_args(arguments)


def train(options, rank, ranks):
    """Trains on this rank, one of so many whose process group is there."""
    plan = Plan(options.plan)
    check(plan)
    if plan.ranks != ranks:
        raise PlanError(MISMATCH, f"{options.plan} is for {plan.ranks} ranks, and {ranks} were "
                        f"started: start it with torchrun --nproc_per_node {plan.ranks}")
    device = torch.device("cpu")
    if options.backend == "nccl":
        if not torch.cuda.is_available():
            raise PlanError(UNAVAILABLE, "PyTorch has no GPU here for nccl: use --backend gloo")
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
    if ranks > 1 and not dist.is_initialized():
        dist.init_process_group(options.backend)
    return Training(plan, options, Wire(rank, device)).run()


def main(arguments=None):
    warnings.filterwarnings("ignore", ".*[Ss]parse")  # PyTorch calls its matrices unfinished
    options = options_of(arguments)
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    try:
        train(options, rank, ranks)
    except PlanError as error:
        if rank == 0:
            print(f"error: {error}", file=sys.stderr, flush=True)
        return error.code
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
