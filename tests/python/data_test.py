"""The forms in which gnnplan.Data takes arrays. Tests that need SciPy or pyarrow are left out without."""

import os
import tempfile
import unittest

import numpy

import gnnplan
from package_test import drawn


def fingerprints(data):
    """Returns the fingerprints that tell data sets apart, which do not depend on how the data came here."""
    document = gnnplan.plan(data, hidden=8, machine="cpu-node", symmetrise=False).document
    kept = {key: value for key, value in document["fingerprints"].items() if key in ("graph", "features", "labels", "split")}
    return dict(kept, classes=document["problem"]["model"]["widths"][-1])


class OtherForms(unittest.TestCase):
    """All of them are the same data set."""

    def setUp(self):
        self.arrays = drawn()
        self.expected = fingerprints(gnnplan.Data.from_arrays(**self.arrays))

    def saved(self, data, folder):
        path = os.path.join(folder, "saved.npz")
        data.save(path)
        return gnnplan.Data.open(path)

    def test_edges_are_borrowed_as_they_are(self):
        sources, targets = self.arrays.pop("edge_index")
        pairs = numpy.stack([sources, targets], 1)  # a row for each edge
        for ends in ((sources.astype(numpy.int32), targets.astype(numpy.int32)), (sources, targets), pairs.T,
                     (sources.astype(numpy.int32), targets), (sources.astype(numpy.uint16), targets.astype(numpy.uint16)),
                     (sources.astype(">i8"), targets)):
            self.assertEqual(fingerprints(gnnplan.Data.from_arrays(ends, **self.arrays)), self.expected)

    def test_a_matrix_of_scipy(self):
        try:
            import scipy.sparse
        except ImportError:
            self.skipTest("SciPy is not installed")
        rows, columns = self.arrays.pop("edge_index")
        weights = numpy.linspace(0.5, 2, len(rows)).astype(numpy.float32)
        weighted = fingerprints(gnnplan.Data.from_arrays((rows, columns), edge_weight=weights, **self.arrays))
        with tempfile.TemporaryDirectory() as folder:
            # The list of edges has each of them once, as matrices do.
            coo = scipy.sparse.coo_matrix((weights, (rows, columns)), shape=(300, 300))
            for form in ("coo", "csr", "csc", "lil"):
                for index in (numpy.int32, numpy.int64):
                    matrix = getattr(coo, "to" + form)() if form != "coo" else coo
                    if form in ("csr", "csc"):
                        matrix.indptr, matrix.indices = matrix.indptr.astype(index), matrix.indices.astype(index)
                    data = gnnplan.Data.from_scipy(matrix, **self.arrays)
                    self.assertEqual(fingerprints(data), self.expected, form)
                    self.assertEqual(fingerprints(self.saved(data, folder)), self.expected, form)
        data = gnnplan.Data.from_scipy(coo.tocsr(), weighted=True, **self.arrays)
        self.assertNotEqual(weighted["graph"], self.expected["graph"])
        self.assertEqual(len(fingerprints(data)["graph"]), len(weighted["graph"]))
        wrong = coo.tocsr()
        wrong.indptr = wrong.indptr[::-1].copy()
        with self.assertRaises(gnnplan.DataError):
            gnnplan.Data.from_scipy(wrong, **self.arrays)

    def test_several_labels_a_vertex(self):
        labels = numpy.random.default_rng(1).integers(0, 2, (300, 5))
        some = labels.astype(float)
        some[7, 2] = some[299, 4] = numpy.nan
        for y, kinds in ((labels, (bool, numpy.uint8, numpy.int64, numpy.float32)), (some, (numpy.float32, numpy.float64))):
            seen = []
            with tempfile.TemporaryDirectory() as folder:
                for kind in kinds:
                    data = gnnplan.Data.from_arrays(**dict(self.arrays, y=y.astype(kind)))
                    seen += [fingerprints(data), fingerprints(self.saved(data, folder))]
            self.assertEqual(seen[0]["classes"], 5)
            for other in seen[1:]:
                self.assertEqual(other, seen[0])
        plan = gnnplan.plan(data, hidden=8, ranks=2, machine="cpu-node")
        run = gnnplan.train(plan, epochs=3, autotune=0, logits=True)
        self.assertEqual(run.logits.shape, (300, 5))
        self.assertIn("train_f1", run.history[-1])
        with self.assertRaisesRegex(gnnplan.DataError, "label 1 of vertex 4 is 3"):
            labels[4, 1] = 3
            gnnplan.Data.from_arrays(**dict(self.arrays, y=labels))

    def test_classes_that_are_not_known(self):
        y = self.arrays["y"].astype(numpy.float64)
        unused = ~(self.arrays["train"] | self.arrays["valid"] | self.arrays["test"])
        self.assertFalse(unused.any())
        self.arrays["test"] = numpy.zeros(300, bool)
        hidden = numpy.flatnonzero(~(self.arrays["train"] | self.arrays["valid"]))[:9]
        y[hidden] = numpy.nan
        told = gnnplan.Data.from_arrays(**dict(self.arrays, y=numpy.where(numpy.isnan(y), -1, y).astype(int)))
        for given in (y, y[:, None]):
            self.assertEqual(fingerprints(gnnplan.Data.from_arrays(**dict(self.arrays, y=given))), fingerprints(told))

    def test_of_ogb(self):
        parts = {part: numpy.flatnonzero(self.arrays[part]) for part in ("train", "valid", "test")}
        labels = self.arrays["y"][:, None]

        class Loaded:
            name = "ogbn-drawn"

            def __init__(self, graph):
                self.graph = graph

            def __getitem__(self, index):
                return self.graph

            def get_idx_split(self):
                return parts

        class Graph:  # of PyTorch Geometric
            edge_index, x, y, num_nodes = self.arrays["edge_index"], self.arrays["x"], labels, 300

        class Other:  # of DGL
            ndata = {"feat": self.arrays["x"]}
            edges = staticmethod(lambda: tuple(self.arrays["edge_index"]))
            num_nodes = staticmethod(lambda: 300)

        plain = {"edge_index": self.arrays["edge_index"], "node_feat": self.arrays["x"], "edge_feat": None, "num_nodes": 300}
        for graph in ((plain, labels), Graph(), (Other(), labels)):
            data = gnnplan.Data.from_ogb(Loaded(graph))
            self.assertTrue(data.path.startswith("ogbn-drawn"))
            self.assertEqual(fingerprints(data), self.expected)
        with self.assertRaises(gnnplan.UsageError):
            gnnplan.Data.from_ogb(7)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(FileNotFoundError) as missing:
                gnnplan.Data.from_ogb("ogbn-drawn", folder)
            self.assertIn("NodePropPredDataset", missing.exception.hint)
            raw = os.path.join(folder, "ogbn_drawn", "raw")
            os.makedirs(raw)
            numpy.savetxt(os.path.join(raw, "edge.csv"), self.arrays["edge_index"].T, "%d", ",")
            with open(os.path.join(raw, "num-node-list.csv"), "w", encoding="ascii") as file:
                file.write("300\n")
            plan = gnnplan.plan(gnnplan.Data.from_ogb("ogbn-drawn", folder), widths=[4, 2], machine="cpu-node")
            self.assertEqual(plan.document["fingerprints"]["graph"], self.expected["graph"])

    def test_of_parquet(self):
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            self.skipTest("pyarrow is not installed")
        sources, targets = self.arrays["edge_index"]
        parts = {part: part for part in ("train", "valid", "test")}
        order = numpy.random.default_rng(2).permutation(300)
        words = numpy.array([f"user {v}" for v in range(300)])
        x = self.arrays["x"]
        columns = {f"f{i}": x[:, i] for i in range(x.shape[1])}
        vertices = pyarrow.table({"x": list(x), "class": self.arrays["y"], "user": words, **columns,
                                  **{part: self.arrays[part] for part in parts}})
        edges = pyarrow.table({"source": sources, "target": targets, "from": words[sources], "to": words[targets],
                               "w": numpy.linspace(0.5, 2, len(sources))})
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("edges", "vertices.parquet")]
            os.mkdir(paths[0])  # a folder of two files
            for number, part in enumerate((edges[:1000], edges[1000:])):
                pyarrow.parquet.write_table(part, os.path.join(paths[0], f"part-{number}.parquet"))
            pyarrow.parquet.write_table(vertices, paths[1])
            for tables in ((edges, vertices), paths):
                for features in ("x", list(columns)):
                    data = gnnplan.Data.from_parquet(*tables, features=features, label="class", **parts)
                    self.assertEqual(fingerprints(data), self.expected)
                data = gnnplan.Data.from_parquet(*tables, source="from", target="to", id="user", features="x", label="class",
                                                 weight="w", **parts)
                self.assertTrue(data.weighted)
                shuffled = vertices.take(order) if tables[0] is edges else vertices
                data = gnnplan.Data.from_parquet(tables[0], shuffled, source="from", target="to", id="user",
                                                 features="x", label="class", **parts)
                plan = gnnplan.plan(data, hidden=8, machine="cpu-node")
                self.assertEqual(plan.document["problem"]["graph"]["vertices"], 300)
                self.assertEqual(fingerprints(data) == self.expected, tables[0] is not edges)
            alone = gnnplan.Data.from_parquet(paths[0])
            self.assertEqual(gnnplan.plan(alone, widths=[4, 2], machine="cpu-node").document["fingerprints"]["graph"],
                             self.expected["graph"])
            with self.assertRaises(FileNotFoundError):
                gnnplan.Data.from_parquet(os.path.join(folder, "nowhere"))
            with open(os.path.join(folder, "other"), "w", encoding="ascii") as file:
                file.write("1 2\n")
            for wrong in ({"edges": file.name}, {"source": "start"}, {"vertices": vertices.slice(0, 200), "id": "user",
                          "source": "from", "target": "to"}, {"source": "from", "target": "to"},
                          {"vertices": pyarrow.concat_tables([vertices, vertices]), "id": "user", "source": "from",
                           "target": "to"},
                          {"vertices": vertices, "features": "f0"}, {"vertices": vertices, "features": ["user"]},
                          {"vertices": vertices, "train": "user"}, {"weight": "from"}):
                with self.assertRaises(gnnplan.DataError, msg=wrong):
                    gnnplan.Data.from_parquet(**dict({"edges": edges}, **wrong))
            with self.assertRaises(gnnplan.UsageError):
                gnnplan.Data.from_parquet(edges, label="class")
            try:
                frames = edges.to_pandas(), vertices.to_pandas()
            except ImportError:
                return
            data = gnnplan.Data.from_parquet(*frames, features="x", label="class", **parts)
            self.assertEqual(fingerprints(data), self.expected)


if __name__ == "__main__":
    unittest.main()
