#!/usr/bin/env python3
"""Are the planner's epochs true? Runs configurations of a corpus, each beside its prediction, and judges (judge.py).

    bench/prediction/run.py --build build/release             about 20 minutes on two cores
    bench/prediction/run.py --build build/release --quick     under 4
    bench/prediction/run.py --build build/release --draw                 a quarter of an hour, and the calibrations
    bench/prediction/run.py --build build/release --graphs ego-twitter.txt.gz --widths 602,128,41 --symmetrise --json

The corpus: real graphs where there are some, R-MAT graphs drawn from seeds of their own, one rank and two (mpirun), a thread a
rank; then two and four ranks in network namespaces whose links are limited. Configurations are sampled from the full space
(sample.hpp); none of this is used by the calibration. Real graphs lie in the folder --data, or GNNPLAN_DATA, or ../shared/data
beside the checkout; those that are not there are left out, and named. Without --machine, the user's calibration for each number of
ranks serves where there is one. --graphs replaces the corpus' graphs. --draw draws problems instead (draw.py), by the digest of the
commit, or by the text that it is given, measures the first and the last of them twice, and judges with drawn.py; --log appends the
verdict to a file, which says whether it was the first one of this commit on this make of processor: only that one counts. Exit status 1 if a bar is missed, 2 if a run failed.
"""
import argparse, datetime, itertools, json, os, pathlib, shutil, subprocess, sys, tempfile, time
from typing import NamedTuple

sys.dont_write_bytecode = True

import draw
import drawn
import judge

HERE = pathlib.Path(__file__).resolve().parent
NETWORK_TOOLS = ("setpriv", "unshare", "nsenter", "ip", "tc")


class Problem(NamedTuple):
    graph: str  # a path, or rmat:VERTICES:NONZEROS:SEED
    widths: str
    most: int  # configurations to run
    symmetrise: bool = False
    name: str = ""  # of the graph in the rows; default: the graph, and the model unless it is gcn
    model: str = "gcn"  # or gin, agnn, sage:AGGREGATOR, gat:HEADS
    again: bool = False  # the same was measured before


LOCAL = [Problem("rmat:170000:2490000:70101", "128,256,40", 12),     # ogbn-arxiv's size
         Problem("rmat:233000:23000000:70102", "602,128,41", 8),     # Reddit's vertices, a fifth of its edges
         Problem("rmat:400000:2200000:70103", "256,128,100", 8),     # as sparse as Web-Google
         Problem("rmat:2700:13000:70104", "1433,16,7", 12),          # Cora's size, in cache
         Problem("rmat:170000:2490000:70105", "128,128,128,40", 10)]
REAL = [Problem("snap/ego-twitter.txt.gz", "602,128,41", 10, symmetrise=True),
        Problem("snap/soc-slashdot0902.txt.gz", "256,128,64", 12),   # directed: 58 % of its vertices begin no edge
        Problem("snap/email-enron.txt.gz", "128,128,32", 12, symmetrise=True),
        Problem("mtx/facebook-combined.mtx.gz", "602,256,64", 12),
        Problem("cora", "1433,16,7", 12)]
# The same graphs once more, under models with more products a layer, or maxima.
MODELS = [Problem("rmat:170000:2490000:70111", "128,256,40", 10, model="sage:mean"),
          Problem("rmat:170000:2490000:70111", "128,256,40", 8, model="sage:max"),
          Problem("rmat:170000:2490000:70111", "128,128,40", 10, model="gin"),
          Problem("rmat:170000:2490000:70111", "128,64,40", 8, model="gat:8"),
          Problem("rmat:170000:2490000:70111", "128,128,40", 8, model="gat:4"),
          Problem("rmat:170000:2490000:70111", "128,32,40", 8, model="agnn")]
REAL_MODELS = [Problem("snap/ego-twitter.txt.gz", "602,128,41", 8, symmetrise=True, model="sage:mean"),
               Problem("snap/soc-slashdot0902.txt.gz", "256,128,64", 8, model="sage:max"),
               Problem("snap/email-enron.txt.gz", "128,128,32", 8, symmetrise=True, model="gin"),
               Problem("snap/soc-slashdot0902.txt.gz", "128,64,32", 8, model="gat:4")]
LIMITED = [Problem("rmat:40000:600000:70106", "128,64,16", 12), Problem("rmat:16000:500000:70107", "602,128,41", 12)]
NETWORKS = [(2, "1gbit"), (4, "200mbit")]

QUICK_LOCAL = [Problem("rmat:60000:900000:70108", "128,256,40", 8)]
QUICK_REAL = [problem._replace(most=8) for problem in (REAL[2], REAL[4])]
QUICK_LIMITED = [Problem("rmat:16000:250000:70109", "128,64,16", 8)]
QUICK_NETWORKS = [(2, "1gbit")]

DRAWN_MOST = 6
NAMED_MOST = 16  # configurations of a graph named at run time
SECONDS, QUICK_SECONDS = 20, 8  # of repeated epochs of a problem, where the intervals do not get narrow before


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(HERE.parents[1] / "build/release"), help="folder of the build")
    parser.add_argument("--machine", help="profile for ranks of this machine; default: the user's calibration of as many ranks, else one made now")
    parser.add_argument("--calibrate", action="store_true", help="calibrate for each number of ranks, whatever the user has")
    parser.add_argument("--probe", action="store_true", help="rescale profiles to a probe of the machine before each problem")
    parser.add_argument("--quick", action="store_true", help="a smaller corpus, and quick calibrations")
    parser.add_argument("--graphs", nargs="+", metavar="FILE", help="judge these graphs")
    parser.add_argument("--draw", nargs="?", const="", metavar="SEED", help="judge drawn problems; default: drawn by the digest of the commit")
    parser.add_argument("--log", help="with --draw: append the verdict to this file, a line of JSON for each")
    parser.add_argument("--widths", default="602,128,41", help="for --graphs; default 602,128,41")
    parser.add_argument("--symmetrise", action="store_true", help="add the reverse of every edge of --graphs")
    parser.add_argument("--data", help="folder of the real graphs; default: GNNPLAN_DATA, else ../shared/data beside the checkout")
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2], help="of this machine; default 1 2")
    parser.add_argument("--seconds", type=float, help=f"of repeated epochs of a problem, at most; default {SECONDS}, {QUICK_SECONDS} with --quick")
    parser.add_argument("--local-only", action="store_true", help="no limited networks")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument("-o", "--output", help="where to write the rows")
    options = parser.parse_args()
    options.data = pathlib.Path(options.data or os.environ.get("GNNPLAN_DATA") or HERE.parents[2] / "shared/data")
    options.seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)
    if options.draw == "":
        options.draw = commit()
    if options.draw is not None and options.graphs:
        parser.error("--draw and --graphs exclude each other")
    if options.machine and options.calibrate:
        parser.error("--machine and --calibrate exclude each other")
    if not shutil.which("mpirun"):
        parser.error("mpirun is not installed")
    if options.output:
        try:
            open(options.output, "a").close()  # now, not after the runs
        except OSError as error:
            parser.error(f"-o {options.output}: {error.strerror}")
    for tool in ("gnnplan", "measure_configurations"):
        if not (pathlib.Path(options.build) / "bin" / tool).is_file():
            parser.error(f"{options.build} has no bin/{tool}")
    return options


def commit():
    """Its digest, of a tree that is as committed: else nobody can say that the model did not know the draw."""
    git = lambda *words: subprocess.run(["git", "-C", str(HERE), *words], capture_output=True, text=True).stdout.strip()
    if git("status", "--porcelain"):
        print("the tree has changes that are not committed: the draw of its last commit was known to them", file=sys.stderr)
    return git("rev-parse", "HEAD") or sys.exit("--draw needs a checkout of git, or a text to draw by")


def drawn_problems(seed):
    """The first and the last ones first, and once more in the end."""
    problems = [Problem(each.graph, each.widths, DRAWN_MOST, model=each.model) for each in draw.draw(seed)]
    ends = [problems[0], problems[-1]]
    return ends + problems[1:-1] + [problem._replace(again=True) for problem in ends]


def learned_names(profile):
    """Names of graphs that a profile has learned from (gnnplan calibrate --from), as their reports or files are called."""
    learned = profile.get("calibration", {}).get("learned_from", [])
    return {pathlib.PurePath(graph["name"]).name.split(".")[0] for graph in learned}


def refuse_learned(profile, problems, path):
    names = learned_names(profile)
    for problem in problems:
        if pathlib.PurePath(problem.graph).name.split(".")[0] in names:
            sys.exit(f"{path} has learned from {problem.graph}, so it cannot be judged on it; calibrate anew, or leave the graph out")


def found(problems, data):
    """The problems whose graphs lie in the folder `data`; says which do not."""
    there = []
    for problem in problems:
        path = (data / problem.graph).resolve()
        if path.exists():
            there.append(problem._replace(graph=str(path), name=problem.graph))
        else:
            print(f"left out: no graph at {path}; set GNNPLAN_DATA, or name the folder with --data", file=sys.stderr)
    return there


def corpus(options):
    """Problems for ranks of this machine, problems for limited networks, those networks."""
    networks = QUICK_NETWORKS if options.quick else NETWORKS
    if options.graphs:
        # Ranks in namespaces start in folders of their own.
        named = [Problem(str(pathlib.Path(graph).resolve()), options.widths, NAMED_MOST, options.symmetrise) for graph in options.graphs]
        return named, named, networks
    if options.draw is not None:
        return drawn_problems(options.draw), [], []
    if options.quick:
        return QUICK_LOCAL + found(QUICK_REAL, options.data), QUICK_LIMITED, networks
    return LOCAL + found(REAL, options.data) + MODELS + found(REAL_MODELS, options.data), LIMITED, networks


def run(*command):
    """The command on one thread a rank; its output is shown only if it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    start = time.monotonic()
    done = subprocess.run(list(map(str, command)), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(" ".join(map(str, command)), done.stdout, f"exit status {done.returncode}", sep="\n", file=sys.stderr)
        sys.exit(2)
    return time.monotonic() - start


def on(ranks):
    return ["mpirun", "-n", ranks] if ranks > 1 else []


class Machines:
    """The profile for so many ranks of this machine."""

    def __init__(self, options, tools, scratch):
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        self.kept = None if options.calibrate else pathlib.Path(cache) / "gnnplan"
        self.named, self.tools, self.scratch, self.quick, self.found = options.machine, tools, scratch, options.quick, {}
        self.judged = options.problems

    def of(self, ranks):
        if ranks not in self.found:
            self.found[ranks] = self.named or self.kept_for(ranks) or self.calibrate(ranks)
            profile = json.loads(pathlib.Path(self.found[ranks]).read_text()) if os.path.isfile(self.found[ranks]) else {}
            refuse_learned(profile, self.judged, self.found[ranks])
            print(f"profile for {ranks} rank(s): {self.found[ranks]}, {profile.get('source', 'a preset')}", file=sys.stderr, flush=True)
        return self.found[ranks]

    def kept_for(self, ranks):
        # As gnnplan calibrate names them: ranks x threads.
        ways = ["processes"] if ranks > 1 else ["threads", "processes"]
        names = [f"machine-{ranks}x1-{way}.json" for way in ways] if self.kept else []
        return next((self.kept / name for name in names if (self.kept / name).is_file()), None)

    def calibrate(self, ranks):
        made = self.scratch / f"machine{ranks}.json"
        flags = [*["--ranks", 1] * (ranks == 1), *["--quick"] * self.quick]
        say(f"calibrated {ranks} rank(s)", run(*on(ranks), self.tools / "gnnplan", "calibrate", *flags, "-o", made))
        return made


def say(what, seconds):
    print(f"{what}: {seconds:.0f} s", file=sys.stderr, flush=True)


def with_names(rows, problem):
    """The rows, with the graph called as the corpus calls it, wherever it lies."""
    model = "" if problem.model == "gcn" else f" {problem.model}"
    again = {"again": True} if problem.again else {}
    return [{**row, "graph": (problem.name or problem.graph) + model, **again} for row in rows]


def measure_local(problems, options, tools, scratch):
    """Rows of each problem as they come."""
    machines, part = Machines(options, tools, scratch), scratch / "rows.json"
    for ranks in options.ranks:
        for problem in problems:
            machine = machines.of(ranks)
            seconds = run(*on(ranks), tools / "measure_configurations", "--graph", problem.graph, "--widths", problem.widths, "--most",
                          problem.most, "--seconds", options.seconds, "--machine", machine, "--model", problem.model, *["--symmetrise"] * problem.symmetrise,
                          *["--probe"] * options.probe, "-o", part)
            say(f"{problem.name or problem.graph} {problem.model} {problem.widths}, {ranks} rank(s)", seconds)
            yield with_names(json.loads(part.read_text()), problem)


def measure_limited(problems, networks, options, scratch):
    """Rows of each network as they come."""
    part = scratch / "rows.json"
    symmetrise = ["--symmetrise"] * options.symmetrise
    for ranks, rate in networks:
        seconds = run(sys.executable, HERE / "limited.py", "--build", options.build, "--ranks", ranks, "--rate", rate, "--seconds",
                      options.seconds, *symmetrise, "-o", part, *("=".join(map(str, problem[:3])) for problem in problems))
        say(f"{ranks} ranks at {rate}", seconds)
        yield json.loads(part.read_text())


def main():
    options = arguments()
    local, limited, networks = corpus(options)
    options.problems = local
    missing = [tool for tool in NETWORK_TOOLS if not shutil.which(tool)]
    rows = []
    with tempfile.TemporaryDirectory(prefix="gnnplan-prediction-") as folder:
        scratch = pathlib.Path(folder)
        parts = [measure_local(local, options, pathlib.Path(options.build).resolve() / "bin", scratch)]
        if networks and missing:
            print(f"no limited networks: {', '.join(missing)} not installed", file=sys.stderr)
        elif networks and not options.local_only:
            parts.append(measure_limited(limited, networks, options, scratch))
        for part in itertools.chain(*parts):
            rows += part
            if options.output:
                pathlib.Path(options.output).write_text(json.dumps(rows, indent=1) + "\n")
    if options.draw is None:
        sys.exit(judge.report(rows, options.json))
    if options.log:
        keep(drawn.judge_drawn(rows), options)
    sys.exit(drawn.report(rows, options.json))


def processor():
    """Its make, as the system says."""
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else "unknown"


def keep(verdict, options):
    """Appends the verdict to the log, and says whether it counts."""
    log = pathlib.Path(options.log)
    before = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    entry = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "draw": options.draw, "processor": processor(),
             "load": os.getloadavg()[2], "verdict": verdict}
    entry["first"] = not any((old["draw"], old["processor"]) == (entry["draw"], entry["processor"]) for old in before)
    with log.open("a") as file:
        file.write(json.dumps(entry) + "\n")
    print(f"{log}: {'the first judgement of this draw on this processor: it counts' if entry['first'] else 'not the first: it does not count'}",
          file=sys.stderr)


if __name__ == "__main__":
    main()
