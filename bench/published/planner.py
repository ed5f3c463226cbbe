"""Asks gnnplan, with the presets as they are and with some of their figures changed. Counts and predicts nothing itself."""
import json, pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import programs

NOTHING_FITS = 3  # exit status

# Guesses of the presets, changed one at a time: name -> a function of a profile (gnnplan.machine/1).
VARIANTS = {
    "as the preset is": lambda profile: None,
    "SpMM x 0.5": lambda profile: scale_spmm(profile, lambda width: 0.5),
    "SpMM x 2": lambda profile: scale_spmm(profile, lambda width: 2),
    "SpMM slow where narrow, x w/(w+32)": lambda profile: scale_spmm(profile, lambda width: width / (width + 32)),
    "GEMM x 0.5": lambda profile: scale(profile, 0.5, "gemm_flops_per_second"),
    "link x 0.25": lambda profile: scale_within_node(profile, 0.25),
    "link x 0.5": lambda profile: scale_within_node(profile, 0.5),
    "link x 2": lambda profile: scale_within_node(profile, 2),
    "link between x 0.5": lambda profile: scale_between_nodes(profile, 0.5),
    "link between x 2": lambda profile: scale_between_nodes(profile, 2),
    "overhead of a step x 20": lambda profile: scale(profile, 20, "step_seconds"),
}
PRESET = next(iter(VARIANTS))


def scale(figures, factor, key):
    figures[key] *= factor


def scale_between_nodes(profile, factor):
    scale(profile["inter_node"], factor, "bytes_per_second")
    if "network_cards" in profile:
        scale(profile["network_cards"], factor, "bytes_per_second")


def scale_within_node(profile, factor):
    scale(profile["intra_node"], factor, "bytes_per_second")
    if "all_to_all" in profile:
        scale(profile["all_to_all"], factor, "bytes_per_second")


def scale_spmm(profile, factor_of_width):
    for rate in profile["spmm"]:
        scale(rate, factor_of_width(rate["width"]), "flops_per_second")


class Planner:
    def __init__(self, gnnplan, folder):
        self.gnnplan, self.folder, self.known = gnnplan, folder, {}

    def call(self, *words, allowed=(0,)):
        return programs.call(self.gnnplan, *words, allowed=allowed)

    def profile(self, preset, variant=PRESET):
        """The file of a preset, changed."""
        path = self.folder / f"{preset}-{list(VARIANTS).index(variant)}.json"
        if not path.exists():
            profile = json.loads(self.call("machines", "show", preset, "--json").stdout)
            VARIANTS[variant](profile)
            path.write_text(json.dumps(profile))
        return path

    def card(self, name):
        """The sizes of a data set's card."""
        return json.loads(self.call("datasets", "show", name, "--json").stdout)

    def steps(self, *problem):
        """[(kind, predicted seconds)] of the steps of an epoch of the fastest plan; what runs within another step is in that one."""
        key = ("steps", *problem)
        if key not in self.known:
            plan = self.folder / "plan.json"
            self.call("plan", *problem, "--memory", "1000TiB", "-o", plan)
            steps = json.loads(self.call("explain", plan, "--json").stdout)["steps"]
            self.known[key] = [(step["kind"], step["predicted_seconds"]) for step in steps if step["phase"] == "epoch"]
        return self.known[key]

    def ranked(self, *problem, memory="1000TiB"):
        """Configurations as the rows of gnnplan.ranking/1, fastest first; none where nothing fits. Asked once."""
        key = (*problem, memory)
        if key not in self.known:
            self.known[key] = self.ask(*problem, memory=memory)
        return self.known[key]

    def ask(self, *problem, memory):
        table = self.folder / "table.json"
        done = self.call("plan", *problem, "--memory", memory, "--top", 1, "--table", table, allowed=(0, NOTHING_FITS))
        if done.returncode == NOTHING_FITS:
            return []
        return json.loads(table.read_text(encoding="utf-8"))["ranked"]
