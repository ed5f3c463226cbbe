"""DistGNN's epochs on Xeon sockets: cd-0, which is exact, by its vertex cut; gnnplan's schemes on the same machines."""
from agreement import figures, geometric_mean, grid, published
from planner import PRESET

MACHINE = "xeon-9242"
CARDS = {"Reddit": "reddit:distgnn", "Products": "ogbn-products:distgnn", "Proteins": "protein:distgnn",
         "Papers": "ogbn-papers100m:distgnn"}
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
        result.append((row, {scheme: planner.ranked(*asked, "--scheme", scheme)[0]["epoch_seconds"] for scheme in ("1d", "rdm")}))
    return result


def operations(planner):
    """10^9 operations of the products of Table 8 on one socket, as it counts them: a multiplication an edge and column."""
    rows = [row for row in published("distgnn-epochs.csv") if row["data_set"] == "Products" and row["sockets"] == 1]
    widths = 100 + 2 * int(rows[0]["hidden"])
    return widths, widths * planner.card(CARDS["Products"])["nonzeros"] / 1e9


def memory(planner):
    """[(sockets, GB of cd-0, GB predicted of 1D with the whole graph in every rank, GB in shares)]"""
    row = {"data_set": "Papers", "layers": 3, "hidden": 256}
    result = []
    for printed in published("distgnn-table-6.csv"):
        asked = (*problem(planner, row, int(printed["sockets"])), "--scheme", "1d")
        peaks = [planner.ranked(*asked, *load)[0]["peak_bytes_per_rank"] / 1e9 for load in ((), ("--load", "sharded"))]
        result.append((int(printed["sockets"]), printed["gigabytes"], *peaks))
    return result


def summary(found):
    single = [times["1d"] / row["seconds"] for row, times in found if row["sockets"] == 1]
    many = [row["seconds"] / min(times.values()) for row, times in found if row["sockets"] > 1]
    ratio = {row["data_set"]: times["1d"] / row["seconds"] for row, times in found if row["sockets"] == 1}
    left = [ratio[row["data_set"]] * row["seconds"] / min(times.values()) for row, times in found if row["sockets"] > 1]
    return {"single": geometric_mean(single), "least": min(single), "most": max(single), "worst": 1 / min(single),
            "gain": geometric_mean(many), "most_gain": max(many), "least_left": min(left), "most_left": max(left)}


def table(found):
    single = {row["data_set"]: (row["seconds"], times) for row, times in found if row["sockets"] == 1}
    rows = []
    for row, times in found:
        name, sockets = row["data_set"], int(row["sockets"])
        gains = ["", "", ""]
        if sockets > 1:
            own = single[name][1]["1d"]
            gains = [f"{row['speed_up_cd0']:g}", f"{row['speed_up_cd5']:g}", f"{own / times['1d']:.1f} / {own / times['rdm']:.1f}"]
        rows.append([name, sockets, f"{row['seconds']:g}", figures(times["1d"]), figures(times["rdm"]), *gains])
    return grid(["data set", "sockets", "cd-0 s", "1D s", "RDM s", "speed-up of cd-0", "of cd-5", "of 1D / RDM"], rows)


def memory_table(found):
    return grid(["sockets", "cd-0 GB", "1D GB, each rank loads the whole graph", "1D GB, loaded in shares"],
                [[sockets, f"{printed:g}", figures(whole), figures(shares)] for sockets, printed, whole, shares in found])


def sensitivity(by_profile):
    return grid(["profile", "one socket: predicted/published", "cd-0 over the faster of 1D and RDM"],
                [[name, f"{one['single']:.2f} ({one['least']:.2f} – {one['most']:.2f})", f"{one['gain']:.1f} (at most {one['most_gain']:.1f})"]
                 for name, one in by_profile.items()])
