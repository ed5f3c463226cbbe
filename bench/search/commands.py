#!/usr/bin/env python3
"""How long the command takes: processor time (user and system) and memory of whole runs of `gnnplan plan`, on many
ranks from sizes alone, and on sparse graphs that it writes itself.

    bench/search/commands.py --bin build/release/bin [--rounds N] [--only NAME]

Prints a table: the least processor time of the rounds, the most memory, and the bar. A run is given up after ten times
its bar. The exit code is 1 when a bar is missed."""
import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile


def write_edges(path, edges):
    with open(path, "w", encoding="ascii") as file:
        for source, target in edges:
            file.write(f"{source} {target}\n")


def few_edges(largest):
    """Writes seven edges whose ids leave out most numbers."""
    numbers = random.Random(1)
    edges = [(numbers.randrange(largest), numbers.randrange(largest)) for _ in range(6)]
    return edges + [(largest, 3)]


def one_each(vertices):
    """Writes a graph in which every vertex has one edge, to a random vertex."""
    numbers = random.Random(2)
    return [(v, numbers.randrange(vertices)) for v in range(vertices)]


def of_degree(vertices, degree):
    numbers = random.Random(3)
    return [(numbers.randrange(vertices), numbers.randrange(vertices)) for _ in range(vertices * degree)]


GRAPHS = {
    "seven-of-1.2m": lambda: few_edges(1_155_073),
    "seven-of-9.9m": lambda: few_edges(9_899_999),
    "one-each": lambda: one_each(400_000),
    "degree-4": lambda: of_degree(100_000, 4),
}
NARROW = "--features 8 --classes 3 --hidden 8"
# Name, arguments, bar in seconds of processor time; none: only measured.
COMMANDS = [
    ("1,024 ranks", "--graph reddit --ranks 1024", None),
    ("4,096 ranks", "--graph reddit --ranks 4096", None),
    ("16,384 ranks", "--graph reddit --ranks 16384", 10),
    ("16,384 ranks, gat", "--graph reddit --ranks 16384 --model gat", 10),
    ("16,384 ranks, sage", "--graph reddit --ranks 16384 --model sage", 10),
    ("16,384 ranks, 3 layers", "--graph reddit --ranks 16384 --layers 3", 10),
    ("16,384 ranks, inference", "--graph reddit --ranks 16384 --task infer", 10),
    ("7 edges over 1.2 million ids, 2 ranks", f"--graph {{seven-of-1.2m}} {NARROW} --ranks 2", 1),
    ("the same, symmetrised", f"--graph {{seven-of-1.2m}} {NARROW} --ranks 2 --symmetrise", 1),
    ("7 edges over 9.9 million ids, 2 ranks", f"--graph {{seven-of-9.9m}} {NARROW} --ranks 2", None),
    ("400,000 vertices with one edge each, 2 ranks", f"--graph {{one-each}} {NARROW} --ranks 2", 3),
    ("the same, 8 ranks", f"--graph {{one-each}} {NARROW} --ranks 8", None),
    ("100,000 vertices of mean degree 4, 4 ranks", f"--graph {{degree-4}} {NARROW} --ranks 4", None),
]


def measure(program, arguments, limit):
    """Seconds of processor time and MiB of one run; None where it was given up."""
    def bounded():
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    run = subprocess.Popen([program, "plan", *arguments.split()], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, preexec_fn=bounded)
    _, status, usage = os.wait4(run.pid, 0)
    if status != 0:
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the folder of gnnplan")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="commands whose name has this in it")
    options = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        print("| `gnnplan plan` | processor time | memory | bar |\n|---|---|---|---|")
        for name, arguments, bar in COMMANDS:
            if options.only not in name:
                continue
            for graph, edges in GRAPHS.items():
                if "{" + graph + "}" in arguments and graph not in paths:
                    paths[graph] = os.path.join(folder, graph + ".txt")
                    write_edges(paths[graph], edges())
            for graph, path in paths.items():
                arguments = arguments.replace("{" + graph + "}", path)
            runs = [measure(os.path.join(options.bin, "gnnplan"), arguments, 10 * bar if bar else None)
                    for _ in range(options.rounds)]
            done = [run for run in runs if run]
            least = min((run[0] for run in done), default=None)
            memory = f"{max(run[1] for run in done):.0f} MiB" if done else "–"
            missed += bool(bar) and (least is None or least > bar)
            least_text = f"{least:.2f} s" if done else "given up"
            print(f"| {name} | {least_text} | {memory} | {f'{bar} s' if bar else '–'} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
