// gnnplan machines: profiles to plan with, and the calibrations that are kept.
#include "planner/catalog/machines.hpp"
#include "planner/io/machine.hpp"
#include "tools/advise/json/catalog_json.hpp"
#include "tools/ask/calibration.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/list_options.hpp"
#include "tools/gnnplan/machines_new.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/question.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

std::string rate(double per_second, const char* unit) { return fmt::format("{:.4g} {}", per_second / 1e9, unit); }

std::string device_text(const Machine& machine) {
    if (!machine.accelerators) return "";
    return ", of a device whose host loads the graph" +
           (machine.reserved_bytes > 0
                ? fmt::format("; {} of it are reserved for what no plan counts", limit_text(machine.reserved_bytes))
                : "");
}

std::string cards_text(const Machine& machine) {
    if (!machine.network_cards) return "";
    const NetworkCards& cards = *machine.network_cards;
    return fmt::format(", {} for the node ({} card{})", rate(cards.node_bytes_per_second(), "GB/s"), cards.per_node,
                       cards.per_node == 1 ? "" : "s");
}

// Returns the bandwidth that a rank has between nodes while all ranks of its node send.
double share_between_nodes(const Machine& machine) {
    const double alone = machine.inter_node.bytes_per_second;
    return machine.network_cards
               ? std::min(alone, machine.network_cards->node_bytes_per_second() / machine.ranks_per_node)
               : alone;
}

std::string machine_text(const Machine& machine) {
    std::string out;
    const auto add = [&](const char* label, const std::string& text) { out += labelled(label, text, 12); };
    const auto link = [](const Link& l) {
        return format_seconds(l.latency_seconds) + ", " + rate(l.bytes_per_second, "GB/s");
    };
    add("machine", machine.name);
    add("source", machine.source);
    add("measured", machine.measured ? "here" : "no");
    add("node", fmt::format("{} ranks, {} each{}", machine.ranks_per_node, limit_text(machine.memory_per_rank),
                            device_text(machine)));
    if (machine.threads_per_rank)
        add("loading",
            fmt::format("{} thread{} a rank", *machine.threads_per_rank, *machine.threads_per_rank == 1 ? "" : "s"));
    add("in a node", link(machine.intra_node));
    if (machine.all_to_all) add("all-to-all", link(*machine.all_to_all) + " where all ranks of a node exchange");
    add("between", link(machine.inter_node) + " per rank" + cards_text(machine));
    add("GEMM", rate(machine.gemm_flops_per_second, "GFLOP/s"));
    add("streaming", rate(machine.memory_bytes_per_second, "GB/s"));
    add("step", format_seconds(machine.step_seconds) + " of overhead");
    for (const SpmmRate& spmm : machine.spmm)
        add("SpMM", fmt::format("width {}: {}", spmm.width, rate(spmm.flops_per_second, "GFLOP/s")));
    return out;
}

int show_profile(const Machine& machine, bool json) {
    print(json ? io::write_machine(machine) : machine_text(machine));
    return 0;
}

// Says which cannot be read.
std::vector<KeptCalibration> calibrations_and_warnings(const std::string& name = {}) {
    KeptCalibrations kept = kept_calibrations(name);
    say_lines(kept.warnings);
    return std::move(kept.all);
}

// Whether plans for this machine use measurements.
std::string calibrated_line() {
    const std::vector<KeptCalibration> kept = calibrations_and_warnings();
    if (kept.empty()) return "calibrated  no; gnnplan calibrate measures this machine\n";
    std::vector<std::string> kinds;
    kinds.reserve(kept.size());
    for (const KeptCalibration& k : kept) {
        kinds.push_back(calibration_kind(k.profile) + (k.stale.empty() ? "" : " (stale)"));
    }
    return fmt::format("calibrated  {}; gnnplan machines lists them\n", fmt::join(kinds, ", "));
}

// "yes", or a word and why plans may not rely on it.
std::string holds(const KeptCalibration& kept) {
    if (!kept.stale.empty()) return fmt::format("stale: {}", fmt::join(kept.stale, "; "));
    const auto& calibration = kept.profile.machine.calibration;
    if (!calibration || calibration->busy == 0) return "yes";
    return fmt::format("busy: other programs took {:.0f} % of the cores", 100 * calibration->busy);
}

// Plans use probes where there is no calibration.
std::string probe_lines() {
    std::string lines;
    for (const KeptCalibration& probe : kept_probes()) {
        const std::string holds = probe.stale.empty()
                                      ? "plans use it for a day where there is no calibration"
                                      : fmt::format("it no longer holds: {}", fmt::join(probe.stale, "; "));
        lines += labelled("probe", fmt::format("{} ranks x threads, {}; {}", calibration_kind(probe.profile),
                                               calibration_date(probe.profile), holds)) +
                 "  " + probe.file + "\n";
    }
    return lines;
}

// Lists the calibrations that are kept here.
int list_calibrations(const Context& context, const ListOptions& options) {
    std::vector<KeptCalibration> kept = calibrations_and_warnings();
    for (const std::string& name : io::calibration_names())
        for (KeptCalibration& named : calibrations_and_warnings(name)) kept.push_back(std::move(named));
    if (options.json) {
        print_json(encode_calibrations(kept, kept_probes()));
        return 0;
    }
    if (kept.empty()) {
        print(wrapped("", "",
                      "no calibration is kept; gnnplan calibrate measures this machine (presets: gnnplan "
                      "machines list)") +
              probe_lines());
        return 0;
    }
    Table table({{"ranks x threads"},
                 {"ranks are"},
                 {"date"},
                 {"measurements", Align::right},
                 {"error", Align::right},
                 {"holds"}});
    for (const KeptCalibration& k : kept) {
        const auto& calibration = k.profile.machine.calibration;
        const std::string reason = holds(k);
        const std::string where = k.profile.machine.accelerators ? ", on GPUs" : "";
        table.add({calibration_kind(k.profile), calibration_ranks(k.profile) + where, calibration_date(k.profile),
                   std::to_string(k.profile.samples.size()),
                   calibration ? fmt::format("{:.1f} %", 100 * calibration->error_median) : "-",
                   reason.substr(0, reason.find(':'))});
        if (!k.name.empty()) table.add_title("  --machine " + k.name);
        table.add_title("  " + k.file);  // whole, to be copied, however long it is
        if (reason == "yes") continue;
        for (const std::string& line : broken(reason, line_width() - 2)) table.add_title("  " + line);
    }
    print(table.text(use_color(context.color)) + probe_lines());
    return 0;
}

int list_machines(const Context& context, const ListOptions& options) {
    if (options.json) {
        print_json(encode_machines());
        return 0;
    }
    Table table({{"machine"},
                 {"ranks/node", Align::right},
                 {"memory/rank", Align::right},
                 {"in a node", Align::right},
                 {"between", Align::right},
                 {"source"}});
    for (const Machine& machine : catalog::machines()) {
        table.add({machine.name, std::to_string(machine.ranks_per_node), limit_text(machine.memory_per_rank),
                   rate(machine.intra_node.bytes_per_second, "GB/s"), rate(share_between_nodes(machine), "GB/s"),
                   short_source(machine.source, ":,")});
    }
    print(table.text(use_color(context.color), line_width()));
    return 0;
}

}  // namespace

void add_machines(CLI::App& root, Context& context) {
    CLI::App& machines =
        add_command(root, "machines", "The calibrations of this machine; profiles to plan with, without the machine",
                    "gnnplan machines\ngnnplan machines show a6000x8");
    const auto options = std::make_shared<ListOptions>();
    when_alone(add_json(machines, options), context, options, list_calibrations);
    CLI::App& list =
        add_command(machines, "list", "All presets", "gnnplan machines list\ngnnplan machines list --json");
    on_command(add_json(list, options), context, options, list_machines);
    CLI::App& show =
        add_command(machines, "show", "A preset or a file; with --json a profile to edit and give to --machine",
                    "gnnplan machines show a6000x8\ngnnplan machines show a6000x8 --json > mine.json");
    show.add_option("name", options->name, "The preset, or the file of a profile")->required()->type_name("NAME|FILE");
    on_command(add_json(show, options), context, options, [](const Context&, const ListOptions& given) {
        return show_profile(find_machine(given.name), given.json);
    });
    add_machines_new(machines, context);
    CLI::App& detect = add_command(machines, "detect", "This machine: its cores and memory at the rates of cpu-node",
                                   "gnnplan machines detect\ngnnplan machines detect --json > mine.json");
    on_command(add_json(detect, options), context, options, [](const Context&, const ListOptions& given) {
        const int code = show_profile(catalog::detect_machine(), given.json);
        if (!given.json) print(calibrated_line());
        return code;
    });
}

}  // namespace gnnplan::tools
