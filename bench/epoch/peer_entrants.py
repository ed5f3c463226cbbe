"""The entrants that take turns in peers.py: the frameworks, and gnnplan with different plans."""
import json, os, pathlib, resource, sys

import peer_environments as environments
from peer_environments import NotAvailable, call

HERE = pathlib.Path(__file__).resolve().parent
LEARNING_RATE = 0.01
CORES = 2  # threads of one process, or ranks of one thread
LONGEST = 900  # seconds of one run

# Label, environment, network of peer_train.py.
PEERS = {"debian": ("PyTorch of Debian, CSR", environments.DEBIAN, "csr"), "torch": ("PyTorch, CSR", environments.PYPI, "csr"),
         "pyg-edges": ("PyTorch Geometric, edge_index", environments.PYPI, "pyg-edges"),
         "pyg-csr": ("PyTorch Geometric, CSR", environments.PYPI, "pyg-csr"), "dgl": ("DGL", environments.DGL, "dgl")}
PLAIN_PAPER, PLAIN_FULL, FREE = range(3)  # what of the order is pinned
# Label, ranks, order. Plain is A (X W) forwards; A G, then (A G) Wt and Xt (A G) backwards, as autograd does it.
OURS = {"plain": ("gnnplan, plain order", 1, PLAIN_PAPER), "plain-full": ("gnnplan, plain order, no input gradient", 1, PLAIN_FULL),
        "picked": ("gnnplan, its own plan", 1, FREE),
        "picked-2": ("gnnplan, its own plan, 2 ranks of 1 thread", 2, FREE)}


def pins(order, layers):
    """Arguments of `gnnplan plan`. The paper's space computes the input's gradient, too, which no framework does."""
    if order == FREE:
        return []
    last = "S" if order == PLAIN_PAPER else "-"
    space = ["--space", "paper"] if order == PLAIN_PAPER else ["--space", "full", "--loss-rows", "off"]
    return [*space, "--forward", "D" * layers, "--backward", "S" * (layers - 1) + last]


def say(text):
    print(text, file=sys.stderr, flush=True)


def surroundings(threads):
    """Environment variables of every run. Threads are not bound: OMP_PROC_BIND puts those of OpenBLAS, with which Debian's
    PyTorch multiplies, on the core of the first one, and its dense products take 1.6 times longer."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    return {**own, "OMP_NUM_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def memory_limit():
    """For the child: a peer that wants more than nine tenths of what is free fails by itself and harms nobody."""
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (free * 9 // 10,) * 2)


class Gnnplan:
    def __init__(self, build, cache, calibrated):
        self.tools, self.cache, self.calibrated = build.resolve() / "bin", cache, calibrated

    def on_all_cores(self, ranks, command):
        """By threads of one rank, or by ranks of one thread."""
        launcher = ["mpirun", "-n", ranks, "--bind-to", "core"] if ranks > 1 else []
        return call([*launcher, *command], LONGEST, env=surroundings(CORES // ranks))

    def generate(self, graph, problem):
        if not graph.exists():
            call([self.tools / "gnnplan", "graph", "generate", "rmat", "--vertices", problem.vertices, "--nonzeros",
                  problem.nonzeros, "--features", problem.widths[0], "--classes", problem.widths[-1], "--seed", 1, "-o", graph],
                 LONGEST)

    def machine(self, ranks):
        """The calibration for so many ranks, made once; or a preset."""
        if not self.calibrated:
            return "cpu-node"
        profile = self.cache / f"machine-{ranks}x{CORES // ranks}.json"
        if not profile.exists():
            say(f"calibrating, ranks x threads {ranks} x {CORES // ranks}")
            self.on_all_cores(ranks, [self.tools / "gnnplan", "calibrate", "--quick", "--threads", CORES // ranks, "-o",
                                      profile])
        return profile

    def plan(self, graph, problem, name):
        _, ranks, order = OURS[name]
        plan = graph.with_name(f"{graph.stem}-{name}.json")
        layers = len(problem.widths) - 1
        call([self.tools / "gnnplan", "plan", "--graph", graph, "--hidden", problem.widths[1], "--layers", layers, "--ranks",
              ranks, "--machine", self.machine(ranks), *pins(order, layers), "-o", plan], LONGEST)
        return plan

    def train(self, name, graph, plan, epochs):
        """Epochs, and the orders and grid of the plan."""
        ranks = OURS[name][1]
        report = self.cache / "report.json"
        self.on_all_cores(ranks, [self.tools / "gnnrun", plan, "--data", graph, "--epochs", epochs, "--threads", CORES // ranks,
                                  "--lr", LEARNING_RATE, "--weight-decay", 0, "--autotune", 0, "--eval-every", 0, "--report",
                                  report, "-q"])
        read = json.loads(report.read_text())
        c = read["configuration"]
        return read["epochs"], f"{c['forward']} {c['backward']}, grid {'x'.join(map(str, c['grid']))}"


class Peers:
    """The frameworks asked for; `missing` says why some of them are not there."""

    def __init__(self, names, cache):
        self.pythons, self.missing = {}, {}
        for name in names:
            environment = PEERS[name][1]
            try:
                say(f"{name}: environment {environment.name}")
                self.pythons[name] = environments.python_of(environment, cache)
            except NotAvailable as reason:
                self.missing[name] = str(reason)

    def prepare(self, graph, folder):
        if self.pythons and not (folder / "complete").exists():
            call([next(iter(self.pythons.values())), HERE / "peer_problem.py", graph, folder], LONGEST)
            (folder / "complete").touch()

    def train(self, name, folder, widths, epochs):
        """Epochs, and versions."""
        done = json.loads(call([self.pythons[name], HERE / "peer_train.py", PEERS[name][2], folder, "--widths",
                                ",".join(map(str, widths)), "--epochs", epochs, "--threads", CORES, "--learning-rate",
                                LEARNING_RATE], LONGEST, env=surroundings(CORES), preexec_fn=memory_limit()))
        return done["epochs"], done["version"]
