"""Problems drawn from a distribution that was written down before anybody saw them: by the digest of the commit, which is unknown
while code is written, so that a model cannot be tuned to them.

    vertices          20,000 to 500,000, log-uniform
    degree            3 to 100 nonzeros a vertex, log-uniform
    skew              R-MAT with a = 25 (uniform), 45, 57 or 65 %, the other three quadrants alike
    layers            2, 3 or 4: one in two, three in ten, one in five
    widths            of features 32 to 602, of hidden layers 16 to 256, of classes 7 to 100, from lists of usual and odd ones
    model             gcn two in five; sage:mean, sage:max, gin, gat with 1, 2, 4 or 8 heads, agnn: equally often

A graph has fewer vertices than drawn where its nonzeros times its widest layer would be more than MOST_WORK, or its features
would take more than MOST_FEATURES bytes: a judgement takes a quarter of an hour, and fits 24 GiB.
"""
import hashlib, math, random
from typing import NamedTuple

VERTICES, DEGREES = (20_000, 500_000), (3, 100)
SKEWS = (25, 45, 57, 65)
FEATURES, HIDDEN, CLASSES = (32, 100, 128, 256, 300, 500, 602), (16, 41, 64, 100, 128, 256), (7, 16, 40, 47, 100)
MODELS = ("gcn",) * 10 + ("sage:mean", "sage:max", "gin", "gat", "agnn") * 3
LAYERS = (2,) * 5 + (3,) * 3 + (4,) * 2
HEADS = (1, 2, 4, 8)
MOST_WORK, MOST_FEATURES = 1.5e9, 400e6
PROBLEMS = 12


class Drawn(NamedTuple):
    graph: str  # rmat:VERTICES:NONZEROS:SEED:SKEW
    widths: str
    model: str


def log_uniform(source, bounds):
    low, high = bounds
    return math.exp(source.uniform(math.log(low), math.log(high)))


def whole(width, heads):
    return -(-width // heads) * heads


def draw_one(source):
    vertices, degree = log_uniform(source, VERTICES), log_uniform(source, DEGREES)
    skew, layers, model = source.choice(SKEWS), source.choice(LAYERS), source.choice(MODELS)
    heads = source.choice(HEADS) if model == "gat" else 1
    hidden = [source.choice(HIDDEN) for _ in range(layers - 1)]
    if model == "agnn":  # whose layers all work on the same columns
        hidden = hidden[:1] * len(hidden)
    widths = [source.choice(FEATURES)] + [whole(width, heads) for width in hidden + [source.choice(CLASSES)]]
    most = min(MOST_WORK / (degree * max(widths)), MOST_FEATURES / (4 * widths[0]))
    vertices = int(min(vertices, most))
    graph = f"rmat:{vertices}:{int(vertices * degree)}:{source.randrange(1, 1_000_000)}:{skew}"
    return Drawn(graph, ",".join(map(str, widths)), f"gat:{heads}" if model == "gat" else model)


def draw(seed, count=PROBLEMS):
    """So many problems, the same for the same text on every machine."""
    source = random.Random(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
    return [draw_one(source) for _ in range(count)]
