"""The cells of docs/cora.ipynb run, from top to bottom, and find what its text says. Skipped (77) without the data."""

import ast
import json
import os
import sys

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs")


def shown(value):
    """As a notebook shows it; None shows nothing."""
    html = getattr(value, "_repr_html_", None)
    return None if value is None else html() if html else repr(value)


def run_cell(source, names, where):
    """Runs the cell, and returns the value of the expression that it ends with."""
    module = ast.parse(source, where)
    last = module.body.pop() if module.body and isinstance(module.body[-1], ast.Expr) else None
    exec(compile(module, where, "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), where, "eval"), names)


def main():
    os.environ.setdefault("GNNPLAN_DATA", os.path.join(DOCS, "../../shared/data"))
    if not os.path.exists(os.path.join(os.environ["GNNPLAN_DATA"], "cora")):
        print("skipped: there are no real graphs in GNNPLAN_DATA")
        sys.exit(77)
    with open(os.path.join(DOCS, "cora.ipynb"), encoding="utf-8") as file:
        cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    names, outputs = {}, []
    for number, cell in enumerate(cells, 1):
        outputs.append(shown(run_cell("".join(cell["source"]), names, f"docs/cora.ipynb, cell {number}")))
    assert any("<table>" in output for output in outputs if output), "no plan was shown"
    assert names["last"]["test_accuracy"] > 0.79, names["last"]
    assert names["predicted"]["peak_bytes_per_rank"] == names["measured"]["peak_bytes_per_rank"]
    losses = [loss for *_, loss in names["compared"]]
    assert len(losses) == 3 and max(losses) - min(losses) < 1e-3, losses
    assert abs(names["logits"] - names["run"].logits).max() < 1e-3
    print(len(cells), "cells")


if __name__ == "__main__":
    main()
