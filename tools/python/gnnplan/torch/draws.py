"""Draws the vertices of batches, and the order in which a run walks through them, as gnnrun does."""

import numpy

from .philox import DRAWS, stream, words_at

BATCH_STREAM = 0x10B  # batches are drawn by this one of the draws
OF_DRAWS = 2 ** 40    # columns of the stream between the pairs of numbers of a draw
MASK = 2 ** 64 - 1


def below(low, high, bounds):
    """Numbers below these bounds of the low and the high half of 64 random bits."""
    half, bounds = numpy.uint64(32), numpy.asarray(bounds, numpy.uint64)
    return ((high * bounds + (low * bounds >> half)) >> half).astype(numpy.int64)


class Numbers:
    """Random numbers for the draws of a batch, each of which has its own."""

    def __init__(self, seed, batch, draws):
        self.key, self.batch = stream(seed, DRAWS, BATCH_STREAM), batch
        self.used = numpy.zeros(draws, numpy.int64)

    def below(self, draws, bounds):
        """The next number of each of these draws, of which none is its bound or more."""
        words = words_at(self.key, self.batch, self.used[draws] // 2 * OF_DRAWS + draws)
        second = self.used[draws] % 2 == 1
        low, high = (numpy.where(second, words[i + 2], words[i]) for i in (0, 1))
        self.used[draws] += 1
        return below(low, high, bounds)


class Draws:
    """Vertices of batches of a graph, which is given as row starts and columns of A and of A^T."""

    def __init__(self, sampling, symmetric, targets, sources):
        self.sampling, self.symmetric = sampling, symmetric
        self.targets, self.sources = targets, sources
        self.count = len(targets[0]) - 1
        self.others = [has_others(*matrix) for matrix in (targets, sources)]
        self.with_edges = numpy.flatnonzero(self.others[0] | self.others[1])

    def vertices(self, batch):
        """Those of a batch, ascending."""
        budget = self.sampling["budget"]
        numbers, draws = Numbers(self.sampling["seed"], batch, budget), numpy.arange(budget)
        take = {"node": self._nodes, "edge": self._edges, "walk": self._walks}
        return numpy.unique(numpy.concatenate(take[self.sampling["sampler"]](numbers, draws)))

    def _nodes(self, numbers, draws):
        """Sources of random edges."""
        start, column = self.sources

        def choose(which):
            edge = numbers.below(which, len(column))
            row = numpy.searchsorted(start, edge, side="right") - 1
            return column[edge], row
        return [until_other(draws, choose)]

    def _edges(self, numbers, draws):
        """Both ends of edges, drawn by one of them."""
        ends = self.with_edges[numbers.below(draws, len(self.with_edges))]
        return [ends, self._neighbours(numbers, draws, ends)]

    def _walks(self, numbers, draws):
        here = numbers.below(draws, self.count)
        taken = [here]
        for _ in range(self.sampling["walk_length"]):
            going = draws[self.others[0][here]]
            here = here.copy()
            here[going] = self._targets(numbers, going, here[going])
            taken.append(here)
        return taken

    def _targets(self, numbers, draws, vertices):
        """Ends of random edges of these vertices, which have some that are no loops."""
        start, column = self.targets

        def choose(which):
            of = vertices[which]
            return column[start[of] + numbers.below(draws[which], start[of + 1] - start[of])], of
        return until_other(numpy.arange(len(draws)), choose)

    def _neighbours(self, numbers, draws, vertices):
        """The same in both directions."""
        if self.symmetric:
            return self._targets(numbers, draws, vertices)
        (start, column), (back_start, back_column) = self.targets, self.sources

        def choose(which):
            of = vertices[which]
            out, into = start[of + 1] - start[of], back_start[of + 1] - back_start[of]
            i = numbers.below(draws[which], out + into)
            forth = numpy.append(column, 0)[numpy.where(i < out, start[of] + i, len(column))]
            back = numpy.append(back_column, 0)[
                numpy.where(i < out, len(back_column), back_start[of] + i - out)]
            return numpy.where(i < out, forth, back), of
        return until_other(numpy.arange(len(draws)), choose)


def until_other(which, choose):
    """Chooses ends of edges until none is that of a loop."""
    ends = numpy.zeros(len(which), numpy.int64)
    pending = which
    while len(pending):
        ends[pending], of = choose(pending)
        pending = pending[ends[pending] == of]
    return ends


def has_others(start, column):
    """Says which rows have a nonzero that is no loop."""
    degree = numpy.diff(start)
    first = numpy.append(column, -1)[start[:-1]]
    return (degree > 1) | ((degree == 1) & (first != numpy.arange(len(degree))))


def order_of_round(batches, seed, number):
    """All batches of a pool in the random order of one walk through them."""
    random = Mersenne([seed & 0xFFFFFFFF, seed >> 32, number & 0xFFFFFFFF])
    order = list(range(batches))
    for i in range(batches - 1, 0, -1):
        j = random.next() % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order


class Mersenne:
    """std::mt19937_64 (Matsumoto and Nishimura 1998), seeded by a std::seed_seq."""

    SIZE, MIDDLE = 312, 156

    def __init__(self, words):
        seeds = seed_sequence(words, 2 * self.SIZE)
        self.state = [seeds[i] | seeds[i + 1] << 32 for i in range(0, len(seeds), 2)]
        self.at = self.SIZE

    def next(self):
        if self.at == self.SIZE:
            self._twist()
        x = self.state[self.at]
        self.at += 1
        x ^= x >> 29 & 0x5555555555555555
        x ^= x << 17 & 0x71D67FFFEDA60000
        x ^= x << 37 & 0xFFF7EEE000000000
        return x ^ x >> 43

    def _twist(self):
        low = 2 ** 31 - 1
        for i in range(self.SIZE):
            x = self.state[i] & (MASK ^ low) | self.state[(i + 1) % self.SIZE] & low
            odd = 0xB5026F5AA96619E9 if x & 1 else 0
            self.state[i] = self.state[(i + self.MIDDLE) % self.SIZE] ^ x >> 1 ^ odd
        self.at = 0


def seed_sequence(words, count):
    """So many words of std::seed_seq, as the C++ standard has it, for 623 and more."""
    found = [0x8B8B8B8B] * count
    distance, size = (count - 11) // 2, len(words)
    for k in range(2 * count):
        at, near, far = k % count, (k + distance) % count, (k + distance + 11) % count
        if k < count:
            mixed = found[at] ^ found[near] ^ found[at - 1]
            first = 1664525 * (mixed ^ mixed >> 27) & 0xFFFFFFFF
            more = size if k == 0 else at + (words[k - 1] if k <= size else 0)
            second = first + more & 0xFFFFFFFF
            found[near] = found[near] + first & 0xFFFFFFFF
            found[far] = found[far] + second & 0xFFFFFFFF
        else:
            mixed = found[at] + found[near] + found[at - 1] & 0xFFFFFFFF
            first = 1566083941 * (mixed ^ mixed >> 27) & 0xFFFFFFFF
            second = first - at & 0xFFFFFFFF
            found[near] ^= first
            found[far] ^= second
        found[at] = second
    return found
