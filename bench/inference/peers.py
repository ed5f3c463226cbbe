#!/usr/bin/env python3
"""Inference of all vertices beside DGL: from an edge list on disk to embeddings on disk, taking turns.

    bench/inference/peers.py --build build/release --problem tiny --agreement
    bench/inference/peers.py --build build/release --problem arxiv --model gcn --rounds 3
    bench/inference/peers.py --build build/release --problem mid --model gat --edges npz --ranks 1 2

Three layers, 128 wide (GAT: four heads, the last layer has one), 50 drawn neighbours of each vertex. Makes DGL's environment
and the problem under --cache at the first call, which takes minutes. Seconds of DGL leave out its imports; those of gnnplan
are of the whole command, mpirun included. *construct* is reading and all that makes a graph of it, without features; of gnnplan
it has drawing neighbours and cutting blocks in it, which DGL does while it infers. `--agreement` compares embeddings of all neighbours in place of clocks; exit status
1 where they differ by more than 1e-4.
"""
import argparse, json, os, pathlib, statistics, sys, time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "epoch"))

import peer_entrants as epoch
from peer_environments import DGL, call, exit_with, python_of

SIZES = {"tiny": (5_000, 60_000), "arxiv": (170_000, 2_490_000), "mid": (233_000, 28_500_000)}
WIDTHS, HEADS, FANOUT = "128,128,128,40", 4, 50
CORES, LONGEST, TOLERANCE = epoch.CORES, epoch.LONGEST, 1e-4
# DGL as in its example, and as fast as it was made to be here.
PEERS = {"DGL, inference() of its example": ["--build", "bidirected", "--way", "loader", "--batch", "4096"],
         "DGL, larger batches": ["--build", "bidirected", "--way", "loader", "--batch", "65536"],
         "DGL, SciPy's CSR and whole layers": ["--build", "scipy", "--way", "whole"]}


class Bench:
    def __init__(self, options):
        self.options = options
        cache = options.cache.resolve()
        cache.mkdir(parents=True, exist_ok=True)
        self.tools, self.python = options.build.resolve() / "bin", python_of(DGL, cache)
        self.folder, self.out = cache / f"infer-{options.problem}", cache / "embeddings.npy"
        self.edges = self.folder / ("edges.csv" if options.edges == "csv" else "data.npz")
        if not (self.folder / "complete").exists():
            graph = cache / f"infer-{options.problem}.npz"
            vertices, nonzeros = SIZES[options.problem]
            call([self.tools / "gnnplan", "graph", "generate", "rmat", "--vertices", vertices, "--nonzeros", nonzeros,
                  "--features", WIDTHS.split(",")[0], "--classes", WIDTHS.split(",")[-1], "--seed", 1, "-o", graph], LONGEST)
            call([self.python, HERE / "problem.py", graph, self.folder, "--widths", WIDTHS, "--heads", HEADS], LONGEST)
            (self.folder / "complete").touch()

    def plan(self, ranks, fanout):
        """The plan's file, and how long it took to make."""
        path = self.folder / f"{self.options.model}-{ranks}-{fanout}-{self.options.edges}.json"
        begin = time.perf_counter()
        call([self.tools / "gnnplan", "plan", "--task", "infer", "--graph", self.edges, "--symmetrise", "--widths", WIDTHS,
              "--model", self.options.model, *(["--heads", HEADS] if self.options.model == "gat" else []), "--fanout", fanout,
              "--ranks", ranks, *(["--machine", self.options.machine] if self.options.machine else []), "-o", path], LONGEST)
        return path, time.perf_counter() - begin

    def ours(self, plan, ranks):
        threads = max(1, CORES // ranks)
        report = self.folder / "report.json"
        # More ranks than cores take turns, and must not poll while they wait.
        launcher = (["mpirun", "-n", ranks, "--oversubscribe", "--bind-to", "core" if ranks <= CORES else "none", "--mca",
                     "mpi_yield_when_idle", int(ranks > CORES)] if ranks > 1 else [])
        begin = time.perf_counter()
        call([*launcher, self.tools / "gnnrun", plan, "--data", self.edges, "--load-weights",
              self.folder / f"{self.options.model}.safetensors", "--save-embeddings", self.out, "--threads", threads, "--report",
              report, "-q"], LONGEST, env=epoch.surroundings(threads))
        total = time.perf_counter() - begin
        read = json.loads(report.read_text())
        wall, steps = read["wall"], {step["name"]: step["measured_seconds"] for step in read["setup"]}
        return {"construct": wall["load_seconds"] + wall["setup_seconds"] - steps["setup.initialise"], "infer": wall["pass_seconds"], "total": total,
                "steps": steps, "configuration": read["configuration"]}

    def peer(self, flags, fanout):
        done = json.loads(call([self.python, HERE / "dgl_infer.py", self.options.model, self.folder, "--edges",
                                self.options.edges, "--fanout", fanout, "--threads", CORES, "--save", self.out, *flags], LONGEST,
                               env=epoch.surroundings(CORES), preexec_fn=epoch.memory_limit()))
        s = done["seconds"]
        return {"construct": s["read"] + s["build"], "infer": s["infer"], "total": s["total"] - s["import"], "steps": s}


def agreement(bench):
    """Largest difference of embeddings of all neighbours, over the largest embedding."""
    import subprocess

    bench.edges = bench.folder / "data.npz"
    bench.options.edges = "npz"
    bench.ours(bench.plan(1, "full")[0], 1)
    ours = bench.folder / "ours.npy"
    bench.out.replace(ours)
    worst = 0
    for label, flags in PEERS.items():
        bench.peer(flags, 0)
        text = ("import numpy, sys; a, b = map(numpy.load, sys.argv[1:]); assert a.shape == b.shape; "
                "print(abs(a - b).max() / abs(a).max())")
        error = float(subprocess.check_output([bench.python, "-c", text, ours, bench.out]))
        print(f"{bench.options.problem}, {bench.options.model}, {label}: {error:.1e}", flush=True)
        worst = max(worst, error)
    return 0 if worst <= TOLERANCE else 1


def table(runs):
    first = {key: statistics.median(run[key] for run in runs[next(iter(PEERS))]) for key in ("construct", "total")}
    lines = ["| | construct, s: median (min-max) | infer | total | construct, times as fast | total, times as fast |",
             "|---|---|---|---|---|---|"]
    for label, of in runs.items():
        middle = {key: statistics.median(run[key] for run in of) for key in ("construct", "infer", "total")}
        cells = [f"{middle[key]:.2f} ({min(r[key] for r in of):.2f}-{max(r[key] for r in of):.2f})" for key in middle]
        lines.append(f"| {label} | {' | '.join(cells)} | " +
                     " | ".join(f"{first[key] / middle[key]:.1f}" for key in first) + " |")
    return "\n".join(lines)


def main():
    root = HERE.parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="folder of the build")
    parser.add_argument("--cache", type=pathlib.Path, default=root / "build/peers", help="environment and problems")
    parser.add_argument("--problem", choices=SIZES, default="arxiv")
    parser.add_argument("--model", choices=["gcn", "gat"], default="gcn")
    parser.add_argument("--edges", choices=["csv", "npz"], default="csv", help="csv: features are made; npz: they are read")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--machine", help="profile to plan with; default: what gnnplan plan takes")
    parser.add_argument("--peers", type=int, nargs="*", default=list(range(len(PEERS))), help="which ways of DGL, from 0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--agreement", action="store_true", help="compare embeddings, with all neighbours")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="all runs as JSON; what the file has is taken up")
    options = parser.parse_args()
    bench = Bench(options)
    if options.agreement:
        return agreement(bench)
    peers = {label: flags for i, (label, flags) in enumerate(PEERS.items()) if i in options.peers}
    ours = {}
    for ranks in options.ranks:
        plan, seconds = bench.plan(ranks, FANOUT)
        ours[f"gnnplan, {ranks} x {max(1, CORES // ranks)}"] = (plan, ranks)
        print(f"planned for {ranks} in {seconds:.2f} s", file=sys.stderr)
    before = json.loads(options.output.read_text())["runs"] if options.output and options.output.exists() else {}
    runs = {label: before.get(label, []) for label in [*peers, *ours]}
    for _ in range(options.rounds):
        for label, of in runs.items():
            of.append(bench.peer(peers[label], FANOUT) if label in peers else bench.ours(*ours[label]))
            print(label, json.dumps({key: of[-1][key] for key in ("construct", "infer", "total")}), file=sys.stderr, flush=True)
    print(f"**{options.problem}, {options.model}, {options.edges}**\n\n{table(runs)}")
    if options.output:
        options.output.write_text(json.dumps({"command": sys.argv, "runs": runs}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    exit_with(main)
