"""The random numbers of gnnrun: Philox4x32-10 (Salmon et al. 2011), by key and place.

A number depends on nothing but the seed, the use that is made of it and its global row and
column, so every rank, layout and program draws the same ones.
"""

import numpy

DRAWS, WEIGHTS, DROPOUT, ATTENTION = 0, 1, 2, 3  # the uses of streams
ORDER_STREAM = 0x109  # vertices are shuffled by this one of the draws
LOW = numpy.uint64(0xFFFFFFFF)
HALF = numpy.uint64(32)


def philox(counter, key):
    """Four arrays of 32-bit words (in 64 bits each) of four arrays of counters and two words."""
    c = [numpy.asarray(word, numpy.uint64) for word in counter]
    first, second = numpy.uint64(0xD2511F53), numpy.uint64(0xCD9E8D57)
    k = [int(key[0]), int(key[1])]
    for _ in range(10):
        a, b = first * c[0], second * c[2]
        c = [(b >> HALF) ^ c[1] ^ numpy.uint64(k[0]), b & LOW,
             (a >> HALF) ^ c[3] ^ numpy.uint64(k[1]), a & LOW]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def stream(seed, use, a, b=0):
    """The key of a stream of the seed."""
    words = philox([[use], [a], [b], [0]], (seed & 0xFFFFFFFF, seed >> 32))
    return int(words[0][0]), int(words[1][0])


def words_at(key, rows, columns):
    """The four words of a stream at arrays of rows and columns, which are broadcast."""
    rows, columns = numpy.broadcast_arrays(numpy.asarray(rows, numpy.uint64),
                                           numpy.asarray(columns, numpy.uint64))
    return philox([columns & LOW, columns >> HALF, rows & LOW, rows >> HALF], key)


def glorot(seed, number, rows, columns):
    """Initial values of the parameter that is the number-th (from 1) to be drawn."""
    words = words_at(stream(seed, WEIGHTS, number), numpy.arange(rows)[:, None],
                     numpy.arange(columns)[None, :])
    unit = (words[0] >> numpy.uint64(8)).astype(numpy.float32) * numpy.float32(2.0 ** -24)
    bound = numpy.float32(numpy.sqrt(6.0 / (rows + columns)))
    return bound * (numpy.float32(2) * unit - numpy.float32(1))


def kept(seed, epoch, layer, probability, rows, columns):
    """Says which elements dropout keeps: `rows` are numbers of rows, and `columns` is a range."""
    first, last = columns[0] // 8, (columns[1] + 7) // 8
    draws = draws_at(stream(seed, DROPOUT, epoch, layer), numpy.asarray(rows)[:, None],
                     numpy.arange(first, last)[None, :])
    return draws[:, columns[0] - 8 * first:columns[1] - 8 * first] >= threshold(probability)


def kept_edges(seed, epoch, layer, probability, targets, sources, heads, all_heads):
    """Says which weights of edges dropout keeps, for a range of heads."""
    groups = (all_heads + 7) // 8
    first, last = heads[0] // 8, (heads[1] + 7) // 8
    columns = sources.astype(numpy.int64)[:, None] * groups + numpy.arange(first, last)[None, :]
    draws = draws_at(stream(seed, ATTENTION, epoch, layer), targets[:, None], columns)
    return draws[:, heads[0] - 8 * first:heads[1] - 8 * first] >= threshold(probability)


def draws_at(key, rows, columns):
    """The draws of 16 bits at arrays of rows and columns: of each row eight for each column."""
    words = words_at(key, rows, columns)
    halves = [half for word in words for half in (word & numpy.uint64(0xFFFF),
                                                  word >> numpy.uint64(16))]
    draws = numpy.stack(halves, axis=-1)
    return draws.reshape(len(draws), 8 * draws.shape[1])


def threshold(probability):
    """Draws below it are dropped."""
    exact = float(numpy.float32(probability)) * 65536
    return numpy.uint64(min(int(numpy.floor(exact + 0.5)), 65535))


def shuffled(count, seed):
    """The vertices 0 .. count - 1 in the random order of a numbering."""
    vertices = list(range(count))
    places = numpy.arange(count)
    words = words_at(stream(seed, DRAWS, ORDER_STREAM), places, 0)
    draws = (words[1] << HALF) | words[0]
    for i in range(count - 1, 0, -1):
        j = int(draws[i]) * (i + 1) >> 64
        vertices[i], vertices[j] = vertices[j], vertices[i]
    return numpy.array(vertices, numpy.int64)
