"""MG-GCN's Figures 5, 9 and 10: where the time goes, denser graphs, and what fits on 8 V100."""
from agreement import figures, grid
from planner import PRESET

CARDS = {"Cora": "cora:mg-gcn", "Arxiv": "ogbn-arxiv:mg-gcn", "Products": "ogbn-products:mg-gcn", "Proteins": "protein:mg-gcn",
         "Reddit": "reddit:mg-gcn"}
HIDDEN = 512  # of 2 layers, the first model of section 6.1
SPMM, GEMM = ("spmm",), ("gemm", "weight_grad")  # kinds of steps
LARGE = ("Products", "Proteins", "Reddit")
ARXIV = 169_343, 1_166_243, 512, 40  # vertices, edges, features, classes of the synthetic graphs at 1x
SCALES = (1, 8, 32, 64, 128)
V100, V100_MEMORY = "dgx-1-v100", 31 * 2**30


def as_published(planner, machine, ranks, *graph):
    """The problem as MG-GCN computes it."""
    exchange = ("--exchange", "panels") if ranks > 1 else ()
    return (*graph, "--ranks", ranks, "--machine", planner.profile(machine), "--hidden", HIDDEN, "--normalisation", "row_mean",
            "--scheme", "1d", *exchange, "--extras", "off")


def kernels(planner):
    """{data set: (share of SpMM, share of GEMM)} of an epoch on one A100, which has room for all."""
    result = {}
    for name, card in CARDS.items():
        steps = planner.steps(*as_published(planner, "dgx-a100", 1, "--graph", card))
        total = sum(seconds for _, seconds in steps)
        result[name] = tuple(sum(seconds for kind, seconds in steps if kind in kinds) / total for kinds in (SPMM, GEMM))
    return result


def density(planner):
    """{scale: (speed-up on 2, 4, 8 GPUs)} of graphs with so many times the edges of Arxiv."""
    vertices, edges, features, classes = ARXIV
    result = {}
    for scale in SCALES:
        graph = ("--vertices", vertices, "--nonzeros", vertices + scale * edges, "--symmetric", "--features", features, "--classes", classes)
        times = [planner.ranked(*as_published(planner, V100, ranks, *graph))[0]["epoch_seconds"] for ranks in (1, 2, 4, 8)]
        result[scale] = tuple(times[0] / time for time in times[1:])
    return result


def fits(planner):
    """{ranks: (whether Proteins ran, predicted peak)} of Figure 10."""
    return {ranks: (ranks >= 4, planner.ranked(*as_published(planner, V100, ranks, "--graph", CARDS["Proteins"]))[0]["peak_bytes_per_rank"])
            for ranks in (1, 2, 4, 8)}


def summary(shares, fitted):
    large = [shares[name] for name in LARGE]
    return {"spmm": sum(0.60 <= spmm <= 0.94 for spmm, _ in large), "gemm": sum(0.05 <= gemm <= 0.20 for _, gemm in large),
            "first": sum(gemm > spmm for name, (spmm, gemm) in shares.items() if name not in LARGE),
            "fits": sum(ran == (peak <= V100_MEMORY) for ran, peak in fitted.values())}


def kernel_table(shares):
    return grid(["data set", "SpMM", "GEMM"], [[name, f"{100 * spmm:.0f} %", f"{100 * gemm:.0f} %"] for name, (spmm, gemm) in shares.items()])


def density_table(found):
    return grid(["edges", "2 GPUs", "4 GPUs", "8 GPUs"], [[f"{scale}x", *(f"{gain:.2f}" for gain in gains)] for scale, gains in found.items()])


def fit_table(found):
    return grid(["P", "Proteins", "predicted GiB a rank"],
                [[ranks, "ran" if ran else "out of memory", figures(peak / 2**30) + ("" if peak <= V100_MEMORY else ", too much")]
                 for ranks, (ran, peak) in found.items()])
