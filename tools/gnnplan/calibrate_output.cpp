#include "tools/gnnplan/calibrate_output.hpp"

#include "planner/calibrate/quantile.hpp"
#include "planner/cost/rates.hpp"
#include "planner/io/enum_names.hpp"
#include "runtime/calibrate/pace.hpp"
#include "tools/gnnplan/calibrate_from.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/streams.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr double giga = 1e9;
constexpr double percent = 100;

std::string rate(double per_second) { return fmt::format("{:.3g}", per_second / giga); }

// The nearest one: a working set is whole rows.
std::int64_t power_of_two(std::int64_t bytes) {
    return std::int64_t{1} << std::llround(std::log2(static_cast<double>(bytes)));
}

// Bytes of rows of the dense operand per second, by working set and width.
std::string gather_table(const std::vector<GatherCurve>& curves, bool color) {
    std::vector<Column> columns{{"dense operand"}};
    std::set<std::int64_t> sizes;
    for (const GatherCurve& curve : curves) {
        columns.push_back({"f=" + std::to_string(curve.width), Align::right});
        for (const GatherCost& cost : curve.costs) sizes.insert(power_of_two(cost.working_set_bytes));
    }
    Table table(columns);
    for (const std::int64_t size : sizes) {
        std::vector<std::string> cells{format_memory(size)};
        for (const GatherCurve& curve : curves) {
            const auto cost = std::ranges::find_if(
                curve.costs, [&](const GatherCost& c) { return power_of_two(c.working_set_bytes) == size; });
            cells.push_back(cost == curve.costs.end()
                                ? "-"
                                : rate(4 * static_cast<double>(curve.width) / cost->seconds_per_nonzero));
        }
        table.add(std::move(cells));
    }
    return "SpMM: GB/s of gathered rows, by size of the dense operand and width\n" + table.text(color);
}

std::string gemm_table(const std::vector<GemmRate>& rates, bool color) {
    std::set<std::int64_t> sides;
    for (const GemmRate& gemm : rates) sides.insert(gemm.columns);
    std::vector<Column> columns{{"product"}, {"inner", Align::right}};
    for (const std::int64_t side : sides) columns.push_back({"to " + std::to_string(side), Align::right});
    Table table(columns);
    constexpr std::array<std::pair<GemmKind, const char*>, 3> products{
        {{GemmKind::forward, "X W"}, {GemmKind::input_gradient, "G W^T"}, {GemmKind::weight_gradient, "X^T G"}}};
    for (const auto& [product, name] : products) {
        for (const std::int64_t inner : sides) {
            std::vector<std::string> cells{name, std::to_string(inner)};
            for (const std::int64_t side : sides) {
                const auto found = std::ranges::find_if(rates, [&, kind = product](const GemmRate& gemm) {
                    return gemm.product == kind && gemm.inner == inner && gemm.columns == side;
                });
                cells.push_back(found == rates.end() ? "-" : rate(found->flops_per_second));
            }
            table.add(std::move(cells));
        }
    }
    return "GEMM: GFLOP/s, W being inner x columns\n" + table.text(color);
}

std::string stream_table(const std::vector<StreamRate>& rates, const std::optional<LossCost>& loss, bool color) {
    Table table({{"elementwise"}, {"bytes touched", Align::right}, {"GB/s", Align::right}});
    for (const StreamRate& stream : rates) {
        std::string name(io::name_of(stream.stream));
        std::ranges::replace(name, '_', ' ');
        table.add({std::move(name), format_memory(stream.working_set_bytes), rate(stream.bytes_per_second)});
    }
    std::string text = table.text(color);
    if (loss) {
        text += fmt::format("loss: {:.3g} ns a row that trains, {:.3g} ns more for each of its logits\n",
                            loss->seconds_per_row * giga, loss->seconds_per_logit * giga);
    }
    return text;
}

void add_link(Table& table, const char* name, const Link& link) {
    for (const LinkSegment& segment : link.segments) {
        table.add({name, format_bytes(segment.from_bytes), fmt::format("{:.3g}", segment.latency_seconds * 1e6),
                   rate(segment.bytes_per_second)});
    }
    if (link.segments.empty()) {
        table.add({name, "0 B", fmt::format("{:.3g}", link.latency_seconds * 1e6), rate(link.bytes_per_second)});
    }
}

std::string link_table(const Machine& machine, bool color) {
    Table table({{"message"}, {"from", Align::right}, {"us", Align::right}, {"+ bytes at GB/s", Align::right}});
    add_link(table, "within a node", machine.intra_node);
    const Calibration& calibration = *machine.calibration;
    if (calibration.all_reduce) add_link(table, "all-reduce, in a ring", *calibration.all_reduce);
    if (calibration.reduce_scatter) add_link(table, "reduce-scatter, in a ring", *calibration.reduce_scatter);
    if (calibration.redistribution) add_link(table, "redistribution", *calibration.redistribution);
    if (calibration.lent_panel_seconds)
        table.add({"lent panel", "0 B", fmt::format("{:.3g}", *calibration.lent_panel_seconds * 1e6), "not copied"});
    add_link(table, "between nodes", machine.inter_node);
    return table.text(color);
}

std::string loading_line(const std::optional<LoadingCost>& loading) {
    if (!loading) return "";
    const auto nanoseconds = [](double seconds) { return fmt::format("{:.3g} ns", seconds * giga); };
    return fmt::format(
        "loading  parsing an edge {}, dealing it {}, sorting it into rows {}, cutting blocks {} a nonzero\n",
        nanoseconds(loading->parse_seconds_per_edge), nanoseconds(loading->deal_seconds_per_edge),
        nanoseconds(loading->row_seconds_per_nonzero), nanoseconds(loading->cut_seconds_per_nonzero));
}

std::string reading_line(const Profile& profile) {
    const auto read = std::ranges::find(profile.samples, "read", &Sample::what);
    if (read == profile.samples.end()) return "";
    return "reading  " + rate(static_cast<double>(read->at[0]) / calibrate::median(read->seconds)) + " GB/s\n";
}

constexpr double live_interval = 0.1;  // seconds
constexpr double plain_interval = 10;

}  // namespace

std::string overlap_line(const Calibration& calibration) {
    if (!calibration.overlapping) return "";
    const OverlapCost& cost = *calibration.overlapping;
    return labelled("portions",
                    fmt::format("a product in portions takes {:.2f}x the time of a whole one, and {} more for "
                                "each look after messages; {:.0f} % of the shorter of product and messages "
                                "is not hidden",
                                cost.portions, format_seconds(cost.look_seconds), percent * cost.exposed));
}

std::string calibration_text(const Profile& profile, bool color) {
    const Machine& machine = profile.machine;
    const Calibration& calibration = *machine.calibration;
    return fmt::format(
        "machine  {}\nsource   {}\nnode     {} ranks, {} each\n\n{}\n{}\n{}\n{}\n"
        "{}{}step     {} of overhead\n{}\n{}{}",
        machine.name, machine.source, machine.ranks_per_node, format_memory(machine.memory_per_rank),
        gather_table(calibration.gather, color), gemm_table(calibration.gemm, color),
        stream_table(calibration.streams, calibration.loss, color), link_table(machine, color),
        loading_line(calibration.loading), reading_line(profile), format_seconds(machine.step_seconds),
        overlap_line(calibration), corrections_text(calibration, color),
        calibration.corrections.empty() ? "" : epoch_errors_line(calibration));
}

std::string noise_line(const calibrate::Load& load, const std::vector<Sample>& samples) {
    constexpr double most = 0.9;
    std::vector<double> spreads;
    for (const Sample& sample : samples) {
        if (sample.seconds.size() < 2) continue;
        spreads.push_back(calibrate::quantile(sample.seconds, most) / calibrate::median(sample.seconds) - 1);
    }
    const std::string spread = spreads.empty()
                                   ? ""
                                   : fmt::format(", a tenth of the repetitions took {:.0f} % longer than the median",
                                                 percent * calibrate::median(spreads));
    return fmt::format("noise    other programs took {:.0f} % of the cores, {:.0f} preemptions a second{}\n",
                       percent * load.others, load.preempted, spread);
}

CalibrationProgress::CalibrationProgress(bool quiet, double limit, measure::Clock& clock)
    : quiet_(quiet),
      limit_(limit),
      clock_(clock),
      live_(isatty(STDERR_FILENO) == 1),
      start_(clock.now()),
      last_shown_(start_) {}

CalibrationProgress::~CalibrationProgress() {
    if (line_open_) say("\r\033[K");
}

void CalibrationProgress::show(const std::string& what, std::size_t done, std::size_t total) {
    const double now = clock_.now();
    if (quiet_ || now - last_shown_ < (live_ ? live_interval : plain_interval)) return;
    last_shown_ = now;
    const double left = calibrate::seconds_left(now - start_, done, total, limit_);
    say("{}measuring {}  {}/{}{}{}", live_ ? "\r" : "", what, done, total,
        left > 0 ? fmt::format("  about {:.0f} s left", left) : "", live_ ? "\033[K" : "\n");
    line_open_ = live_;
}

}  // namespace gnnplan::tools
