"""Draws some of the in-neighbours of every vertex, as gnnrun does; a self loop stays, and is none of them."""

import numpy

from .draws import BATCH_STREAM, below
from .philox import DRAWS, stream, words_at

NEIGHBOUR_STREAM = 0x10A  # neighbours are drawn by this one of the draws
LAYERS_OF_NUMBER = 3      # a number of 128 bits serves three layers, 42 bits each
OF_VERTICES = 2 ** 32     # rows of the stream between the numbers of one layer and those of the third after it


def seed_of_update(seed, number):
    """The seed with which an update of a training draws."""
    words = words_at(stream(seed, DRAWS, BATCH_STREAM), number, 0)
    return int(words[1]) << 32 | int(words[0])


class Neighbours:
    """The edges of a graph by their targets, of which layers draw some."""

    def __init__(self, vertices, target, source):
        self.loop = target == source
        self.order = numpy.lexsort((source, target))
        self.order = self.order[~self.loop[self.order]]
        self.degree = numpy.bincount(target[~self.loop], minlength=vertices)
        self.begin = numpy.concatenate([[0], self.degree.cumsum()])
        self.target = target

    def drawn(self, seed, layer, fanout):
        """Returns the edges that a layer (from 0 on) draws, and how many edges each of them stands for."""
        many = numpy.flatnonzero(self.degree > fanout)
        taken = numpy.repeat(self.degree <= fanout, self.degree)
        key = stream(seed, DRAWS, NEIGHBOUR_STREAM)
        row = layer // LAYERS_OF_NUMBER * OF_VERTICES + many
        for i in range(fanout):
            words = words_at(key, row, i)
            last = self.degree[many] - fanout + i
            wanted = below(*bits_of(words, layer % LAYERS_OF_NUMBER), last + 1)
            again = taken[self.begin[many] + wanted]
            taken[self.begin[many] + numpy.where(again, last, wanted)] = True
        kept = self.loop.copy()
        kept[self.order[taken]] = True
        share = self.degree.astype(numpy.float32) / numpy.float32(fanout)
        each = numpy.where(self.degree > fanout, share, numpy.float32(1))[self.target]
        return kept, numpy.where(self.loop, numpy.float32(1), each)


def bits_of(words, layer):
    """The low and the high half of the bits that a layer has of a number, the highest first."""
    half = numpy.uint64(32)
    low, high = words[1] << half | words[0], words[3] << half | words[2]
    cut, shift = numpy.uint64(22), numpy.uint64
    bits = (low << cut, high << shift(44) | low >> shift(42) << cut, high >> shift(20) << cut)[layer]
    return bits & numpy.uint64(0xFFFFFFFF), bits >> half
