"""A planted graph of Reddit's size: skewed degrees, neighbours that lean towards a vertex's class, noisy features.

    python planted_reddit.py GRAPH.npz [--vertices 233000] [--nonzeros 11000000] [--features 128] ...

Reddit has 602 features, whose matrix is 560 MB; 128 are a fifth of that. Sizes of classes fall as (c + 1)^-0.5, and
vertices are drawn as ends of edges by weights that fall as (v + 1)^-0.6. 66 % of the vertices are for training, 10 %
for validation and 24 % for tests, as Reddit's. Of the features alone, the nearest centre of a class is right for 54 %
of the vertices. Half of the edges are drawn within a class; with --homophily 0.3 a vertex needs most of its neighbours
to be told from other classes. Needs NumPy.
"""
import argparse
import pathlib

import numpy


def ends(draw, cumulative, first, last):
    """Positions whose share of the cumulative weights, from `first` to `last`, is hit by a uniform draw."""
    low = numpy.where(first > 0, cumulative[first - 1], 0.0)
    return numpy.searchsorted(cumulative, low + draw.random(len(first)) * (cumulative[last - 1] - low), side="right")


def edges(draw, labels, weights, nonzeros, homophily):
    """Pairs with their reverses [2, E], each once; with chance `homophily` an end is drawn in the other's class."""
    n, count = len(labels), nonzeros // 2
    order = numpy.argsort(labels, kind="stable")  # vertices of a class are a range of it
    cumulative = numpy.cumsum(weights[order])
    bounds = numpy.concatenate([[0], numpy.cumsum(numpy.bincount(labels))])
    begin, end = numpy.zeros(count, numpy.int64), numpy.full(count, n)
    u = order[numpy.minimum(ends(draw, cumulative, begin, end), n - 1)]
    within = draw.random(count) < homophily
    begin, end = numpy.where(within, bounds[labels[u]], begin), numpy.where(within, bounds[labels[u] + 1], end)
    v = order[numpy.minimum(ends(draw, cumulative, begin, end), end - 1)]
    key = numpy.unique((numpy.minimum(u, v) * n + numpy.maximum(u, v))[u != v])
    low, high = (key // n).astype(numpy.int32), (key % n).astype(numpy.int32)
    return numpy.stack([numpy.concatenate([low, high]), numpy.concatenate([high, low])])


def write(path, options):
    draw = numpy.random.default_rng(options.seed)
    n, share = options.vertices, numpy.arange(1, options.classes + 1) ** -0.5
    labels = draw.choice(options.classes, n, p=share / share.sum())
    weights = draw.permutation(numpy.arange(1, n + 1) ** -0.6)
    centres = draw.normal(size=(options.classes, options.features)).astype(numpy.float32)
    features = options.signal * centres[labels] + draw.normal(size=(n, options.features)).astype(numpy.float32)
    order = draw.permutation(n)
    train, valid, test = numpy.split(order, [n * 66 // 100, n * 76 // 100])
    part = pathlib.Path(path).with_suffix(".part.npz")
    numpy.savez(part, edge_index=edges(draw, labels, weights, options.nonzeros, options.homophily), num_nodes=n,
                x=features.astype(numpy.float32), y=labels, train_idx=numpy.sort(train), valid_idx=numpy.sort(valid),
                test_idx=numpy.sort(test))
    part.rename(path)  # a whole file or none


def parser():
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("graph", type=pathlib.Path)
    found.add_argument("--vertices", type=int, default=233_000)
    found.add_argument("--nonzeros", type=int, default=11_000_000, help="entries to draw; duplicates are dropped")
    found.add_argument("--features", type=int, default=128)
    found.add_argument("--classes", type=int, default=41)
    found.add_argument("--homophily", type=float, default=0.5, help="chance that an edge stays in its class")
    found.add_argument("--signal", type=float, default=0.2, help="length of the classes' centres over the noise's")
    found.add_argument("--seed", type=int, default=1)
    return found


if __name__ == "__main__":
    options = parser().parse_args()
    write(options.graph, options)
