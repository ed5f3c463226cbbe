"""The command: torchrun --nproc_per_node P -m gnnplan.torch plan.json --data graph.npz"""

import argparse
import os
import sys
import warnings

from .launch import exit_code, local


def options_of(arguments=None):
    parser = argparse.ArgumentParser(
        prog="torchrun --nproc_per_node P -m gnnplan.torch",
        description="Trains or applies a network as a plan of gnnplan says, with torch.distributed.")
    parser.add_argument("plan", help="the plan that gnnplan plan -o wrote")
    parser.add_argument("--data", required=True, help="the graph's .npz archive")
    parser.add_argument("--epochs", type=int, help="default: the plan's")
    parser.add_argument("--lr", type=float, help="learning rate (0.01)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and dropout (1)")
    parser.add_argument("--weight-decay", type=float,
                        help="of the parameters that decay in the plan (5e-4)")
    parser.add_argument("--eval-every", type=int, metavar="N", help="evaluate after every N epochs "
                        "and the last one; 0: never; default: the plan's, else 10")
    parser.add_argument("--load-weights", metavar="FILE", help="begin with these (safetensors)")
    parser.add_argument("--save-weights", metavar="FILE", help="write them at the end")
    parser.add_argument("--save-logits", metavar="FILE", help="of an inference: write the logits of "
                        "all vertices, in the numbering of the data (.npy)")
    parser.add_argument("--report", metavar="FILE", help="write losses, seconds and bytes (JSON)")
    parser.add_argument("--backend", choices=["gloo", "nccl"], default="gloo",
                        help="nccl: each rank has a GPU (gloo)")
    parser.add_argument("--local", action="store_true",
                        help="start all ranks here, as processes, without torchrun")
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors alone")
    return parser.parse_args(arguments)


def main(arguments=None):
    warnings.filterwarnings("ignore", ".*([Ss]parse| beta)")  # PyTorch calls some parts a beta
    options = options_of(arguments)
    if options.local:
        return local(options)
    return exit_code(options, int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1)))


if __name__ == "__main__":
    sys.exit(main())
