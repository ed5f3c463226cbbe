"""The line `sure` of plans for presets against the figures that it quotes: what it says has to be what the page found."""
import json, re

import cagnet, distgnn, mg_gcn, schemes
from planner import PRESET

NEAR = 0.1  # by which rounded factors may differ


def sentence(planner, machine, ranks, *problem):
    planner.ask("--graph", "reddit", "--machine", machine, "--ranks", ranks, *problem, memory="1000TiB")
    return json.loads((planner.folder / "table.json").read_text(encoding="utf-8"))["sure"]["evidence"]


def factors(text):
    """Returns the least and the most that an epoch took, as multiples of its prediction."""
    least, most = re.search(r"took ([\d.]+) to ([\d.]+) times", text).groups()
    return float(least), float(most)


def near(quoted, found):
    return all(abs(a - b) <= NEAR * b for a, b in zip(quoted, found))


def complaints(planner, found):
    """Lists what the lines say and the page does not."""
    order, scheme = found["orders_by_profile"][PRESET], schemes.summary(found["schemes"])
    epochs, fitted = mg_gcn.summary(found["mg_gcn"]), cagnet.fit_summary(found["cagnet_fits"])
    sockets, summit = distgnn.summary(found["distgnn_by_profile"][PRESET]), cagnet.summary(found["cagnet_by_profile"][PRESET])
    ratios = order["ratios"]
    a6000, dgx, nodes = (sentence(planner, machine, ranks) for machine, ranks in (("a6000x8", 8), ("dgx-a100", 8), ("summit", 16)))
    xeon = sentence(planner, "xeon-9242", 2, "--model", "sage")
    wanted = [(a6000, f"right in {order['right']} of {order['cells']} cases"), (a6000, f"in {scheme['right']} of {scheme['cases']};"),
              (dgx, f"right in {epochs['fits']} of {epochs['all']} cases"), (nodes, f"right in {fitted['right']} of {fitted['all']} cases"),
              (nodes, f"predicted in {summit['never_2d']} of {summit['cells']} cases")]
    wrong = [f"'{text}' should say '{figure}'" for text, figure in wanted if figure not in text]
    for text, found_ in ((a6000, (1 / ratios[1], 1 / ratios[0])), (dgx, (1 / epochs["most"], 1 / epochs["least"])),
                         (xeon, (1 / sockets["most"], 1 / sockets["least"]))):
        if not near(factors(text), found_):
            wrong.append(f"'{text}' should say that epochs took {found_[0]:.1f} to {found_[1]:.1f} times as long as predicted")
    return wrong
