// Fuzz target of the JSON codecs: any bytes either read as a value that is written and read back unchanged, or are
// refused with Error{data}. Whatever else happens is a bug and ends the process.
#include "planner/io/fingerprint.hpp"
#include "planner/io/machine.hpp"
#include "planner/io/parse.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/report.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace gnnplan;

namespace {

void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "plan_fuzz: %s\n", what);
    std::abort();
}

template <class Action>
auto unless_refused(const Action& action) -> std::optional<decltype(action())> {
    try {
        return action();
    } catch (const Error& error) {
        require(error.code() == ErrorCode::data, error.what());
        return std::nullopt;
    }
}

template <class Read, class Write>
void check_codec(const Read& read, const Write& write, std::string_view text) {
    const auto value = unless_refused([&] { return read(text, "input"); });
    if (!value) return;
    const std::string once = write(*value);
    require(write(read(once, "output")) == once, "a value changed on its way through its file");
}

// Does what every reader of a plan goes on to do with it: nothing a valid plan says may break the counting.
void fold(std::string_view text) {
    const auto plan = unless_refused([&] { return io::read_plan(text, "input"); });
    if (!plan) return;
    unless_refused([&] { return check_predicted_bytes(*plan), true; });
    const GraphRecord& graph = plan->problem.graph;
    const UniformStats stats(graph.vertices, graph.nonzeros, graph.symmetric);
    for (const Candidate& candidate : plan->candidates) {
        const MemoryPlan memory = plan_memory(candidate.schedule, stats, 0);
        require(memory.arena_bytes >= 0 && memory.peak_bytes >= memory.arena_bytes, "memory does not add up");
    }
}

// With fingerprints made to fit, so that the checks behind them are reached.
std::string resealed(io::Document document) {
    const io::Document* machine = document.find("machine");
    io::Document* fingerprints = document.find("fingerprints");
    if (machine != nullptr && fingerprints != nullptr && fingerprints->get_if<io::Document::Object>() != nullptr) {
        fingerprints->set("machine", io::fingerprint(io::canonical(*machine)));
        fingerprints->set("content", io::content_fingerprint(document));
    }
    return io::dump(document);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto document = unless_refused([&] { return io::parse(text, "input"); });
    check_codec(io::read_plan, io::write_plan, text);
    check_codec(io::read_report, io::write_report, text);
    check_codec(io::read_machine, io::write_machine, text);
    if (!document) return 0;
    const std::string sealed = resealed(*document);
    check_codec(io::read_plan, io::write_plan, sealed);
    fold(sealed);
    return 0;
}
