"""gnnplan beside libraries that bring an OpenMP runtime of their own, imported before it and after it: both compute what
they compute alone, and neither hangs. Skipped (77) where there is none of these libraries."""

import importlib.util
import os
import subprocess
import sys
import textwrap
import unittest

# Each library computes something in parallel, whose result is a list of numbers.
OTHERS = {
    "torch": """
        import torch
        def other():
            a = torch.arange(1 << 20, dtype=torch.float64).reshape(1024, 1024) % 97
            return [float((a @ a).sum()), float(a.softmax(1).sum()), float(a.cumsum(0).sum())]
    """,
    "sklearn": """
        from sklearn.cluster import KMeans
        def other():
            points = numpy.random.default_rng(0).normal(size=(20000, 8))
            return [round(float(KMeans(16, n_init=1, random_state=0).fit(points).inertia_), 3)]
    """,
}
OURS = """
    import gnnplan
    def ours():
        draw = numpy.random.default_rng(0)
        y = draw.integers(0, 3, 5000)
        x = draw.normal(size=(5000, 32)).astype(numpy.float32)
        data = gnnplan.Data.from_arrays(draw.integers(0, 5000, (2, 60000)), x, y, train=numpy.arange(4000))
        plan = gnnplan.plan(data, hidden=32, ranks=2, machine="cpu-node", dropout=0.5)
        run = gnnplan.train(plan, epochs=5, autotune=0, threads=2)
        return [epoch["loss"] for epoch in run.history]
"""
SPMM = """
    import gnnplan.torch
    matrix = torch.sparse_coo_tensor(torch.randint(0, 3000, (2, 50000)), torch.ones(50000), (3000, 3000)).coalesce()
    x = torch.randn(3000, 64)
    assert torch.allclose(gnnplan.torch.spmm(matrix, x), torch.sparse.mm(matrix, x), atol=1e-3)
"""
RUNTIMES = """
    with open("/proc/self/maps", encoding="ascii") as maps:
        paths = {line.split()[-1] for line in maps if line.rsplit("/", 1)[-1].startswith(("libgomp", "libiomp", "libomp"))}
    print(len(paths))
"""


def printed(*parts):
    """Runs a program of these parts. It prints a line of numbers for each function that it calls, and the OpenMP runtimes."""
    program = "import numpy\n" + "\n".join(textwrap.dedent(part) for part in parts)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False,
                          env=dict(os.environ, OMP_NUM_THREADS="2"))
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout.splitlines()


class Runtimes(unittest.TestCase):
    def test_of_two_libraries_in_both_orders(self):
        alone = printed(OURS, "print(ours())")
        for name, other in OTHERS.items():
            if importlib.util.find_spec(name) is None:
                continue
            expected = printed(other, "print(other())") + alone
            tail = SPMM if name == "torch" else ""
            calls = "print(other()); print(ours()); first = other(); ours(); assert other() == first"
            for order in ((other, OURS), (OURS, other)):
                *results, runtimes = printed(*order, calls, tail, RUNTIMES)
                self.assertEqual(results, expected, name)
                print(f"{name} {'before' if order[0] is other else 'after'} gnnplan: {runtimes} OpenMP runtimes")


if __name__ == "__main__":
    if not any(importlib.util.find_spec(name) for name in OTHERS):
        print("skipped: neither PyTorch nor scikit-learn is installed")
        sys.exit(77)
    unittest.main()
