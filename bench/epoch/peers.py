#!/usr/bin/env python3
"""Whole training epochs of gnnplan beside PyTorch, PyTorch Geometric and DGL: same problem, same threads, taking turns.

    bench/epoch/peers.py --build build/release
    bench/epoch/peers.py --build build/release --problems arxiv --peers debian,dgl --json
    bench/epoch/peers.py --build build/release --quick          # a tiny problem: does everything run?

The frameworks are installed into virtual environments under --cache at the first call, 11 GB in all. Exit status 0 when
all bars are met, 1 when one is missed or losses say that problems differ, 2 when gnnplan did not run.
"""
import argparse, dataclasses, json, pathlib, sys

sys.dont_write_bytecode = True  # of the files beside this one

from peer_entrants import CORES, OURS, PEERS, Gnnplan, Peers, say
from peer_environments import NotAvailable, exit_with
from peer_figures import figures, loss_remarks, table, verdict

WARM_UP = 2  # epochs of every run that are left out: first touches


@dataclasses.dataclass(frozen=True)
class Problem:
    vertices: int
    nonzeros: int  # asked of the generator; some are duplicates
    widths: tuple[int, ...]
    bar: float | None  # Debian's PyTorch over gnnplan in plain order


PROBLEMS = {"arxiv": Problem(170_000, 2_490_000, (128, 256, 256, 40), 4),
            "mid": Problem(233_000, 28_500_000, (602, 128, 41), 8)}
QUICK = {"tiny": Problem(5_000, 60_000, (32, 64, 64, 8), None)}


def arguments():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="folder of the build")
    parser.add_argument("--cache", type=pathlib.Path, default=root / "build/peers", help="environments, problems, calibrations")
    parser.add_argument("--problems", type=names, help=f"of {','.join(PROBLEMS)}; default: all")
    parser.add_argument("--peers", type=names, default=list(PEERS), help=f"of {','.join(PEERS)}; default: all")
    parser.add_argument("--epochs", type=int, default=3, help="timed in each round, default 3")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument("--quick", action="store_true", help="one round on a tiny problem")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    known = QUICK if options.quick else PROBLEMS
    options.problems = options.problems or list(known)
    for chosen, all_names in ((options.problems, known), (options.peers, PEERS)):
        if unknown := set(chosen) - set(all_names):
            parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(all_names)}")
    if options.quick:
        options.rounds = 1
    if options.epochs < 1 or options.rounds < 1:
        parser.error("--epochs and --rounds must be at least 1")
    return options


def plans_of(gnnplan, peers, name, problem, cache):
    """Makes graph, arrays and plans, in so far as they are not there."""
    graph, folder = cache / f"{name}.npz", cache / name
    gnnplan.generate(graph, problem)
    peers.prepare(graph, folder)
    return graph, folder, {ours: gnnplan.plan(graph, problem, ours) for ours in OURS}


def measure(gnnplan, peers, name, problem, options):
    """Figures and labels of everything that runs, and the reasons of what does not."""
    graph, folder, plans = plans_of(gnnplan, peers, name, problem, options.cache)
    runs = {entrant: [] for entrant in [*peers.pythons, *OURS]}
    labels, missing = {entrant: of[0] for entrant, of in {**PEERS, **OURS}.items()}, dict(peers.missing)
    count = WARM_UP + options.epochs
    for turn in range(options.rounds):
        for entrant in [entrant for entrant in runs if entrant not in missing]:
            try:
                epochs, detail = (gnnplan.train(entrant, graph, plans[entrant], count) if entrant in OURS else
                                  peers.train(entrant, folder, problem.widths, count))
            except NotAvailable as reason:
                if entrant in OURS:
                    raise
                missing[entrant] = str(reason)
                continue
            runs[entrant].append(epochs)
            labels[entrant] = f"{(PEERS | OURS)[entrant][0]} ({detail})"
            say(f"{name}, round {turn + 1}, {labels[entrant]}: {min(e['seconds'] for e in epochs) * 1e3:.0f} ms")
    return {entrant: figures(of, WARM_UP) for entrant, of in runs.items() if entrant not in missing}, labels, missing


def main():
    options = arguments()
    options.cache = options.cache.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    gnnplan, peers = Gnnplan(options.build, options.cache, not options.quick), Peers(options.peers, options.cache)
    report, good = {}, True
    for name in options.problems:
        problem = (QUICK if options.quick else PROBLEMS)[name]
        results, labels, missing = measure(gnnplan, peers, name, problem, options)
        remarks = loss_remarks(results, problem.widths[-1])
        line, met = verdict(results, problem.bar)
        good = good and met is not False and not remarks
        report[name] = {"problem": dataclasses.asdict(problem), "results": results, "labels": labels, "missing": missing,
                        "remarks": remarks, "bar_met": met}
        if not options.json:
            widths = "-".join(map(str, problem.widths))
            print(f"**{name}**: {problem.vertices:,} vertices, GCN {widths}\n\n{table(results, labels, missing)}\n")
            print("".join(text + "\n" for text in [line or "", *remarks] if text), flush=True)
    if options.json:
        print(json.dumps({"schema": "gnnplan.epoch_peers/1", "cores": CORES, "warm_up": WARM_UP, "problems": report}, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    exit_with(main)
