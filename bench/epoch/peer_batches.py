#!/usr/bin/env python3
"""Training on GraphSAINT's batches with gnnplan beside PyTorch Geometric and DGL: batches a second, taking turns.

    bench/epoch/peer_batches.py --build build/release --snap soc-slashdot0902.txt.gz ego-twitter.txt.gz
    bench/epoch/peer_batches.py --build build/release --quick          # a small planted graph: does everything run?

A GCN of two layers trains on batches of walks (--walk R:H) of bench/accuracy/planted_reddit.py's graph, and of edge
lists with random features. Each entrant has two cores: gnnplan as one rank with two threads, as two ranks with a batch
each, of two an update, and as two ranks on one batch; the others with two threads in one process, and with a worker
that draws while one thread trains. Times are of drawing and cutting batches, forward, backward and update, without what
comes before training (coefficients, reading), which has a column of its own; PyTorch Geometric's coefficients are kept
under --cache, so that this column is of the round that counted them. DGL's sampler has no coefficients; gnnplan and
PyTorch Geometric have (`--coefficients off`: neither). Batches a second are medians of the rounds. Let nothing else
run: on a busy machine threads of PyTorch wait for one another for ten times as long as they compute.

Environments are installed under --cache at the first call, 11 GB; torch_sparse is compiled, for half an hour. Exit
status 0 when the best of gnnplan is at least --bar times as fast as the best of each peer, 1 when not, 2 when gnnplan
did not run.
"""
import argparse, json, pathlib, statistics, sys

sys.dont_write_bytecode = True  # of the files beside this one

from peer_entrants import CORES, HERE, LONGEST, memory_limit, say, surroundings
from peer_environments import DGL, SAINT, NotAvailable, call, exit_with, python_of

HIDDEN, FEATURES, CLASSES, WARM_UP = 128, 128, 41, 5
# Label, framework, environment, workers.
PEERS = {"pyg": ("PyTorch Geometric, 2 threads", "pyg", SAINT, 0),
         "pyg-worker": ("PyTorch Geometric, 1 thread and a worker", "pyg", SAINT, 1),
         "dgl": ("DGL, 2 threads", "dgl", DGL, 0), "dgl-worker": ("DGL, 1 thread and a worker", "dgl", DGL, 1)}
# Label, ranks, grid, batches of an update.
OURS = {"1x1": ("gnnplan, 1 rank of 2 threads", 1, "1x1", 1),
        "2x1": ("gnnplan, 2 ranks with a batch each", 2, "2x1", 2),
        "1x2": ("gnnplan, 2 ranks on a batch", 2, "1x2", 1)}
SMALL = ["--vertices", 23_300, "--nonzeros", 1_100_000]


class Bench:
    def __init__(self, options):
        self.options, self.tools = options, options.build.resolve() / "bin"
        self.pythons, self.missing = {}, {}
        for name in options.peers:
            try:
                self.pythons[name] = python_of(PEERS[name][2], options.cache)
            except NotAvailable as reason:
                self.missing[name] = str(reason)

    def problem(self, name, edges):
        """The data set for gnnplan and the folder for the others; both are made if they are not there."""
        if not self.pythons:
            raise NotAvailable(f"no peer is: {self.missing}")
        python = next(iter(self.pythons.values()))
        graph, folder = self.options.cache / f"{name}.npz", self.options.cache / name
        if not graph.exists():
            say(f"{name}: making it")
            made = graph.with_suffix(".part.npz")
            call([python, HERE / "peer_problem.py", "dress", edges, made, FEATURES, CLASSES] if edges else
                 [python, HERE.parent / "accuracy" / "planted_reddit.py", made, "--features", FEATURES, "--classes",
                  CLASSES, *(SMALL if self.options.quick else [])], LONGEST)
            made.rename(graph)
        if not (folder / "complete").exists():
            call([python, HERE / "peer_problem.py", graph, folder], LONGEST)
            (folder / "complete").touch()
        return graph, folder

    def plan(self, graph, name):
        _, ranks, grid, batches = OURS[name]
        plan, machine = graph.with_name(f"{graph.stem}-batches-{name}.json"), self.options.machine
        call([self.tools / "gnnplan", "plan", "--graph", graph, "--hidden", HIDDEN, "--layers", 2, "--ranks", ranks,
              "--grid", grid, "--sampler", f"walk:{self.options.walk}", "--batches-per-update", batches, "--coverage",
              self.options.coverage, "--coefficients", self.options.coefficients,
              *(["--machine", machine] if machine else []), "-o", plan], LONGEST)
        return plan

    def ours(self, graph, plan, name):
        _, ranks, _, batches = OURS[name]
        report, threads = self.options.cache / "batches-report.json", CORES // ranks
        call([self.tools / "gnnrun", plan, "--data", graph, "--in-process", "--epochs",
              WARM_UP + self.options.batches // batches, "--threads", threads, "--weight-decay", 0, "--autotune", 0,
              "--eval-every", 0, "--report", report, "-q"], LONGEST, env=surroundings(threads))
        read = json.loads(report.read_text())
        epochs, c = read["epochs"][WARM_UP:], read["configuration"]
        size = {key: read["batches"][key] for key in ("vertices", "nonzeros")} if "batches" in read else {}
        return {"rate": batches * len(epochs) / sum(epoch["seconds"] for epoch in epochs), "loss": epochs[-1]["loss"],
                "before": read["wall"]["setup_seconds"], "detail": f"{c['forward']} {c['backward']}", **size}

    def peer(self, folder, name):
        _, framework, _, workers = PEERS[name]
        coverage = self.options.coverage if self.options.coefficients == "on" else 0
        said = call([self.pythons[name], HERE / "peer_batches_train.py", framework, folder, "--walk", self.options.walk,
                     "--widths", f"{FEATURES},{HIDDEN},{CLASSES}", "--batches", self.options.batches, "--warm-up",
                     WARM_UP, "--coverage", coverage, "--workers", workers, "--threads", CORES - workers], LONGEST,
                    env=surroundings(CORES - workers), preexec_fn=memory_limit())
        done = json.loads(said.splitlines()[-1])
        return {"rate": done["batches"] / done["seconds"], "loss": done["losses"][-1], "before": done["before_seconds"],
                "detail": done["version"], "vertices": done["vertices"], "nonzeros": done["nonzeros"]}


def measure(bench, name, edges):
    """Runs of everything that runs, by entrant."""
    graph, folder = bench.problem(name, edges)
    plans = {ours: bench.plan(graph, ours) for ours in OURS}
    runs = {entrant: [] for entrant in [*bench.pythons, *OURS]}
    for turn in range(bench.options.rounds):
        for entrant in [entrant for entrant in runs if entrant not in bench.missing]:
            try:
                found = bench.ours(graph, plans[entrant], entrant) if entrant in OURS else bench.peer(folder, entrant)
            except NotAvailable as reason:
                if entrant in OURS:
                    raise
                bench.missing[entrant] = str(reason)
                continue
            runs[entrant].append(found)
            say(f"{name}, round {turn + 1}, {entrant}: {found['rate']:.1f} batches a second")
    return {entrant: of for entrant, of in runs.items() if entrant not in bench.missing}


def table(runs, missing):
    rates = {entrant: statistics.median(one["rate"] for one in of) for entrant, of in runs.items()}
    best = max(rates[entrant] for entrant in OURS)
    lines = ["| | batches a second: median (min-max) | ms a batch | best of gnnplan, times as fast | last loss | "
             "vertices | nonzeros | before training, s |", "|---|---|---|---|---|---|---|---|"]
    for entrant, of in runs.items():
        size = [f"{statistics.median(one[key] for one in of):,.0f}" if key in of[0] else ""
                for key in ("vertices", "nonzeros")]
        lines.append(f"| {(PEERS | OURS)[entrant][0]} ({of[0]['detail']}) | {rates[entrant]:.1f} "
                     f"({min(one['rate'] for one in of):.1f}-{max(one['rate'] for one in of):.1f}) | "
                     f"{1e3 / rates[entrant]:.1f} | {best / rates[entrant]:.2f} | {of[-1]['loss']:.3f} | "
                     f"{' | '.join(size)} | {max(one['before'] for one in of):.1f} |")
    return "\n".join([*lines, *(f"| {PEERS[name][0]} | {reason} | | | | | | |" for name, reason in missing.items())])


def verdict(runs, bar):
    """A line for each framework, and whether gnnplan is fast enough beside all that ran."""
    rate = lambda entrant: statistics.median(one["rate"] for one in runs[entrant])
    best, lines, met = max(rate(entrant) for entrant in OURS), [], True
    for framework in ("pyg", "dgl"):
        theirs = [rate(entrant) for entrant in runs if entrant in PEERS and PEERS[entrant][1] == framework]
        if theirs:
            met = met and best / max(theirs) >= bar
            lines.append(f"{best / max(theirs):.2f} times the best of {framework}: bar {bar:g} "
                         f"{'met' if best / max(theirs) >= bar else 'missed'}.")
    return "\n".join(lines), met


def arguments():
    root = HERE.parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="folder of the build")
    parser.add_argument("--cache", type=pathlib.Path, default=root / "build/peers", help="environments and problems")
    parser.add_argument("--snap", type=pathlib.Path, nargs="*", default=[], help="edge lists that are trained on, too")
    parser.add_argument("--no-planted", action="store_true", help="only the edge lists")
    parser.add_argument("--quick", action="store_true", help="a planted graph of a tenth of the size, two rounds")
    parser.add_argument("--walk", default="3000:2", help="roots:steps, default 3000:2")
    parser.add_argument("--coefficients", choices=["on", "off"], default="on")
    parser.add_argument("--coverage", type=int, default=50)
    parser.add_argument("--machine", help="profile to plan with; default: what gnnplan plan takes")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--batches", type=int, default=100, help="timed in each round, default 100")
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    parser.add_argument("--bar", type=float, default=2)
    parser.add_argument("-o", "--output", type=pathlib.Path, help="all runs as JSON")
    options = parser.parse_args()
    options.rounds = min(options.rounds, 2) if options.quick else options.rounds
    options.cache = options.cache.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    return options


def main():
    options = arguments()
    bench, report, good = Bench(options), {}, True
    planted = [] if options.no_planted else [("planted-reddit-small" if options.quick else "planted-reddit", None)]
    for name, edges in [*planted, *((path.name.split(".")[0], path) for path in options.snap)]:
        runs = measure(bench, name, edges)
        line, met = verdict(runs, options.bar)
        good, report[name] = good and met, runs
        print(f"**{name}**: walk:{options.walk}, GCN {FEATURES}-{HIDDEN}-{CLASSES}, coefficients "
              f"{options.coefficients}\n\n{table(runs, bench.missing)}\n\n{line}\n", flush=True)
    if options.output:
        written = {"command": sys.argv, "missing": bench.missing, "runs": report}
        options.output.write_text(json.dumps(written, indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    exit_with(main)
