#!/usr/bin/env python3
"""Judges rows of drawn problems (run.py --draw) against bars that are not moved, with what the machine itself did beside them.

    bench/prediction/drawn.py rows.json... [--json]

Problems that were measured twice ("again" in their rows) say by how much the machine differs from itself (A/A): no model can be
nearer than that. Epochs below 10 ms are judged in a table of their own, without bars. Nothing excuses a regret here, not even that
intervals overlap. Exit status 1 if a bar is missed, 2 if there is nothing to judge.
"""
import argparse, json, math, pathlib, sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import judge
import programs

SHORT = 0.01  # seconds
QUIET = {1: (0.02, 0.06), 2: (0.04, 0.10)}  # ranks: median and 90th percentile of errors on a machine that nothing disturbs
MEDIAN, P90 = 0.03, 0.08  # on any machine, or its own difference and twice that
COVERAGE, WIDTH = (0.72, 0.88), 0.25  # of intervals of 80 %
REGRET_MEAN, REGRET_MAX = 0.01, 0.03
KIND = (0.85, 1.2)  # predicted over measured, of overlapped products and of needed rows


def key(row):
    return row["graph"], tuple(row["widths"]), row["ranks"], row["network"], row["configuration"], row.get("operands")


def self_difference(rows):
    """abs(log of the ratio) of each configuration that was measured twice."""
    first = {key(row): row["measured_seconds"] for row in rows if not row.get("again")}
    return [abs(math.log(row["measured_seconds"] / first[key(row)])) for row in rows if row.get("again") and key(row) in first]


def coverage(rows):
    """The share of measured times within their predicted intervals, and the median width of these; None where rows have none."""
    known = [row for row in rows if row.get("predicted_low") is not None]
    if not known:
        return None, None
    inside = sum(row["predicted_low"] <= row["measured_seconds"] <= row["predicted_high"] for row in known)
    widths = [(row["predicted_high"] - row["predicted_low"]) / row["predicted_seconds"] for row in known]
    return inside / len(known), judge.quantile(widths, 0.5)


def bars_of(figures, ranks):
    """(name, value, least, most) of each bar; a value of None meets none."""
    apart = figures["aa"] or 0
    median, p90 = QUIET.get(ranks, QUIET[2])
    return [("error, median, quiet machine", figures["median"], None, median), ("error, 90th percentile, quiet machine", figures["p90"], None, p90),
            ("error, median, any machine", figures["median"], None, max(MEDIAN, apart)),
            ("error, 90th percentile, any machine", figures["p90"], None, max(P90, 2 * apart)),
            ("coverage of 80 % intervals", figures["coverage"], *COVERAGE), ("width of intervals, median", figures["width"], None, WIDTH),
            ("regret of medians, mean", figures["regret_mean"], None, REGRET_MEAN), ("regret of medians, largest", figures["regret_max"], None, REGRET_MAX)]


def figures_of(rows):
    """The figures of rows of one number of ranks."""
    once = [row for row in rows if not row.get("again")]
    errors, apart = judge.errors(once), self_difference(rows)
    regrets = [judge.regret(judge.certain(members)) for members in judge.group(once).values()]
    inside, width = coverage(once)
    bias = judge.mean([math.log(row["predicted_seconds"] / row["measured_seconds"]) for row in once])
    return {"rows": len(once), "median": judge.quantile(errors, 0.5), "p90": judge.quantile(errors, 0.9), "bias": math.exp(bias) - 1,
            "aa": judge.quantile(apart, 0.5) if apart else None, "aa_p90": judge.quantile(apart, 0.9) if apart else None, "coverage": inside,
            "width": width, "regret_mean": judge.mean(regrets), "regret_max": max(regrets)}


def kind_bars(rows):
    """Predicted over measured of kinds of steps that overlap or fetch needed rows."""
    found = []
    for entry in judge.kinds([row for row in rows if not row.get("again")]):
        if ("overlapped" in entry["kind"] or " rows" in entry["kind"]) and entry["measured"] > 0:
            found.append((entry["kind"], entry["predicted"] / entry["measured"], *KIND))
    return found


def met(value, least, most):
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


def judge_drawn(rows):
    """{ranks: {"long": figures, "short": figures, "bars": [{name, value, least, most, met}]}}; either part may be missing."""
    if not rows:
        raise ValueError("no rows to judge")
    verdict = {}
    for ranks in sorted({row["ranks"] for row in rows}):
        own = [row for row in rows if row["ranks"] == ranks]
        # A configuration is short both times or neither: where it was measured first decides.
        first = {key(row): row["measured_seconds"] for row in own if not row.get("again")}
        parts = {"long": [row for row in own if first.get(key(row), 0) >= SHORT], "short": [row for row in own if first.get(key(row), 0) < SHORT]}
        entry = {name: figures_of(members) for name, members in parts.items() if any(not row.get("again") for row in members)}
        named = bars_of(entry["long"], ranks) if "long" in entry else []
        entry["bars"] = [{"name": name, "value": value, "least": least, "most": most, "met": met(value, least, most)}
                         for name, value, least, most in named + kind_bars(parts["long"])]
        verdict[ranks] = entry
    return verdict


def shown(value):
    return "-" if value is None else judge.percent(value)


def table(verdict):
    """Markdown."""
    lines = ["| ranks | epochs | configurations | error: median | p90 | bias | A/A: median | p90 | coverage | width | regret: mean | largest |",
             "|---" * 12 + "|"]
    for ranks, entry in verdict.items():
        for name, words in (("long", "from 10 ms"), ("short", "below")):
            if name not in entry:
                continue
            f = entry[name]
            cells = [f[k] for k in ("median", "p90", "bias", "aa", "aa_p90", "coverage", "width", "regret_mean", "regret_max")]
            lines.append(f"| {ranks} | {words} | {f['rows']} | " + " | ".join(map(shown, cells)) + " |")
    lines += ["", "| ranks | bar | value | allowed | |", "|---" * 5 + "|"]
    for ranks, entry in verdict.items():
        for bar in entry["bars"]:
            ratio = bar["least"] == KIND[0] and bar["most"] == KIND[1]
            show = (lambda value: f"{value:.2f}") if ratio else shown
            allowed = (f"{show(bar['least'])} to {show(bar['most'])}" if bar["least"] is not None else f"at most {show(bar['most'])}")
            lines.append(f"| {ranks} | {bar['name']}{', predicted / measured' if ratio else ''} | {show(bar['value'])} | {allowed} | "
                         f"{'pass' if bar['met'] else 'FAIL'} |")
    return "\n".join(lines)


def passed(verdict):
    """Whether all bars are met but those of a quiet machine, which the machine may not be."""
    return all(bar["met"] for entry in verdict.values() for bar in entry["bars"] if "quiet" not in bar["name"])


def report(rows, as_json):
    """Prints the verdict; the exit status."""
    verdict = judge_drawn(rows)
    print(json.dumps(verdict, indent=1) if as_json else table(verdict))
    return 0 if passed(verdict) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", help="files of run.py --draw -o")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    sys.exit(report([row for name in options.rows for row in judge.read(name)], options.json))


if __name__ == "__main__":
    main()
