#!/usr/bin/env python3
"""Writes docs/recipes.md: public training scripts, and the commands of gnnplan and gnnrun that train the same networks.

    recipes.py --build BUILD [--check] [--quick]

Each line is planned with the sizes of its data; the plan's flags and the run's are then tried on a small graph, for two
epochs. With --check the page is compared instead of written. --quick tries every seventh line alone.
"""
import argparse
import csv
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

import tuned

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "recipes.md"
CARDS = {"cora", "ogbn-arxiv", "ogbn-products", "ogbn-proteins"}
# Vertices, directed edges, features and classes of the others, as PyTorch Geometric loads them (squirrel and chameleon:
# Platonov et al. 2023, without duplicates); edges that are listed once are counted twice.
SIZES = {
    "citeseer": (3327, 9104, 3703, 6), "pubmed": (19717, 88648, 500, 3),
    "amazon-computer": (13752, 491722, 767, 10), "amazon-photo": (7650, 238162, 745, 8),
    "coauthor-cs": (18333, 163788, 6805, 15), "coauthor-physics": (34493, 495924, 8415, 5),
    "wikics": (11701, 431206, 300, 10), "amazon-ratings": (24492, 186100, 300, 5),
    "minesweeper": (10000, 78804, 7, 2), "roman-empire": (22662, 65854, 300, 18),
    "questions": (48921, 307080, 301, 2), "squirrel": (2223, 93996, 2089, 5), "chameleon": (890, 17708, 2325, 5)}
CLASSES = {"cora": 7, "ogbn-arxiv": 40, "ogbn-products": 47, "ogbn-proteins": 112}

HEAD = """# Recipes

Public scripts that train a graph neural network on the whole graph, and the commands that train the same network with
gnnplan. DATA stands for the data set as a file ([data.md](data.md)); `--ranks P` and the other flags of distribution
are yours. The splits that scripts draw are left out. This page is written by
`bench/recipes/recipes.py`, and a test plans each of its {count} lines and tries it on a small graph.

gnnplan's initial weights are Glorot's in every model, and its random numbers are its own. Numbers in the last column
are of these remarks:

1. OGB's script takes the mean of the edges' eight features as the features of a vertex; [data.md](data.md) has the
   lines that make them.
2. tunedGNN puts a self loop on every vertex, which its GraphSAGE averages as a neighbour, too; `sage` averages the
   neighbours alone.
3. tunedGNN's GAT has no biases in its layers where it has no skips; `--bias` gives every layer one.
4. tunedGNN trains Questions with a sigmoid for each of the two classes; a softmax is trained here.
5. PyG's script ends early where the loss of the validation vertices is above its mean over ten epochs; here all epochs
   are trained.
"""
MISSING = """
## Not there

| recipe | why |
|---|---|
| GPR-GNN (its authors, PyG) | the shares of its hops are trained |
| APPNP of DGL (appnp/train.py) | edges are dropped in every epoch |
| SIGN on Flickr of PyG (examples/sign.py) | it trains on batches of vertices; `--model sign --hops 2 --hidden 1024 --bias --dropout 0.5 --input-dropout 0` trains on all of them |
| SGC of DGL on Reddit (sgc/sgc_reddit.py) | it trains by L-BFGS |
| GCNII* and GCNII on ogbn-arxiv (their authors) | a second weight for the first hidden layer in each layer |
| GCNII on PPI (its authors, PyG) | they train on batches of graphs |
| AGNN of PyG (examples/agnn.py) | its first layer's β is fixed; `agnn` trains them all |
| GAT on coauthor-cs of tunedGNN | a single layer before `--jk last` is as wide as the classes |
| tunedGNN on ogbn-proteins, DGL's GAT there, DeeperGCN | features of edges |
| tunedGNN on ogbn-products and pokec, Cluster-GCN, GraphSAINT and NeighborLoader scripts | they train on samples; [samples.md](samples.md) says which samples there are |
| label reuse, random masks of training vertices, dropped edges (DGL on ogbn-arxiv) | features or edges change in every epoch |
"""


def all_recipes():
    with open(pathlib.Path(__file__).with_name("recipes.csv"), newline="") as file:
        listed = list(csv.DictReader(file))
    return listed + [one for one in tuned.recipes() if one["recipe"] != "GAT on coauthor-cs"]


def page_of(recipes):
    text = HEAD.format(count=len(recipes))
    for source in dict.fromkeys(one["source"] for one in recipes):
        text += (f"\n## {source}\n\n| recipe | `gnnplan plan --graph DATA -o plan.json` | "
                 "`gnnrun plan.json --data DATA` | remarks |\n|---|---|---|---|\n")
        for one in recipes:
            if one["source"] == source:
                text += f"| {one['recipe']} | `{one['plan']}` | `{one['run']}` | {one['differs'] or ''} |\n"
    return text + MISSING


def call(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{program.name} {shlex.join(map(str, arguments))}: {done.stderr.strip()}")


def sizes_of(data):
    if data in CARDS:
        return ["--graph", data]
    vertices, edges, features, classes = SIZES[data]
    return ["--vertices", vertices, "--nonzeros", edges + vertices, "--symmetric", "--features", features,
            "--classes", classes]


def try_recipe(tools, folder, one):
    """Plans it for its data, and trains it on a small graph for two epochs."""
    plan = folder / "plan.json"
    flags = one["plan"].split()
    asked = flags if one["data"] in CARDS else [flag for flag in flags if flag != "--symmetrise"]
    call(tools / "gnnplan", "plan", *sizes_of(one["data"]), *asked, "--ranks", 8, "--machine", "cpu-node", "-q")
    classes = CLASSES.get(one["data"]) or SIZES[one["data"]][3]
    several = ["--loss", "sigmoid"] if one["data"] == "ogbn-proteins" else []
    call(tools / "gnnplan", "plan", "--graph", folder / "edges.txt", "--features", 16, "--classes", classes, *several,
         *flags, "--ranks", 2, "--machine", "cpu-node", "-q", "-o", plan)
    run = one["run"].split()
    if "--runs" in run:
        run[run.index("--runs") + 1] = "2"
    call(tools / "gnnrun", plan, "--data", folder / "edges.txt", "--in-process", "--threads", 1, "-q", *run,
         "--epochs", 2, "--autotune", 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--check", action="store_true", help="compare the page, and write nothing")
    parser.add_argument("--quick", action="store_true", help="try every seventh recipe alone")
    options = parser.parse_args()
    recipes, failed = all_recipes(), 0
    page = page_of(recipes)
    if not options.check:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        print(f"{PAGE.relative_to(ROOT)} is not what {pathlib.Path(__file__).relative_to(ROOT)} writes")
        failed += 1
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        edges = "".join(f"{v} {draw.randrange(120)}\n" for v in range(120) for _ in range(3))
        (folder / "edges.txt").write_text(edges)
        for one in recipes[::7] if options.quick else recipes:
            try:
                try_recipe(options.build / "bin", folder, one)
            except RuntimeError as why:
                print(f"{one['source']}: {one['recipe']}: {why}")
                failed += 1
    print(f"{len(recipes)} recipes, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
