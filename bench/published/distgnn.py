"""DistGNN's epochs on Xeon sockets: cd-0, which is exact, by a vertex cut with clones that compute; gnnplan's schemes on the same
machines, its own vertex cut with a part a socket among them, for which the cards have the replication factors of Table 4."""
from agreement import figures, geometric_mean, grid, published
from planner import PRESET

MACHINE = "xeon-9242"
CARDS = {"Reddit": "reddit:distgnn", "Products": "ogbn-products:distgnn", "Proteins": "protein:distgnn",
         "Papers": "ogbn-papers100m:distgnn"}
CUT = ("--scheme", "cut")
GROUPS = ("--inexact", "0c:owners")
WHOLE_SUMS, LATE_SUMS = ("--inexact", "cd:0"), ("--inexact", "cd:5")
VARIANTS = (PRESET, "SpMM x 0.5", "SpMM x 2", "link between x 0.5")


def problem(planner, row, ranks, variant=PRESET):
    return ("--graph", CARDS[row["data_set"]], "--model", "sage", "--aggregator", "gcn", "--layers", int(row["layers"]), "--hidden",
            int(row["hidden"]), "--ranks", ranks, "--machine", planner.profile(MACHINE, variant), "--extras", "off")


def cells(planner, variant=PRESET):
    """[(row of the table, {scheme: predicted seconds})]; on one socket as DistGNN computes, which aggregates first."""
    result = []
    for row in published("distgnn-epochs.csv"):
        asked = problem(planner, row, int(row["sockets"]), variant)
        if row["sockets"] == 1:
            asked += ("--forward", "S" * int(row["layers"]))
        times = {scheme: planner.ranked(*asked, "--scheme", scheme)[0]["epoch_seconds"] for scheme in ("1d", "rdm")}
        if row["sockets"] > 1:
            times["cut"] = planner.ranked(*asked, *CUT, "--grid", f"{int(row['sockets'])}x1")[0]["epoch_seconds"]
            for way, pins in (("cd-0", WHOLE_SUMS), ("cd-5", LATE_SUMS), ("0c", GROUPS)):
                times[way] = planner.ranked(*asked, *pins)[0]["epoch_seconds"]
        result.append((row, times))
    return result


PARTS = 16  # of Table 8


def part_vertices(planner, row, parts):
    first = planner.ranked(*problem(planner, row, parts), *GROUPS)[0]["configuration"]["groups"]
    return first[1] - first[0]


def operations(planner):
    """Widths of the products of Table 8, their 10^9 operations on one socket and of a part of 16, as it counts them, a multiplication
    an edge and column; and the vertices of such a part."""
    rows = [row for row in published("distgnn-epochs.csv") if row["data_set"] == "Products" and row["sockets"] == 1]
    widths = 100 + 2 * int(rows[0]["hidden"])
    of_all = widths * planner.card(CARDS["Products"])["nonzeros"] / 1e9
    return widths, of_all, of_all / PARTS, part_vertices(planner, rows[0], PARTS)


def memory(planner):
    """[(row of the table, GB by the paper's arithmetic, GB predicted: of cd-0, of cd-5, of the cut, of 0c, of 1D with the whole graph in
    every rank and in shares)]"""
    row = {"data_set": "Papers", "layers": 3, "hidden": 256}
    result = []
    for printed in published("distgnn-table-6.csv"):
        sockets = int(printed["sockets"])
        one_d = ("--scheme", "1d")
        ways = (WHOLE_SUMS, LATE_SUMS, (*CUT, "--grid", f"{sockets}x1"), GROUPS, one_d, (*one_d, "--load", "sharded"))
        result.append((printed, arithmetic(planner, row, sockets), *(planner.ranked(*problem(planner, row, sockets), *way)[0]["peak_bytes_per_rank"] / 1e9 for way in ways)))
    return result


def uncut(times):
    return min(times["1d"], times["rdm"])


def arithmetic(planner, row, sockets):
    """GB of features, sums and results of all layers and as much again for gradients, of a part's vertices (section 6.3)."""
    card = planner.card(CARDS[row["data_set"]])
    widths = [card["features"], *[row["hidden"]] * (row["layers"] - 1), card["classes"]]
    columns = widths[0] + sum(widths[:-1]) + sum(widths[1:])
    return 2 * 4 * columns * part_vertices(planner, row, sockets) / 1e9


def summary(found):
    single = [times["1d"] / row["seconds"] for row, times in found if row["sockets"] == 1]
    many = [row["seconds"] / uncut(times) for row, times in found if row["sockets"] > 1]
    ratio = {row["data_set"]: times["1d"] / row["seconds"] for row, times in found if row["sockets"] == 1}
    left = [ratio[row["data_set"]] * row["seconds"] / uncut(times) for row, times in found if row["sockets"] > 1]
    return {"single": geometric_mean(single), "least": min(single), "most": max(single), "worst": 1 / min(single),
            "gain": geometric_mean(many), "most_gain": max(many), "least_left": min(left), "most_left": max(left)}


def late_gains(found):
    """By how much cd-5 is faster than cd-0: "Reddit 2.12 (0.19)", published and predicted."""
    return ", ".join(f"{row['data_set']} {row['speed_up_cd5'] / row['speed_up_cd0']:.2f} ({times['cd-0'] / times['cd-5']:.2f})"
                     for row, times in found if row["sockets"] > 1)


def table(found):
    single = {row["data_set"]: (row["seconds"], times) for row, times in found if row["sockets"] == 1}
    rows = []
    for row, times in found:
        name, sockets = row["data_set"], int(row["sockets"])
        gains, cuts = ["", "", ""], ["", ""]
        if sockets > 1:
            own = single[name][1]["1d"]
            gains = [f"{row['speed_up_cd0']:g}", f"{row['speed_up_cd5']:g}", f"{own / times['1d']:.1f} / {own / times['rdm']:.1f} / {own / times['cut']:.1f}"]
            cuts = [figures(times["cut"]), " / ".join(figures(times[way]) for way in ("cd-0", "cd-5", "0c"))]
        rows.append([name, sockets, f"{row['seconds']:g}", figures(times["1d"]), figures(times["rdm"]), *cuts, *gains])
    return grid(["data set", "sockets", "cd-0 s", "1D s", "RDM s", "cut s", "cd-0 / cd-5 / 0c s, predicted", "speed-up of cd-0", "of cd-5",
                 "of 1D / RDM / cut"], rows)


def memory_table(found):
    return grid(["sockets", "cd-0 GB", "predicted", "cd-5 GB", "predicted", "cut GB", "0c GB", "arithmetic", "0c GB, predicted", "1D GB, each rank loads the whole graph", "1D GB, loaded in shares"],
                [[int(row["sockets"]), f"{row['cd_0']:g}", figures(whole_sums), f"{row['cd_5']:g}", figures(late_sums), figures(cut),
                  f"{row['zero_c']:g}", figures(by_hand), figures(groups), figures(whole), figures(shares)]
                 for row, by_hand, whole_sums, late_sums, cut, groups, whole, shares in found])


def sensitivity(by_profile):
    return grid(["profile", "one socket: predicted/published", "cd-0 over the faster of 1D and RDM"],
                [[name, f"{one['single']:.2f} ({one['least']:.2f} – {one['most']:.2f})", f"{one['gain']:.1f} (at most {one['most_gain']:.1f})"]
                 for name, one in by_profile.items()])
