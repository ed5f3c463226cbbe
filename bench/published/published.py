#!/usr/bin/env python3
"""Predictions for the papers' machines against what the papers print, as Markdown: docs/published.md.

Asks gnnplan for the data sets' cards and the machines' presets, needs neither data nor those machines. The published figures are
the *.csv beside this file. No clock, no date: the same figures wherever it runs.

    bench/published/published.py --build build/release > docs/published.md
    bench/published/published.py --build build/release --check      # exit status 1 if docs/published.md is out of date
"""
import argparse, difflib, pathlib, sys, tempfile

sys.dont_write_bytecode = True

import cagnet, deal, distgnn, memory, mg_gcn, mg_gcn_figures, orders, page, plexus, schemes, trust
from planner import PRESET, Planner, programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "published.md"


def figures_of(planner):
    """Everything that the page shows."""
    cells, ratios, peaks, epochs = orders.cells(planner), schemes.ratios(planner), memory.cells(planner), mg_gcn.cells(planner)
    return {"orders": cells, "orders_by_profile": orders.summaries(planner), "orders_elsewhere": orders.elsewhere(planner),
            "schemes": ratios, "communication": schemes.communication(planner), "by_ranks": schemes.by_ranks(planner),
            "schemes_by_profile": {name: schemes.summary(schemes.ratios(planner, name)) for name in schemes.VARIANTS},
            "memory": peaks, "mg_gcn": epochs, "deal": deal.cells(planner),
            "deal_by_profile": {name: deal.summary(deal.cells(planner, name)) for name in deal.VARIANTS},
            "cagnet_by_profile": {name: cagnet.cells(planner, name) for name in cagnet.VARIANTS},
            "cagnet_cubes": cagnet.cubes(planner), "cagnet_fits": cagnet.fits(planner),
            "cagnet_copies": (cagnet.copies_gain(planner), cagnet.copies_gain(planner, "--ranks-per-node", 1)),
            "distgnn_by_profile": {name: distgnn.cells(planner, name) for name in distgnn.VARIANTS},
            "distgnn_memory": distgnn.memory(planner), "distgnn_operations": distgnn.operations(planner),
            "kernels": mg_gcn_figures.kernels(planner), "density": mg_gcn_figures.density(planner),
            "v100_fits": mg_gcn_figures.fits(planner), "collectives": plexus.collectives(planner),
            "products": plexus.products(planner), "deal_weak": deal.weak_scaling(planner),
            "mg_gcn_by_profile": {name: mg_gcn.summary(mg_gcn.cells(planner, name)) for name in mg_gcn.VARIANTS},
            "widest": mg_gcn.widest_papers(planner), "own": {hidden: mg_gcn.own_plan(planner, hidden) for hidden in (208, 256)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"), help="folder of the build")
    parser.add_argument("--check", action="store_true", help="compare with docs/published.md instead of printing")
    options = parser.parse_args()
    [gnnplan] = programs.built(options.build, "gnnplan")
    with tempfile.TemporaryDirectory() as folder:
        planner = Planner(gnnplan, pathlib.Path(folder))
        found = figures_of(planner)
        text = page.markdown(found, PRESET)
        wrong = trust.complaints(planner, found)
    if wrong:
        print("\n".join(["The line `sure` (tools/advise/evidence.cpp) and the page disagree:", *wrong]), file=sys.stderr)
    if not options.check:
        sys.stdout.write(text)
        return
    there = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if there != text:
        sys.stdout.writelines(difflib.unified_diff(there.splitlines(True), text.splitlines(True), str(PAGE), "generated"))
        sys.exit(f"{PAGE} is out of date: run {pathlib.Path(__file__).name} without --check")
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
