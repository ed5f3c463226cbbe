"""From epochs to a table and a verdict; pure functions, tested without a clock (peer_figures_test.py)."""
import math, statistics

PLAIN, PICKED = "plain", "picked"  # gnnplan in plain order, and with the plan of its own choice
DEBIAN = "debian"
LOSS_TOLERANCE = 0.05  # weights start differently; another problem is further away


def figures(runs, warm_up):
    """The figures of one entrant's runs: each is a list of epochs, of which the first `warm_up` are left out of the times."""
    seconds = [epoch["seconds"] for run in runs for epoch in run[warm_up:]]
    return {"seconds": statistics.median(seconds), "fastest": min(seconds), "slowest": max(seconds), "epochs": seconds,
            "first_loss": runs[0][0]["loss"], "last_loss": runs[0][-1]["loss"]}


def over(results, name, reference):
    """Time of an entrant over that of another; None where the other is not there."""
    return results[name]["seconds"] / results[reference]["seconds"] if reference in results else None


def loss_remarks(results, classes):
    """Whether all train the same problem: an untrained network's loss is about ln(classes), and all learn alike."""
    remarks = []
    last = statistics.median(entry["last_loss"] for entry in results.values())
    for name, entry in results.items():
        for what, loss, want in (("first", entry["first_loss"], math.log(classes)), ("last", entry["last_loss"], last)):
            if not abs(loss - want) <= LOSS_TOLERANCE * want:  # false for NaN
                remarks.append(f"{name}: the {what} epoch's loss is {loss:.4f}, expected about {want:.4f}")
    return remarks


def verdict(results, bar):
    """A line for the bar, and whether it is met; neither where one side was not measured."""
    if bar is None or not {PLAIN, DEBIAN} <= results.keys():
        return None, None
    ratio = over(results, DEBIAN, PLAIN)
    line = f"Debian's PyTorch over gnnplan in plain order: {ratio:.1f}x, bar {bar}x: {'met' if ratio >= bar else 'missed'}"
    if PICKED in results:
        line += f"; the plan that gnnplan picks is {over(results, PLAIN, PICKED):.2f}x as fast as plain order"
    return line, ratio >= bar


def table(results, labels, missing):
    """Markdown, fastest last; what could not be measured below, with the reason."""
    ratio = lambda name, reference: "" if over(results, name, reference) is None else f"{over(results, name, reference):.2f}"
    lines = ["| | epoch, ms: median (min-max) | / plain | / picked | loss, first to last epoch |", "|---|---|---|---|---|"]
    for name in sorted(results, key=lambda name: -results[name]["seconds"]):
        r = results[name]
        times = "{:.0f} ({:.0f}-{:.0f})".format(*(1e3 * r[key] for key in ("seconds", "fastest", "slowest")))
        lines.append(f"| {labels[name]} | {times} | {ratio(name, PLAIN)} | {ratio(name, PICKED)} | "
                     f"{r['first_loss']:.4f} to {r['last_loss']:.4f} |")
    lines += [f"| {labels[name]} | not available: {reason} | | | |" for name, reason in missing.items()]
    return "\n".join(lines)
