#include "bench/epoch/floor_text.hpp"

#include "tools/text/format.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <utility>

namespace gnnplan::bench {
namespace {

constexpr double giga = 1e-9;

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); }
std::string ratio_text(double ratio) { return ratio > 0 ? fmt::format("{:.2f}", ratio) : "-"; }

std::string peaks_text(const RunReport& report, const Peaks& peaks) {
    const std::string link =
        peaks.link_bytes_per_second ? fmt::format(", link {:.3g} GB/s", giga * *peaks.link_bytes_per_second) : "";
    return fmt::format(
        "Peaks of each of {} ranks with {} threads, all busy: {:.0f} GF/s; memory is read at {:.1f} GB/s and written "
        "at "
        "{:.1f} GB/s{}.\n",
        report.ranks, report.threads, giga * peaks.flops_per_second, giga * peaks.read(peaks.memory_bytes),
        giga * peaks.write(peaks.memory_bytes), link);
}

io::Document row_json(const FloorRow& row) {
    return io::Document::object({{"name", row.name},
                                 {"kind", row.kind},
                                 {"floor_seconds", row.floor.seconds()},
                                 {"bound", text_of(row.floor.bound())},
                                 {"flops_seconds", row.floor.flops},
                                 {"bytes_seconds", row.floor.bytes},
                                 {"link_seconds", row.floor.link},
                                 {"reuse_aware_seconds", row.floor.seconds_with_reuse()},
                                 {"measured_seconds", row.measured},
                                 {"ratio", row.ratio() > 0 ? io::Document(row.ratio()) : io::Document()},
                                 {"excess_seconds", row.excess()},
                                 {"waiting_seconds", row.waiting}});
}

}  // namespace

std::string floor_text(const EpochFloor& epoch, const RunReport& report, const Peaks& peaks) {
    using tools::Align;
    tools::Table table({{"step, ms"},
                        {"floor", Align::right},
                        {"bound by"},
                        {"reuse-aware", Align::right},
                        {"measured", Align::right},
                        {"ratio", Align::right},
                        {"excess", Align::right},
                        {"waiting", Align::right},
                        {"of epoch", Align::right}});
    const auto add = [&](const std::string& name, double floor, std::string_view bound, const std::string& reuse,
                         double measured, const std::string& waiting) {
        table.add({name, milliseconds(floor), std::string(bound), reuse, milliseconds(measured),
                   ratio_text(floor > 0 ? measured / floor : 0), milliseconds(measured - floor), waiting,
                   fmt::format("{:.0f} %", 100 * measured / epoch.measured)});
    };
    for (const FloorRow& row : epoch.rows) {
        add(row.name, row.floor.seconds(), text_of(row.floor.bound()), milliseconds(row.floor.seconds_with_reuse()),
            row.measured, milliseconds(row.waiting));
    }
    add("epoch: sum of steps", epoch.sum, "", milliseconds(epoch.sum_with_reuse), epoch.measured, "");
    add("epoch: fused", epoch.fused, "", "", epoch.measured, "");
    return peaks_text(report, peaks) + "\n" + table.text(false);
}

io::Document floor_json(const EpochFloor& epoch, const RunReport& report, const Peaks& peaks) {
    io::Document steps = io::Document::array();
    for (const FloorRow& row : epoch.rows) steps.push(row_json(row));
    const auto optional = [](const std::optional<double>& value) {
        return value ? io::Document(*value) : io::Document();
    };
    io::Document measured = io::Document::object({{"flops_per_second", peaks.flops_per_second},
                                                  {"read_bytes_per_second", peaks.read(peaks.memory_bytes)},
                                                  {"written_bytes_per_second", peaks.write(peaks.memory_bytes)},
                                                  {"exposed_share", peaks.exposed},
                                                  {"link_bytes_per_second", optional(peaks.link_bytes_per_second)}});
    return io::Document::object({{"schema", "gnnplan.epoch_floor/1"},
                                 {"ranks", report.ranks},
                                 {"threads", report.threads},
                                 {"peaks", std::move(measured)},
                                 {"sum_seconds", epoch.sum},
                                 {"fused_seconds", epoch.fused},
                                 {"reuse_aware_sum_seconds", epoch.sum_with_reuse},
                                 {"measured_seconds", epoch.measured},
                                 {"steps", std::move(steps)}});
}

}  // namespace gnnplan::bench
