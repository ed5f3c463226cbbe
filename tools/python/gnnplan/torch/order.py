"""Numbers the vertices as the plan does: at random, and those first that the loss needs."""

import numpy

from .cut import Libra
from .data import TRAIN
from .._errors import make
from .errors import MISMATCH
from .philox import shuffled


def number_vertices(graph, data, plan):
    """Numbers the graph, and compares the sizes of the schedule's spaces with it."""
    numbering = plan.numbering
    if plan.problem.get("fanout"):
        graph.draw(plan.problem["fanout"], plan.graph["seed"])
    vertex = numpy.arange(graph.vertices)
    if numbering["permuted"]:
        vertex = shuffled(graph.vertices, numbering["seed"])
    part, parts = None, 0
    if numbering.get("cut"):
        parts = numbering["parts"]
        libra = Libra(graph, parts, numbering["seed"])
        vertex = vertex[numpy.argsort(libra.owner[vertex], kind="stable")]
        part = libra.of_edges(*graph.edges()[:2])
    layers = numbering["loss_layers"]
    if layers > 0:
        last = last_layer_needed(graph, data.subset, layers)
        vertex = vertex[numpy.argsort(layers - last[vertex], kind="stable")]
        check_spaces(plan, last)
    graph.number(vertex)
    graph.finish(part, parts)


def last_layer_needed(graph, subset, layers):
    """The last layer whose row of each vertex the loss needs, -1 where it needs none."""
    last = numpy.full(graph.vertices, -1)
    frontier = numpy.flatnonzero(subset == TRAIN)
    last[frontier] = layers
    for layer in range(layers - 1, -1, -1):
        reached = numpy.unique(graph.in_neighbours(frontier))
        frontier = reached[last[reached] < 0]
        last[frontier] = layer
    return last


def check_spaces(plan, last):
    for space in plan.spaces:
        layer = space["needed_of"]
        rows = int((last >= layer).sum())
        if layer and rows != space["rows"]:
            raise make(MISMATCH, f"the loss needs {rows} rows of layer {layer}, and the plan "
                       f"is for {space['rows']}: give the plan's data and split, or make "
                       "another plan")
