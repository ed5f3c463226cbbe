"""Plans as notebooks show them."""

import html


def in_bytes(count):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.3g} {unit}"
        count /= 1024


def in_seconds(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.3g} {unit}"


def grid_text(grid):
    """[8, 1, 1] is 8x1."""
    return "x".join(str(extent) for extent in (grid if grid[2] > 1 else grid[:2]))


def _best_of_each(ranked):
    """The fastest configuration of each scheme that fits."""
    best = {}
    for entry in ranked:
        if entry["fits"]:
            best.setdefault(entry["configuration"]["scheme"], entry)
    return list(best.values())


def _row(cells, tag="td"):
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def page(plan):
    """The answer, and the best of each scheme beside it."""
    problem, chosen = plan.document["problem"], plan.configuration
    head = (f"{problem['model']['name']} on {problem['graph']['name']}, {plan.ranks} rank{'' if plan.ranks == 1 else 's'}: "
            f"{in_seconds(plan.epoch_seconds)} an epoch, {in_bytes(plan.memory)} a rank")
    entries = _best_of_each(plan.ranked) or [dict(plan.document["predicted"], configuration=chosen)]
    rows = [_row(("scheme", "grid", "orders", "epoch", "ratio", "peak/rank"), "th")]
    for entry in entries:
        how = entry["configuration"]
        rows.append(_row((how["scheme"], grid_text(how["grid"]), f"{how['forward']} {how['backward']}",
                          in_seconds(entry["epoch_seconds"]), f"{entry['epoch_seconds'] / plan.epoch_seconds:.2f}",
                          in_bytes(entry["peak_bytes_per_rank"]))))
    sure = f"<p>{html.escape(plan.sure())}</p>" if plan.sure() else ""
    return f"<div><p><b>gnnplan.Plan</b> {html.escape(head)}</p><table>{''.join(rows)}</table>{sure}</div>"
