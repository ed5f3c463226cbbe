"""The command lines of tunedGNN (Luo, Shi & Wu 2024), medium_graph/run_gnn.sh and large_graph/arxiv.sh, as recipes."""

# Each line has the network, the data set, hidden columns, layers, learning rate, decay, dropout, epochs, runs, options.
LINES = """
gcn  amazon-computer  512  3 0.001  5e-5 0.5 1000  3 ln
sage amazon-computer   64  4 0.001  5e-5 0.3 1000  3 ln
gat  amazon-computer   64  2 0.001  5e-5 0.5 1000  3 ln
gcn  amazon-photo     256  6 0.001  5e-5 0.5 1000  3 ln res
sage amazon-photo      64  6 0.001  5e-5 0.2 1000  3 ln res
gat  amazon-photo      64  3 0.001  5e-5 0.5 1000  3 ln res
gcn  coauthor-cs      512  2 0.001  5e-4 0.3 1500  3 ln res
sage coauthor-cs      512  2 0.001  5e-4 0.5 1500  3 ln res
gat  coauthor-cs      256  1 0.001  5e-4 0.3 1500  3 ln res
gcn  coauthor-physics  64  2 0.001  5e-4 0.3 1500  3 ln res
sage coauthor-physics  64  2 0.001  5e-4 0.7 1500  3 bn res
gat  coauthor-physics 256  2 0.001  5e-4 0.7 1500  3 bn res
gcn  wikics           256  3 0.001  0    0.5 1000  3 ln
sage wikics           256  2 0.001  0    0.7 1000  3 ln
gat  wikics           512  2 0.001  0    0.7 1000  3 ln res
gcn  cora             512  3 0.001  5e-4 0.7  500  5
sage cora             256  3 0.001  5e-4 0.7  500  5
gat  cora             512  3 0.001  5e-4 0.2  500  5 res
gcn  citeseer         512  2 0.001  0.01 0.5  500  5
sage citeseer         512  3 0.001  0.01 0.2  500  5
gat  citeseer         256  3 0.001  0.01 0.5  500  5 res
gcn  pubmed           256  2 0.005  5e-4 0.7  500  5
sage pubmed           512  4 0.005  5e-4 0.7  500  5
gat  pubmed           512  2 0.01   5e-4 0.5  500  5
gcn  amazon-ratings   512  4 0.001  0    0.5 2500  3 bn res
sage amazon-ratings   512  9 0.001  0    0.5 2500  3 bn res
gat  amazon-ratings   512  4 0.001  0    0.5 2500  3 bn res
gcn  minesweeper       64 12 0.01   0    0.2 2000  3 bn res rocauc
sage minesweeper       64 15 0.01   0    0.2 2000  3 bn res rocauc
gat  minesweeper       64 15 0.01   0    0.2 2000  3 bn res rocauc
gcn  roman-empire     512  9 0.001  0    0.5 2500  3 bn res pre
sage roman-empire     256  9 0.001  0    0.3 2500  3 bn pre
gat  roman-empire     512 10 0.001  0    0.3 2500  3 bn res pre
gcn  questions        512 10 3e-5   0    0.3 1500  3 res pre rocauc
sage questions        512  6 3e-5   0    0.2 1500  3 ln pre rocauc
gat  questions        512  3 3e-5   0    0.2 1500  3 ln res pre rocauc
gcn  squirrel         256  4 0.01   5e-4 0.7  500 10 bn res
sage squirrel         256  3 0.01   5e-4 0.7  500 10 bn res
gat  squirrel         512  7 0.005  5e-4 0.5  500 10 bn res
gcn  chameleon        512  5 0.005  1e-3 0.2  200 10
sage chameleon        256  4 0.01   1e-3 0.7  200 10 bn res
gat  chameleon        256  2 0.01   1e-3 0.7  200 10 bn res
gcn  ogbn-arxiv       512  5 5e-4   5e-4 0.5 2000  2 bn res in
sage ogbn-arxiv       256  4 5e-4   5e-4 0.5 2000  2 bn res in
"""
NAMES = {"gcn": "GCN", "sage": "GraphSAGE", "gat": "GAT"}


def recipe_of(line):
    network, data, hidden, layers, rate, decay, dropout, epochs, runs, *options = line.split()
    plan = [f"--model {network}"] * (network != "gcn")
    plan += [f"--layers {layers} --hidden {hidden} --bias --jk last", "--activation relu" * (network == "gat"),
             f"--pre {hidden}" * ("pre" in options), "--residual linear" * ("res" in options),
             "--norm layer" * ("ln" in options), "--norm batch" * ("bn" in options), "--rocauc" * ("rocauc" in options),
             "--symmetrise" * (data == "ogbn-arxiv"),
             f"--epochs {epochs} --dropout {dropout} --input-dropout {0.15 if 'in' in options else 0}"]
    run = f"--lr {rate} --weight-decay {decay} --decay all --eval-every 1 --runs {runs}"
    differs = ["2"] * (network == "sage") + ["3"] * (network == "gat" and "res" not in options)
    differs += ["4"] * (data == "questions")
    return {"source": "tunedGNN", "recipe": f"{NAMES[network]} on {data}", "data": data,
            "plan": " ".join(filter(None, plan)), "run": run, "differs": ", ".join(differs)}


def recipes():
    return [recipe_of(line) for line in LINES.strip().splitlines()]
