#!/usr/bin/env python3
"""Measures a machine profile for ranks of one thread each, every core busy, and prints it as gnnplan.machine/1.

    bench/profile/measure.py [--build DIR] [--name NAME] > machine.json

Runs one copy of kernels_bench per core at the same time (a rank never has the caches and the memory to itself) and
bench_collectives with one MPI rank per core. Takes the median over the copies. What is between nodes cannot be measured on one:
that link and the fixed overhead of a step are taken over from the built-in profile. About two minutes.
"""
import argparse, json, os, pathlib, re, statistics, subprocess

root = pathlib.Path(__file__).resolve().parents[2]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default=str(root / "build/release"))
parser.add_argument("--name", default="measured")
arguments = parser.parse_args()
cores = sorted(os.sched_getaffinity(0))
binary = f"{arguments.build}/bin/"


def kernels():
    """Counters of each benchmark, one list entry per copy."""
    command = [binary + "kernels_bench", "--benchmark_filter=spmm/cpu|gemm/forward|activate/columns:128/dropout:0",
               "--benchmark_format=json", "--benchmark_repetitions=7", "--benchmark_report_aggregates_only=true"]
    environment = dict(os.environ, GNNPLAN_BENCH_THREADS="1", OPENBLAS_NUM_THREADS="1")
    copies = [subprocess.Popen(["taskset", "-c", str(core), *command], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True) for core in cores]
    results = {}
    for copy in copies:
        for entry in json.loads(copy.communicate()[0])["benchmarks"]:
            if entry.get("aggregate_name") == "median":
                results.setdefault(entry["run_name"], []).append(entry)
    return results


def rate(results, pattern, counter):
    values = [e[counter] for name, entries in results.items() if re.search(pattern, name) for e in entries]
    return statistics.median(values)


def exchange():
    """Latency in seconds and bytes per second of an all-to-all among one rank per core."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")
    if len(cores) == 1:
        return 1e-6, 1e10
    text = subprocess.run(["mpirun", "-n", str(len(cores)), binary + "bench_collectives"], env=environment, check=True,
                          capture_output=True, text=True).stdout
    alpha, beta = re.search(r"exchange\s+alpha ([0-9.]+) us, beta ([0-9.]+) ns/B", text).groups()
    return float(alpha) * 1e-6, 1e9 / float(beta)


measured = kernels()
latency, bandwidth = exchange()
profile = json.loads(subprocess.run([binary + "gnnplan", "machines", "detect", "--json"], check=True, capture_output=True,
                                    text=True).stdout)
widths = sorted(int(m.group(1)) for name in measured if (m := re.match(r"spmm/cpu/(\d+)", name)))
profile.update(
    name=arguments.name,
    source=f"measured with bench/profile/measure.py: {len(cores)} ranks of one thread, all busy; inter_node and step_seconds "
    "taken over from the built-in profile",
    measured=True,
    ranks_per_node=len(cores),
    intra_node={"latency_seconds": latency, "bytes_per_second": bandwidth},
    spmm=[{"width": w, "flops_per_second": rate(measured, rf"^spmm/cpu/{w}\b", "flop/s")} for w in widths],
    gemm_flops_per_second=rate(measured, r"^gemm/forward", "flop/s"),
    memory_bytes_per_second=rate(measured, r"^activate", "bytes/s"))
print(json.dumps(profile, indent=1))
