#!/usr/bin/env python3
"""Judges predictions of epochs: rows of measure_configurations in, errors, rank agreement and regret out.

    bench/prediction/judge.py rows.json... [--json]

Rows are judged in groups of one graph, widths, number of ranks and network: a planner chooses inside one. Configurations whose
times are within 3 % of each other are ties. Exit status 1 if a bar is missed, 2 if there is nothing to judge.

Reading guide: judge() does it all and says what its figures are; table() writes them down.
"""
import argparse, json, math, pathlib, sys

sys.dont_write_bytecode = True  # of the file imported
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import programs

TIE = 0.03  # of the faster one's time
BARS = [  # figure of the whole, allowed side, bar
    ("median", "<=", 0.08), ("p90", "<=", 0.20), ("top3", ">=", 0.95), ("regret_mean", "<=", 0.02),
    ("regret_max", "<=", 0.08), ("spearman", ">=", 0.95)]
NAMES = {"median": "epoch error, median", "p90": "epoch error, 90th percentile", "max": "epoch error, largest",
         "top1": "best among the predicted first", "top3": "best among the predicted first three",
         "regret_mean": "regret, mean over groups", "regret_max": "regret, largest",
         "spearman": "Spearman, mean over groups", "spearman_pooled": "Spearman, all rows pooled"}


def quantile(values, q):
    """Linear between the two nearest order statistics."""
    values = sorted(values)
    at = q * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def mean(values):
    return sum(values) / len(values) if values else None


def ranks(values):
    """Ranks from 0. A run of values at most TIE above its first shares their mean rank."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] <= values[order[begin]] * (1 + TIE):
            end += 1
        for i in order[begin:end]:
            result[i] = (begin + end - 1) / 2
        begin = end
    return result


def spearman(predicted, measured):
    """Pearson's correlation of the ranks; None where one side is all ties, so that there is nothing to order."""
    x, y = ranks(predicted), ranks(measured)
    middle = (len(x) - 1) / 2
    over = sum((a - middle) * (b - middle) for a, b in zip(x, y))
    under = math.sqrt(sum((a - middle) ** 2 for a in x) * sum((b - middle) ** 2 for b in y))
    return over / under if under > 0 else None


def errors(rows):
    return [abs(row["predicted_seconds"] - row["measured_seconds"]) / row["measured_seconds"] for row in rows]


def first_by_prediction(rows, count):
    return sorted(rows, key=lambda row: row["predicted_seconds"])[:count]


def hit(rows, count):
    """Whether the fastest measured, or one that ties with it, is among the `count` predicted to be fastest."""
    best = min(row["measured_seconds"] for row in rows)
    return any(row["measured_seconds"] <= best * (1 + TIE) for row in first_by_prediction(rows, count))


def regret(rows):
    """How much longer the pick takes than the best, relative; 0 for a tie."""
    best = min(row["measured_seconds"] for row in rows)
    lost = first_by_prediction(rows, 1)[0]["measured_seconds"] / best - 1
    return lost if lost > TIE else 0.0


def kinds(rows):
    """Steps added up by kind, the largest sum of absolute errors first."""
    sums = {}
    for row in rows:
        for step in row["steps"]:
            entry = sums.setdefault(step["kind"], {"kind": step["kind"], "steps": 0, "predicted": 0.0, "measured": 0.0,
                                                   "error": 0.0})
            entry["steps"] += 1
            entry["predicted"] += step["predicted"]
            entry["measured"] += step["measured"]
            entry["error"] += abs(step["predicted"] - step["measured"])
    return sorted(sums.values(), key=lambda entry: -entry["error"])


def figures(rows):
    """Of one group. `spread`: of a configuration's epochs, (slowest - fastest) / median; the median over the rows."""
    found = errors(rows)
    spread = [(row["slowest"] - row["fastest"]) / row["measured_seconds"] for row in rows]
    predicted, measured = ([row[key] for row in rows] for key in ("predicted_seconds", "measured_seconds"))
    return {"rows": len(rows), "median": quantile(found, 0.5), "p90": quantile(found, 0.9), "max": max(found),
            "bias": math.exp(mean([math.log(p / m) for p, m in zip(predicted, measured)])) - 1,
            "spearman": spearman(predicted, measured), "top1": hit(rows, 1), "top3": hit(rows, 3), "regret": regret(rows),
            "best_seconds": min(measured), "worst_seconds": max(measured), "spread": quantile(spread, 0.5),
            "worst_kind": next((entry["kind"] for entry in kinds(rows)), None)}


def group(rows):
    """(graph, widths, ranks, network) -> rows, in the order of the rows."""
    groups = {}
    for row in rows:
        groups.setdefault((row["graph"], tuple(row["widths"]), row["ranks"], row["network"]), []).append(row)
    return groups


def judge(rows):
    """{groups, overall, kinds, bars, passed}. Errors are pooled over rows; hits, regret and Spearman are of groups."""
    if not rows:
        raise ValueError("no rows to judge")
    groups = [{"graph": graph, "widths": list(widths), "ranks": ranks_, "network": network, **figures(members)}
              for (graph, widths, ranks_, network), members in group(rows).items()]
    found = errors(rows)
    pooled = spearman([row["predicted_seconds"] for row in rows], [row["measured_seconds"] for row in rows])
    overall = {"rows": len(rows), "median": quantile(found, 0.5), "p90": quantile(found, 0.9), "max": max(found),
               "top1": mean([g["top1"] for g in groups]), "top3": mean([g["top3"] for g in groups]),
               "regret_mean": mean([g["regret"] for g in groups]), "regret_max": max(g["regret"] for g in groups),
               "spearman": mean([g["spearman"] for g in groups if g["spearman"] is not None]), "spearman_pooled": pooled}
    bars = []
    for figure, side, bar in BARS:
        value = overall[figure]
        met = value is not None and (value <= bar if side == "<=" else value >= bar)
        bars.append({"figure": figure, "value": value, "side": side, "bar": bar, "met": met})
    return {"groups": groups, "overall": overall, "kinds": kinds(rows), "bars": bars,
            "passed": all(bar["met"] for bar in bars)}


def percent(value):
    return f"{100 * value:.1f} %"


def shown(figure, value):
    if value is None:
        return "-"
    return f"{value:.3f}" if figure.startswith("spearman") else percent(value)


def table(verdict):
    """Markdown."""
    lines = ["| graph | widths | ranks, network | configurations | epochs ms | spread | bias | error: median | p90 | max | Spearman | "
             "top 1 | top 3 | regret | worst |", "|---" * 15 + "|"]
    for g in verdict["groups"]:
        hits = " | ".join("yes" if g[key] else "no" for key in ("top1", "top3"))
        lines.append(f"| {g['graph']} | {'-'.join(map(str, g['widths']))} | {g['ranks']}, {g['network']} | {g['rows']} | "
                     f"{1e3 * g['best_seconds']:.4g}-{1e3 * g['worst_seconds']:.4g} | {percent(g['spread'])} | {percent(g['bias'])} | "
                     f"{percent(g['median'])} | {percent(g['p90'])} | {percent(g['max'])} | {shown('spearman', g['spearman'])} | "
                     f"{hits} | {percent(g['regret'])} | {g['worst_kind'] or '-'} |")
    total = sum(entry["error"] for entry in verdict["kinds"]) or 1
    lines += ["", "| kind of step | steps | measured s | predicted / measured | absolute error s | share of all error |",
              "|---" * 6 + "|"]
    for entry in verdict["kinds"]:
        ratio = f"{entry['predicted'] / entry['measured']:.2f}" if entry["measured"] > 0 else "-"
        lines.append(f"| {entry['kind']} | {entry['steps']} | {entry['measured']:.4g} | {ratio} | {entry['error']:.4g} | "
                     f"{percent(entry['error'] / total)} |")
    lines += ["", f"{verdict['overall']['rows']} configurations", "", "| figure | value | bar | |", "|---" * 4 + "|"]
    bars = {bar["figure"]: bar for bar in verdict["bars"]}
    for figure, name in NAMES.items():
        bar = bars.get(figure)
        wanted = ("-", "") if bar is None else (f"{bar['side']} {bar['bar']:g}", "pass" if bar["met"] else "FAIL")
        lines.append(f"| {name} | {shown(figure, verdict['overall'][figure])} | {wanted[0]} | {wanted[1]} |")
    return "\n".join(lines)


def report(rows, as_json):
    """Prints the verdict; the exit status."""
    verdict = judge(rows)
    print(json.dumps(verdict, indent=1) if as_json else table(verdict))
    return 0 if verdict["passed"] else 1


KEYS = {"graph", "widths", "ranks", "network", "predicted_seconds", "measured_seconds", "fastest", "slowest", "steps"}


def read(name):
    """The rows of a file, which has some."""
    hint = "run.py -o and measure_configurations -o write rows"
    rows = programs.read_json(name, hint)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) and KEYS <= row.keys() for row in rows):
        programs.fail(f"{name} has no rows to judge; {hint}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", help="files of measure_configurations")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    sys.exit(report([row for name in options.rows for row in read(name)], options.json))


if __name__ == "__main__":
    main()
