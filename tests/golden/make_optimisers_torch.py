#!/usr/bin/python3
"""Writes optimisers_torch.txt: ten steps of each optimiser of gnnplan as PyTorch takes them, in double precision; and
what its schedulers multiply learning rates by, after losses that fall, stay and rise.

Run by hand with PyTorch installed; the result is kept beside this script, so that tests need no Python. Usage:
make_optimisers_torch.py > optimisers_torch.txt
"""
import platform

import torch

STEPS, ELEMENTS, LEARNING_RATE, WEIGHT_DECAY, MOMENTUM = 10, 5, 0.0625, 0.125, 0.75
RULES = {"adam": (torch.optim.Adam, {}), "sgd": (torch.optim.SGD, {}),
         "momentum": (torch.optim.SGD, {"momentum": MOMENTUM}), "adamw": (torch.optim.AdamW, {}),
         "rmsprop": (torch.optim.RMSprop, {})}

LOSSES = [3, 2.5, 2.6, 2.4, 2.39995, 2.5, 2.3, 2.3, 2.2999, 2.31, 2.32, 2.33, 1, 1.5, 1.5, 1.5]
SCHEDULES = {"warmup:5": lambda steps: torch.optim.lr_scheduler.LambdaLR(steps, lambda epoch: min(1, (epoch + 1) / 5)),
             "step:3:0.5": lambda steps: torch.optim.lr_scheduler.StepLR(steps, 3, 0.5),
             "cosine:16": lambda steps: torch.optim.lr_scheduler.CosineAnnealingLR(steps, 16),
             "plateau:0.5:1": lambda steps: torch.optim.lr_scheduler.ReduceLROnPlateau(steps, factor=0.5, patience=1),
             "plateau:0.25:0": lambda steps: torch.optim.lr_scheduler.ReduceLROnPlateau(steps, factor=0.25, patience=0)}


def put(name, tensor):
    values = tensor.detach().reshape(-1).tolist() if torch.is_tensor(tensor) else tensor
    print(name, len(values), *(repr(value) for value in values))


def main():
    print(f"# PyTorch {torch.__version__}, Python {platform.python_version()}; written by make_optimisers_torch.py")
    print("# name, count, values; a row for each step")
    generator = torch.Generator().manual_seed(20261128)
    first = torch.rand(ELEMENTS, dtype=torch.float64, generator=generator) * 4 - 2
    gradients = torch.rand(STEPS, ELEMENTS, dtype=torch.float64, generator=generator) * 2 - 1
    gradients[:, 0] = 0  # decay alone
    for name, value in [("learning_rate", LEARNING_RATE), ("weight_decay", WEIGHT_DECAY), ("momentum_rate", MOMENTUM)]:
        put(name, [value])
    put("first", first)
    put("gradients", gradients)
    for name, (optimiser, settings) in RULES.items():
        weight = first.clone().requires_grad_()
        steps = optimiser([weight], lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, **settings)
        weights = []
        for gradient in gradients:
            weight.grad = gradient.clone()
            steps.step()
            weights.append(weight.detach().clone())
        put(name, torch.stack(weights))
    put("losses", LOSSES)
    for name, scheduler in SCHEDULES.items():
        steps = torch.optim.SGD([first.clone().requires_grad_()], lr=LEARNING_RATE)
        schedule, factors = scheduler(steps), []
        for loss in LOSSES:
            factors.append(steps.param_groups[0]["lr"] / LEARNING_RATE)
            steps.step()
            schedule.step(*([loss] if name.startswith("plateau") else []))
        put(name, factors)


if __name__ == "__main__":
    main()
