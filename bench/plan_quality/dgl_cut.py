#!/usr/bin/env python3
"""Libra's replication factors beside those of DGL's partitioner (dgl.distgnn, DistGNN's own) on the same stream of edges.

  bench/plan_quality/dgl_cut.py --build build/release --cache DIR [--parts 4 16] GRAPH...

`cuts stream` prints the edges as our rule gets them; DGL's code deals the same edges one after the other, breaking ties of
load at random, so that its factor differs from run to run: the mean of `--runs` is shown. DGL 2.1 and the PyTorch of its
time are installed into DIR, if they are not there.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "epoch"))

from peer_environments import DGL, exit_with, python_of

# Runs in DGL's environment: the stream, parts and a folder for what DGL writes.
DEAL = """
import sys, time
import numpy, torch
from dgl._sparse_ops import libra_vertex_cut
edges = torch.from_numpy(numpy.loadtxt(sys.argv[1], dtype=numpy.int64))
parts, folder = int(sys.argv[2]), sys.argv[3]
u, v = edges[:, 0].contiguous(), edges[:, 1].contiguous()
vertices = int(edges.max()) + 1
degree = torch.bincount(torch.cat([u, v]), minlength=vertices)
dealt = torch.zeros(len(u), dtype=torch.int32)
loads = torch.zeros(parts, dtype=torch.int64)
start = time.monotonic()
libra_vertex_cut(parts, degree, degree.clone(), loads, u, v, torch.ones(len(u), dtype=torch.int64), dealt, vertices, len(u), folder)
seconds = time.monotonic() - start
pairs = torch.unique(torch.cat([u, v]) * parts + torch.cat([dealt, dealt]).long())
print(len(pairs) / int((degree > 0).sum()), float(loads.max()) * parts / len(u), seconds)
"""


def ours(build, graph, parts):
    rows = subprocess.run([build / "bin" / "cuts", str(parts), graph], check=True, capture_output=True, text=True).stdout
    cells = next(re.split(r"\s*\|\s*", row.strip("| \n")) for row in rows.splitlines() if "| Libra |" in row)
    return float(cells[3]), float(cells[5]), float(cells[6])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", type=pathlib.Path, nargs="+")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="where DGL's environment is, or will be")
    parser.add_argument("--parts", type=int, nargs="+", default=[4, 16])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    python = python_of(DGL, options.cache)
    print("| graph | parts | Libra: replication | DGL: replication | ratio | Libra: most edges / mean | DGL | Libra: s | DGL: s |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "deal.py").write_text(DEAL)
        for graph in options.graphs:
            stream = folder / "stream"
            with stream.open("w") as out:
                subprocess.run([options.build / "bin" / "cuts", "stream", graph], check=True, stdout=out)
            for parts in options.parts:
                runs = []
                for run in range(options.runs):
                    to = folder / f"{graph.name}-{parts}-{run}"
                    (to / f"{parts}Communities").mkdir(parents=True)
                    said = subprocess.run([python, folder / "deal.py", stream, str(parts), to], check=True, capture_output=True,
                                          text=True).stdout.splitlines()[-1]
                    runs.append([float(number) for number in said.split()])
                theirs = [sum(column) / len(runs) for column in zip(*runs)]
                mine = ours(options.build, graph, parts)
                print(f"| {graph.name.split('.')[0]} | {parts} | {mine[0]:.2f} | {theirs[0]:.3f} | {mine[0] / theirs[0]:.3f} | {mine[1]:.3f} | "
                      f"{theirs[1]:.3f} | {mine[2]:.2f} | {theirs[2]:.2f} |", flush=True)


if __name__ == "__main__":
    exit_with(main)
