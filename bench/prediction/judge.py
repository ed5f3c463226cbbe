#!/usr/bin/env python3
"""Judges predictions of epochs: rows of measure_configurations in, errors, rank agreement and regret out.

    bench/prediction/judge.py rows.json... [--json]

Rows are judged in groups of one graph, widths, number of ranks and network: a planner chooses inside one. Configurations whose
measured times are within 3 % of each other, or whose intervals overlap, are ties: nothing is held against a prediction that the
measurements leave open. Exit status 1 if a bar is missed, 2 if there is nothing to judge.

Reading guide: judge() does it all and says what its figures are; table() writes them down.
"""
import argparse, json, math, pathlib, sys

sys.dont_write_bytecode = True  # of the file imported
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import programs

TIE = 0.03  # of the faster one's time
TOP = 3  # so many of the first predicted are tried out by a user who has time for it
BARS = [  # figure of the whole, allowed side, bar
    ("median", "<=", 0.08), ("p90", "<=", 0.20), ("top3", ">=", 0.95), ("regret_mean", "<=", 0.02),
    ("regret_max", "<=", 0.08), ("spearman", ">=", 0.95)]
NAMES = {"median": "epoch error, median", "p90": "epoch error, 90th percentile", "max": "epoch error, largest",
         "top1": "best among the predicted first", "top3": "best among the predicted first three",
         "regret_mean": "regret, mean over groups", "regret_max": "regret, largest",
         "regret_medians": "regret of medians, mean, whatever the intervals", "regret_fastest": "regret of fastest epochs, mean",
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


def is_faster(a, b):
    """Whether row a is faster than row b beyond doubt: by more than a tie, and their intervals do not overlap."""
    return b["measured_seconds"] > a["measured_seconds"] * (1 + TIE) and a["high"] < b["low"]


def certain(rows):
    """The rows as if their medians were known exactly."""
    return [{**row, "low": row["measured_seconds"], "high": row["measured_seconds"]} for row in rows]


def of_fastest(rows):
    """The rows as if each one's fastest epoch were its time: an outside program only ever makes an epoch longer."""
    return certain([{**row, "measured_seconds": row["fastest"]} for row in rows])


def runs(order, ties):
    """The order cut into runs of neighbours of which each ties with the run's first: ties do not chain."""
    found = []
    for i in order:
        if found and ties(found[-1][0], i):
            found[-1].append(i)
        else:
            found.append([i])
    return found


def tied_ranks(times):
    """Ranks from 0 of times. Those within a tie share their mean rank."""
    result = [0.0] * len(times)
    begin = 0
    for run in runs(sorted(range(len(times)), key=lambda i: times[i]), lambda a, b: times[b] <= times[a] * (1 + TIE)):
        for i in run:
            result[i] = begin + (len(run) - 1) / 2
        begin += len(run)
    return result


def measured_ranks(rows, predicted):
    """Ranks from 0 of the measured times. Within a run of ties any order is as true as another, so they are in that of the
    predicted ranks; those that share one there share one here. None where all rows are one run: there is nothing to order."""
    order = sorted(range(len(rows)), key=lambda i: rows[i]["measured_seconds"])
    found = runs(order, lambda a, b: not is_faster(rows[a], rows[b]))
    if len(found) < 2:
        return None
    result = [0.0] * len(rows)
    begin = 0
    for run in found:
        for i in run:
            below = sum(predicted[j] < predicted[i] for j in run)
            result[i] = begin + below + (sum(predicted[j] == predicted[i] for j in run) - 1) / 2
        begin += len(run)
    return result


def spearman(rows):
    """Spearman's correlation of predicted and measured times; None where one side is all ties."""
    x = tied_ranks([row["predicted_seconds"] for row in rows])
    y = measured_ranks(rows, x)
    return None if y is None else correlation(x, y)


def correlation(x, y):
    """Pearson's correlation of ranks; None where one side is all ties, so that there is nothing to order."""
    middle = (len(x) - 1) / 2
    over = sum((a - middle) * (b - middle) for a, b in zip(x, y))
    under = math.sqrt(sum((a - middle) ** 2 for a in x) * sum((b - middle) ** 2 for b in y))
    return over / under if under > 0 else None


def errors(rows):
    return [abs(row["predicted_seconds"] - row["measured_seconds"]) / row["measured_seconds"] for row in rows]


def first_by_prediction(rows, count):
    return sorted(rows, key=lambda row: row["predicted_seconds"])[:count]


def lost(row, rows):
    """How much longer a configuration takes than the fastest of those that are faster beyond doubt, relative; 0 if none is."""
    return max((row["measured_seconds"] / other["measured_seconds"] - 1 for other in rows if is_faster(other, row)), default=0.0)


def hit(rows, count):
    """Whether among the `count` predicted to be fastest is one that nothing beats beyond doubt."""
    return any(lost(row, rows) == 0 for row in first_by_prediction(rows, count))


def regret(rows):
    """The time that the configuration predicted first loses on the fastest, as a fraction."""
    return lost(first_by_prediction(rows, 1)[0], rows)


def is_open(rows):
    """Whether noise decided: medians alone would hold a regret or a miss against the predictions that intervals do not."""
    medians = certain(rows)
    return regret(rows) < regret(medians) or any(hit(rows, count) and not hit(medians, count) for count in (1, TOP))


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
    """The figures of one group. `spread` is (slowest - fastest) / median of a configuration's epochs, `interval` is
    (high - low) / median; both are the median over the rows. `regret_medians` and `regret_fastest` take medians, or
    fastest epochs, for exact."""
    found = errors(rows)
    spread = [(row["slowest"] - row["fastest"]) / row["measured_seconds"] for row in rows]
    interval = [(row["high"] - row["low"]) / row["measured_seconds"] for row in rows]
    measured = [row["measured_seconds"] for row in rows]
    bias = mean([math.log(row["predicted_seconds"] / row["measured_seconds"]) for row in rows])
    return {"rows": len(rows), "median": quantile(found, 0.5), "p90": quantile(found, 0.9), "max": max(found),
            "bias": math.exp(bias) - 1, "spearman": spearman(rows), "top1": hit(rows, 1), "top3": hit(rows, TOP),
            "regret": regret(rows), "regret_medians": regret(certain(rows)), "regret_fastest": regret(of_fastest(rows)),
            "open": is_open(rows), "best_seconds": min(measured), "worst_seconds": max(measured),
            "spread": quantile(spread, 0.5), "interval": quantile(interval, 0.5),
            "worst_kind": next((entry["kind"] for entry in kinds(rows)), None)}


def group(rows):
    """(graph, widths, ranks, network) -> rows, in the order of the rows."""
    groups = {}
    for row in rows:
        groups.setdefault((row["graph"], tuple(row["widths"]), row["ranks"], row["network"]), []).append(row)
    return groups


def judge(rows):
    """{groups, overall, kinds, bars, passed}. Errors are pooled over rows; hits, regret and Spearman are of groups. `open`: groups
    that noise decided; `wide`: rows whose intervals are wider than a tie."""
    if not rows:
        raise ValueError("no rows to judge")
    groups = [{"graph": graph, "widths": list(widths), "ranks": ranks_, "network": network, **figures(members)}
              for (graph, widths, ranks_, network), members in group(rows).items()]
    found = errors(rows)
    overall = {"rows": len(rows), "median": quantile(found, 0.5), "p90": quantile(found, 0.9), "max": max(found),
               "top1": mean([g["top1"] for g in groups]), "top3": mean([g["top3"] for g in groups]),
               "regret_mean": mean([g["regret"] for g in groups]), "regret_max": max(g["regret"] for g in groups),
               "regret_medians": mean([g["regret_medians"] for g in groups]),
               "regret_fastest": mean([g["regret_fastest"] for g in groups]),
               "spearman": mean([g["spearman"] for g in groups if g["spearman"] is not None]),
               "spearman_pooled": spearman(rows),
               "open": sum(g["open"] for g in groups),
               "wide": sum(row["high"] - row["low"] > TIE * row["measured_seconds"] for row in rows)}
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
    lines = ["| graph | widths | ranks, network | configurations | epochs ms | spread | interval | bias | error: median | p90 | max | "
             "Spearman | top 1 | top 3 | regret | of medians | of fastest | open | worst |", "|---" * 19 + "|"]
    for g in verdict["groups"]:
        hits = " | ".join("yes" if g[key] else "no" for key in ("top1", "top3"))
        lines.append(f"| {g['graph']} | {'-'.join(map(str, g['widths']))} | {g['ranks']}, {g['network']} | {g['rows']} | "
                     f"{1e3 * g['best_seconds']:.4g}-{1e3 * g['worst_seconds']:.4g} | {percent(g['spread'])} | {percent(g['interval'])} | "
                     f"{percent(g['bias'])} | "
                     f"{percent(g['median'])} | {percent(g['p90'])} | {percent(g['max'])} | {shown('spearman', g['spearman'])} | "
                     f"{hits} | {percent(g['regret'])} | {percent(g['regret_medians'])} | {percent(g['regret_fastest'])} | "
                     f"{'yes' if g['open'] else 'no'} | {g['worst_kind'] or '-'} |")
    total = sum(entry["error"] for entry in verdict["kinds"]) or 1
    lines += ["", "| kind of step | steps | measured s | predicted / measured | absolute error s | share of all error |",
              "|---" * 6 + "|"]
    for entry in verdict["kinds"]:
        ratio = f"{entry['predicted'] / entry['measured']:.2f}" if entry["measured"] > 0 else "-"
        lines.append(f"| {entry['kind']} | {entry['steps']} | {entry['measured']:.4g} | {ratio} | {entry['error']:.4g} | "
                     f"{percent(entry['error'] / total)} |")
    overall = verdict["overall"]
    lines += ["", f"{overall['rows']} configurations, {overall['wide']} with intervals wider than {percent(TIE)}; "
              f"{len(verdict['groups'])} groups, {overall['open']} decided by noise", "", "| figure | value | bar | |", "|---" * 4 + "|"]
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


KEYS = {"graph", "widths", "ranks", "network", "predicted_seconds", "measured_seconds", "low", "high", "fastest", "slowest", "steps"}


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
