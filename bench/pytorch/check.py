#!/usr/bin/env python3
"""Does what `gnnplan explain --pytorch` prints run in PyTorch, and train as gnnrun does?

    check.py GNNPLAN GNNRUN

Makes a graph and plans with different choices, runs each plan with gnnrun and its program with PyTorch, from the same
initial weights, and compares the losses of all epochs. Exit status 77 where there is no PyTorch.
"""
import json, pathlib, subprocess, sys, tempfile, types, warnings

try:
    import numpy, torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

EPOCHS = 8
TOLERANCE = 1e-4  # relative: float32, and sums in different orders
PLANS = {"chosen": [], "two ranks": ["--ranks", "2"], "1.5d": ["--ranks", "4", "--scheme", "1.5d"],
         "rows that the loss needs": ["--loss-rows", "on"],
         "kept across epochs": ["--forward", "SS"], "autograd's orders": ["--forward", "DD", "--backward", "S-"],
         "not autograd's": ["--forward", "SS", "--backward", "S-"], "made again": ["--forward", "DD", "--backward", "D-"],
         "paper space": ["--space", "paper", "--forward", "SD", "--backward", "SS"],
         "four layers": ["--layers", "4"]}


def philox(key, counter):
    """Philox4x32-10 (Salmon et al. 2011) of arrays of 32-bit words held in 64 bits."""
    low = numpy.uint64(0xFFFFFFFF)
    shift = numpy.uint64(32)
    k, c = [numpy.uint64(word) for word in key], [numpy.asarray(word, dtype=numpy.uint64) for word in counter]
    for _ in range(10):
        first, second = c[0] * numpy.uint64(0xD2511F53), c[2] * numpy.uint64(0xCD9E8D57)
        c = [(second >> shift) ^ c[1] ^ k[0], second & low, (first >> shift) ^ c[3] ^ k[1], first & low]
        k = [(k[0] + numpy.uint64(0x9E3779B9)) & low, (k[1] + numpy.uint64(0xBB67AE85)) & low]
    return c


def initial_weights(seed, layer, rows, columns):
    """As gnnrun draws them: kernels/random.cpp."""
    stream = philox((seed & 0xFFFFFFFF, seed >> 32), (WEIGHTS, layer, 0, 0))
    i, j = numpy.meshgrid(numpy.arange(rows), numpy.arange(columns), indexing="ij")
    word = philox(stream[:2], (j, 0 * j, i, 0 * i))[0]
    unit = (word >> numpy.uint64(8)).astype(numpy.float32) * numpy.float32(2**-24)
    bound = numpy.float32(numpy.sqrt(6 / (rows + columns)))
    return torch.from_numpy(bound * (2 * unit - 1)).requires_grad_()


WEIGHTS = 1  # StreamUse::weights


def losses(source, graph):
    program = types.ModuleType("program")
    exec(compile(source, "the printed program", "exec"), program.__dict__)
    X, y, training, W, b = program.read(graph)
    W = {layer: initial_weights(1, layer, *weights.shape) for layer, weights in W.items()}
    return list(program.train(X, y, training, W, b, EPOCHS))


def call(*command):
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True).stdout


def main(gnnplan, gnnrun):
    warnings.filterwarnings("ignore")  # sparse CSR is in beta
    worst = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        graph = folder / "graph.npz"
        call(gnnplan, "graph", "generate", "planted", "--vertices", 300, "--nonzeros", 3000, "--features", 24,
             "--classes", 5, "--seed", 3, "-o", graph)
        for what, flags in PLANS.items():
            plan, report = folder / "plan.json", folder / "run.json"
            call(gnnplan, "plan", "--graph", graph, "--hidden", 16, "--machine", "cpu-node", *flags, "-o", plan)
            call(gnnrun, plan, "--data", graph, "--in-process", "--threads", 1, "--epochs", EPOCHS, "--seed", 1,
                 "--autotune", 0, "--eval-every", 0, "-q", "--report", report)
            source = call(gnnplan, "explain", "--pytorch", plan)
            ours = [epoch["loss"] for epoch in json.loads(report.read_text())["epochs"]]
            theirs = losses(source, graph)
            error = max(abs(a - b) / abs(a) for a, b in zip(ours, theirs))
            worst = max(worst, error)
            wide = max(map(len, source.splitlines()))
            print(f"{what:26} loss {ours[0]:.6f} -> {ours[-1]:.6f}, PyTorch {torch.__version__} differs by {error:.1e}"
                  f"; {wide} columns")
            if wide > 100 or len(theirs) != EPOCHS:
                worst = 1
    return 0 if worst <= TOLERANCE else 1


sys.exit(main(*sys.argv[1:]))
