"""Random graphs with features, labels and a split."""

import random

from files import rounded
from network import Graph


def draw_split(draw, vertices):
    """A third of the vertices each."""
    order = list(range(vertices))
    draw.shuffle(order)
    third = vertices // 3
    return {"train": sorted(order[:third]), "valid": sorted(order[third:2 * third]), "test": sorted(order[2 * third:])}


def blobs(seed, vertices=48, features=6, classes=3, noise=2.0):
    """A graph that can be learnt: features lean towards the class, and so do neighbours. Each class trains."""
    draw = random.Random(seed)
    labels = [v % classes for v in range(vertices)]
    listed = []
    for v in range(vertices):
        for _ in range(3):
            u = draw.randrange(vertices)
            if labels[u] == labels[v] or draw.random() < 0.3:
                listed += [(u, v, 1.0), (v, u, 1.0)]
    rows = [[rounded(draw.gauss(3.0 if j % classes == labels[v] else 0.0, noise)) for j in range(features)]
            for v in range(vertices)]
    split = draw_split(draw, vertices)
    return Graph(vertices, listed, rows, labels, split)
