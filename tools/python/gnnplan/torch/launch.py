"""Starts this process's part of a training: one rank of torchrun's, or all ranks as processes."""

import multiprocessing
import os
import sys
import tempfile

import torch
import torch.distributed as dist

from .._errors import Error, make
from .errors import MISMATCH, UNAVAILABLE
from .infer import Inference, check_options
from .plan import Plan
from .steps import check
from .train import Training
from .wire import Wire


def checked_plan(options, ranks=None):
    """The plan, which must be one that this module runs, on so many ranks."""
    plan = Plan(options.plan)
    check(plan)
    check_options(options, plan.infers)
    if ranks is not None and plan.ranks != ranks:
        raise make(MISMATCH, f"{options.plan} is for {plan.ranks} ranks, and {ranks} were "
                   f"started: start it with torchrun --nproc_per_node {plan.ranks}, or with "
                   "--local")
    return plan


def device_of(options, local_rank):
    if options.backend == "gloo":
        return torch.device("cpu")
    if local_rank >= torch.cuda.device_count():
        raise make(UNAVAILABLE, f"There is no GPU here for rank {local_rank}, and nccl wants "
                   "one for each: use --backend gloo")
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)


def run(options, rank, ranks, meeting=None):
    """Trains on one rank; meeting: a file by which ranks find each other, not the environment."""
    plan = checked_plan(options, ranks)
    device = device_of(options, int(os.environ.get("LOCAL_RANK", rank)))
    task = Inference if plan.infers else Training
    work = task(plan, options, Wire(rank, device))
    try:
        if ranks > 1 and meeting:
            dist.init_process_group(options.backend, init_method="file://" + meeting, rank=rank,
                                    world_size=ranks)
        elif ranks > 1:
            dist.init_process_group(options.backend)
        if ranks > 1:
            dist.barrier()  # NCCL wants all ranks in the first call of a group
        work.run()
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def exit_code(options, rank, ranks, meeting=None):
    """Trains on one rank; rank 0 says what is wrong, which is the same on all."""
    try:
        run(options, rank, ranks, meeting)
    except Error as error:
        if rank == 0:
            print(f"error: {error}", file=sys.stderr, flush=True)
        return error.code
    return 0


def _process(options, rank, ranks, meeting):
    torch.set_num_threads(1)
    sys.exit(exit_code(options, rank, ranks, meeting))


def local(options):
    """Runs all ranks of the plan as processes of this machine."""
    try:
        ranks = checked_plan(options).ranks
    except Error as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return error.code
    if ranks == 1:
        return exit_code(options, 0, 1)
    context = multiprocessing.get_context("fork" if options.backend == "gloo" else "spawn")
    with tempfile.TemporaryDirectory() as folder:
        meeting = os.path.join(folder, "meeting")
        processes = [context.Process(target=_process, args=(options, rank, ranks, meeting))
                     for rank in range(ranks)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    return max(abs(process.exitcode) for process in processes)
