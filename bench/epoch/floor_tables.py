#!/usr/bin/env python3
"""The steps of whole epochs beside their floors: plans, runs and `floor` of GCN, GraphSAGE and GAT, on one rank and on two.

    bench/epoch/floor_tables.py --build build/release
    bench/epoch/floor_tables.py --build build/release --problems arxiv,sage --ranks 1 --epochs 30
    bench/epoch/floor_tables.py --build build/release --quick         # a tiny problem: does everything run?

Prints Markdown. Graphs, calibrations and plans are kept under --cache; remove a file there to have it made again. Exit
status 2 when something did not run.
"""
import argparse, dataclasses, json, pathlib, sys

sys.dont_write_bytecode = True  # of the files beside this one

from peer_entrants import CORES, LEARNING_RATE, LONGEST, Gnnplan, call, say
from peer_environments import exit_with
from peers import PROBLEMS as GRAPHS, QUICK

SMALL = 1 / 20  # of the epoch: steps below are added up in one row


@dataclasses.dataclass(frozen=True)
class Case:
    graph: str
    hidden: int
    layers: int
    model: tuple[str, ...] = ()  # arguments of `gnnplan plan`
    name: str = "GCN"


CASES = {"arxiv": Case("arxiv", 256, 3), "mid": Case("mid", 128, 2),
         "sage": Case("arxiv", 256, 2, ("--model", "sage", "--aggregator", "mean"), "GraphSAGE, mean"),
         "gat": Case("arxiv", 256, 2, ("--model", "gat", "--heads", "8"), "GAT, 8 heads")}
TINY = {"tiny": Case("tiny", 64, 3)}


def arguments():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="folder of the build")
    parser.add_argument("--cache", type=pathlib.Path, default=root / "build/peers", help="graphs, calibrations, plans")
    parser.add_argument("--problems", type=lambda text: text.split(","), help=f"of {','.join(CASES)}; default: all")
    parser.add_argument("--ranks", type=lambda text: [int(ranks) for ranks in text.split(",")], default=[1, CORES],
                        help=f"of {CORES} cores; default: 1,{CORES}")
    parser.add_argument("--epochs", type=int, default=20, help="of each run, default 20; figures are medians")
    parser.add_argument("--rounds", type=int, default=3, help="runs and floors of each problem, taking turns, default 3")
    parser.add_argument("--quick", action="store_true", help="a tiny problem, planned with a preset")
    parser.add_argument("--json", action="store_true", help="print the JSON of all tables")
    options = parser.parse_args()
    known = TINY if options.quick else CASES
    options.problems = options.problems or list(known)
    if unknown := set(options.problems) - set(known):
        parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(known)}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if any(ranks < 1 or CORES % ranks for ranks in options.ranks):
        parser.error(f"--ranks must divide the {CORES} cores")
    options.cases = {name: known[name] for name in options.problems}
    return options


def processor():
    """Make and model, as the system has them."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def floor_of(gnnplan, name, case, ranks, options):
    """The document of `floor` for a run of the plan that is picked."""
    graph = gnnplan.cache / f"{case.graph}.npz"
    gnnplan.generate(graph, (QUICK if options.quick else GRAPHS)[case.graph])
    plan, report = (gnnplan.cache / f"floor-{name}-{ranks}.{kind}.json" for kind in ("plan", "run"))
    threads = CORES // ranks
    if not plan.exists():
        call([gnnplan.tools / "gnnplan", "plan", "--graph", graph, "--hidden", case.hidden, "--layers", case.layers,
              *case.model, "--ranks", ranks, "--machine", gnnplan.machine(ranks), "-o", plan], LONGEST)
    say(f"{name}: {options.epochs} epochs, ranks x threads {ranks} x {threads}")
    gnnplan.on_all_cores(ranks, [gnnplan.tools / "gnnrun", plan, "--data", graph, "--epochs", options.epochs, "--threads",
                                 threads, "--lr", LEARNING_RATE, "--weight-decay", 0, "--autotune", 0, "--eval-every", 0,
                                 "--report", report, "-q"])
    return json.loads(call([gnnplan.tools / "floor", plan, "--data", graph, "--report", report, "--json"], LONGEST))


def best(documents):
    """One document of several of the same plan: the least floors, the least times and the highest peaks. A machine that
    others use has minutes in which its memory is half as fast, and runs need not meet the same ones as peaks."""
    least = lambda key, of: min(each[key] for each in of)
    found = dict(documents[0])
    for key in ("sum_seconds", "fused_seconds", "reuse_aware_sum_seconds", "measured_seconds"):
        found[key] = least(key, documents)
    found["peaks"] = {key: max((each["peaks"][key] for each in documents), key=lambda value: value or 0)
                      for key in found["peaks"]}
    found["steps"] = []
    for same in zip(*(each["steps"] for each in documents)):
        seconds = {key: least(key, same) for key in ("floor_seconds", "reuse_aware_seconds", "measured_seconds")}
        excess = seconds["measured_seconds"] - seconds["floor_seconds"]
        found["steps"].append({"name": same[0]["name"], "kind": same[0]["kind"], "bound": same[0]["bound"], **seconds,
                               "excess_seconds": excess,
                               "waiting_seconds": least("waiting_seconds", same)})
    return found


def row(name, floor, bound, reuse, measured, waiting, epoch):
    ratio = f"{measured / floor:.2f}" if floor > 0 else "–"
    figures = [f"{1e3 * floor:.1f}", bound, "" if reuse is None else f"{1e3 * reuse:.1f}", f"{1e3 * measured:.1f}", ratio,
               f"{1e3 * (measured - floor):.1f}", "" if waiting is None else f"{1e3 * waiting:.1f}", f"{100 * measured / epoch:.0f} %"]
    return "| " + " | ".join([name, *figures]) + " |"


def table(document):
    """Markdown: the steps with the largest excess first, those that take little as one row, and both sums."""
    epoch = document["measured_seconds"]
    steps = sorted(document["steps"], key=lambda step: -step["excess_seconds"])
    small = [step for step in steps if step["measured_seconds"] < SMALL * epoch]
    lines = ["| step, ms | floor | bound by | reuse-aware | measured | ratio | excess | waiting | of epoch |", "|---" * 9 + "|"]
    lines += [row(f"`{step['name']}`", step["floor_seconds"], step["bound"], step["reuse_aware_seconds"],
                  step["measured_seconds"], step["waiting_seconds"], epoch) for step in steps if step not in small]
    if small:
        total = lambda key: sum(step[key] for step in small)
        lines.append(row(f"{len(small)} steps below {SMALL:.0%} each", total("floor_seconds"), "",
                         total("reuse_aware_seconds"), total("measured_seconds"),
                         total("waiting_seconds"), epoch))
    lines.append(row("epoch: sum of steps", document["sum_seconds"], "", document["reuse_aware_sum_seconds"], epoch, None,
                     epoch))
    lines.append(row("epoch: fused", document["fused_seconds"], "", None, epoch, None, epoch))
    return "\n".join(lines)


def heading(name, case, ranks, document):
    peaks = document["peaks"]
    return (f"**{name}**: {case.name}, ranks × threads {ranks} × {CORES // ranks}. Peaks of a rank: "
            f"{peaks['flops_per_second'] / 1e9:.0f} GF/s, {peaks['read_bytes_per_second'] / 1e9:.0f} GB/s read, "
            f"{peaks['written_bytes_per_second'] / 1e9:.0f} GB/s written.")


def main():
    options = arguments()
    options.cache = options.cache.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    gnnplan = Gnnplan(options.build, options.cache, not options.quick)
    turns = [(name, case, ranks) for name, case in options.cases.items() for ranks in options.ranks]
    rounds = [[floor_of(gnnplan, *turn, options) for turn in turns] for _ in range(options.rounds)]
    documents = [{"problem": name, "model": case.name, **best(same)} for (name, case, _), same in zip(turns, zip(*rounds))]
    if not options.json:
        print(f"{processor()}, {CORES} cores\n")
        for (name, case, ranks), document in zip(turns, documents):
            print(f"{heading(name, case, ranks, document)}\n\n{table(document)}\n")
    if options.json:
        print(json.dumps({"schema": "gnnplan.epoch_floors/1", "processor": processor(), "floors": documents}, indent=1))
    return 0


if __name__ == "__main__":
    exit_with(main)
