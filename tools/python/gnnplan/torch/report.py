"""Writes what a training found, in the keys of gnnrun's report where they mean the same."""

import json
import statistics

import torch

SCHEMA = "gnnplan.torch_run/1"
KEYS = {"setup": "setup", "epoch": "steps", "evaluation": "evaluation"}


def of_training(training, setup_seconds, counted):
    plan, settings = training.plan, training.rank.settings
    seconds = [record["seconds"] for record in training.records]
    sent = [sum(of_steps) for of_steps in zip(*counted["epoch"].values())]
    return {
        "settings": {"epochs": training.epochs, "learning_rate": settings.rate,
                     "weight_decay": settings.weight_decay,
                     "optimiser": plan.run.get("optimiser", "adam"),
                     "input_dropout": plan.dropout(1), "dropout": plan.dropout(2),
                     "feature_norm": plan.run.get("feature_norm", "none")},
        "epochs": training.records,
        "measured": {"epoch_seconds": statistics.median(seconds[1:] or seconds),
                     "total_bytes": sum(sent), "sent_bytes_by_rank": sent},
        "setup_seconds": setup_seconds,
    }


def of_inference(inference, scores):
    return {"task": "infer", **scores,
            "wall": {"setup_seconds": inference.setup_seconds,
                     "pass_seconds": inference.pass_seconds}}


def write(run, found, counted):
    """Writes the report of a task: what it has found, and what all reports have."""
    plan, options = run.plan, run.options
    document = {
        "schema": SCHEMA, "plan": plan.path, "seed": options.seed, "ranks": plan.ranks,
        "backend": options.backend, "torch": torch.__version__,
        "configuration": plan.configuration,
        "predicted": {"total_bytes": plan.predicted["total_bytes"]}, **found,
    }
    for phase, key in KEYS.items():
        document[key] = [entry(step, run.passes.predicted[step.name], counted[phase])
                         for step in plan.of_phase(phase) if phase in counted]
    with open(options.report, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def entry(step, predicted, counted):
    by_rank = counted[step.name]
    return {"name": step.name, "kind": step.kind,
            "predicted_bytes": sum(predicted), "counted_bytes": sum(by_rank),
            "predicted_bytes_by_rank": predicted, "counted_bytes_by_rank": by_rank}
