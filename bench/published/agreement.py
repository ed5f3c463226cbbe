"""Compares predictions with published figures where a table gives less than a time for each configuration."""
import csv, itertools, math, pathlib, sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "prediction"))

from judge import TIE, correlation, mean, quantile, tied_ranks  # noqa: E402,F401  times within 3 % are ties there


def published(name):
    """Rows of one of the tables beside this file; figures are numbers, empty ones None."""
    with open(HERE / name, encoding="utf-8") as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return [{key: number(value) for key, value in row.items()} for row in rows]


def number(text):
    try:
        return float(text) if text else None
    except ValueError:
        return text


def geometric_mean(values):
    return math.exp(mean([math.log(value) for value in values]))


def spearman(predicted, measured):
    """Spearman's correlation of figures that come without intervals; None where one side is all ties."""
    return correlation(tied_ranks(predicted), tied_ranks(measured))


def spearman_by_chance(measured, ascending):
    """Mean correlation of `measured` with an order drawn at random among those that keep `ascending`, pairs (i, j) whose i-th
    figure is the smaller one by definition."""
    orders = [order for order in itertools.permutations(range(len(measured)))
              if all(order[i] < order[j] for i, j in ascending)]
    return mean([spearman([1 + place for place in order], measured) for order in orders])


def regret_bounds(picked, fastest):
    """The least and the most that a pick loses on the fastest, if only (fastest, slowest) of its class is known."""
    lost = [time / fastest - 1 for time in picked]
    return tuple(loss if loss > TIE else 0.0 for loss in lost)


def percent(value):
    return f"{100 * value:.1f} %"


def figures(value, digits=3):
    """Rounded to so many significant digits, never in powers of ten."""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):,.{max(0, decimals)}f}"


def grid(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])
