#include "tools/gnnplan/calibrate_load.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace gnnplan::tools {
namespace {

constexpr const char* busy_variable = "GNNPLAN_BUSY";
constexpr int most_threads = 4;  // on a core

double share_of(std::string_view text) { return std::clamp(std::strtod(std::string(text).c_str(), nullptr), 0.0, 1.0); }

calibrate::Load load_before(comm::Communicator& comm, const calibrate::Nodes& nodes, bool processes) {
    calibrate::SystemLoad system;
    const calibrate::LoadReading before = system.read();
    const char* said = std::getenv(busy_variable);
    if (said == nullptr) std::this_thread::sleep_for(std::chrono::seconds(2));
    calibrate::Load load = calibrate::load_between(comm, nodes, processes, before, system.read());
    if (said != nullptr) load.others = share_of(said);
    return load;
}

}  // namespace

calibrate::Load told_load(calibrate::Load measured) {
    if (const char* said = std::getenv(busy_variable)) {
        const std::string_view text(said);
        const std::size_t colon = text.find(':');
        measured.others = share_of(colon == std::string_view::npos ? text : text.substr(colon + 1));
    }
    return measured;
}

bool too_busy(const calibrate::Load& load) {
    constexpr double most = 0.1;  // the background of a desktop takes 1 to 5 %
    return load.others > most;
}

std::string busy_text(const calibrate::Load& load, const char* when) {
    std::array<double, 1> average{};
    const std::string runnable = getloadavg(average.data(), 1) == 1 ? fmt::format("load {:.1f} on ", average[0]) : "";
    return fmt::format("other programs took {:.0f} % of the cores {} ({}{} core{})", 100 * load.others, when, runnable,
                       load.cores, load.cores == 1 ? "" : "s");
}

void check_threads(int ranks, int threads, int cores) {
    if (std::int64_t{ranks} * threads <= std::int64_t{most_threads} * cores) return;
    throw Error(
        ErrorCode::usage,
        fmt::format("{} rank{} of {} thread{} on {} core{} would measure for far longer than ten minutes, mostly "
                    "how they wait for each other",
                    ranks, ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s", cores, cores == 1 ? "" : "s"),
        {}, "measure with a thread on each core, or with --force all the same");
}

void check_cores(comm::Communicator& comm, const calibrate::Nodes& nodes, bool processes, int threads) {
    const calibrate::Load load = load_before(comm, nodes, processes);
    comm::agree(comm, [&] {
        check_threads(nodes.ranks_per_node(), threads, load.cores);
        if (too_busy(load)) {
            throw Error(ErrorCode::answer_no, busy_text(load, "in the last two seconds") + ", and nothing was measured",
                        {}, "try again when the machine is quiet, or measure with --force all the same");
        }
    });
}

}  // namespace gnnplan::tools
