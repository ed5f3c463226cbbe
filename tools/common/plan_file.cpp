#include "tools/common/plan_file.hpp"

#include "planner/cost/cache.hpp"
#include "planner/io/files.hpp"
#include "planner/io/parse.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/schedule_codec.hpp"
#include "planner/lower/lower.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>
#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

// |N_0| .. |N_L|, which only the graph knows, as the schedule has them. The run compares them with the graph.
std::vector<std::int64_t> loss_rows_of(const Schedule& schedule, std::int64_t vertices, int hops) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(hops) + 1, vertices);
    for (const Space& space : schedule.spaces) {
        if (space.needed_of >= 1 && space.needed_of <= hops)
            rows[static_cast<std::size_t>(space.needed_of)] = space.rows;
    }
    return rows;
}

// Into how many pieces blocks are cut for small buffers, which only the graph knows, as the schedule has them.
void take_cuts(const Schedule& schedule, Schedule& made) {
    for (std::size_t i = 0; i < std::min(schedule.tensors.size(), made.tensors.size()); ++i) {
        const Storage& cut = schedule.tensors[i].storage;
        if (made.tensors[i].role != Role::adjacency) continue;
        made.tensors[i].storage.splits = cut.splits;
        made.tensors[i].storage.ahead = cut.ahead;
    }
}

// The first element of the array `key` that differs, in words; "" when none does.
std::string difference(const io::Document& found, const io::Document& expected, const char* key) {
    const auto* have = found.find(key)->get_if<io::Document::Array>();
    const auto* want = expected.find(key)->get_if<io::Document::Array>();
    ensure(have != nullptr && want != nullptr, "schedules are written as arrays");
    for (std::size_t i = 0; i < std::max(have->size(), want->size()); ++i) {
        const auto text = [&](const io::Document::Array& array) {
            return i < array.size() ? io::dump(array[i]) : std::string("none");
        };
        if (text(*have) == text(*want)) continue;
        return fmt::format("{}[{}] is {}, and should be {}", key, i, io::in_quotes(text(*have)),
                           io::in_quotes(text(*want)));
    }
    return "";
}

// Makes the schedule of each candidate again, from its configuration.
class Lowering {
public:
    explicit Lowering(const Plan& plan)
        : layers_(sites_of(models::build(plan.problem))), bounds_buffers_(plan.problem.buffer_bytes > 0) {
        const GraphRecord& graph = plan.problem.graph;
        shape_.vertices = graph.vertices;
        shape_.symmetric_pattern = multiplies_symmetric(graph.symmetric, plan.problem.batches);
        shape_.symmetric = one_copy_serves(shape_.symmetric_pattern, graph.normalisation);
        shape_.nonzeros = graph.nonzeros;
        shape_.seed = graph.seed;
        shape_.optimiser = plan.problem.run.optimiser;
        shape_.cache_bytes = cost::gathered_cache_bytes(plan.machine);
        shape_.blocking = plan.machine.blocking;
        shape_.ranks_per_node = plan.machine.ranks_per_node;
        shape_.loading = plan.problem.loading;
        shape_.batches = plan.problem.batches;
        for (std::size_t l = 1; l <= plan.problem.fanout.size(); ++l) shape_.samples.push_back(static_cast<int>(l));
    }

    Schedule of(const Candidate& candidate) {
        shape_.loss_rows = loss_rows_of(candidate.schedule, shape_.vertices, layers_.hops());
        Schedule made = lower::lower(layers_, candidate.configuration, shape_);
        if (bounds_buffers_) take_cuts(candidate.schedule, made);
        return made;
    }

private:
    SiteGraph layers_;
    lower::GraphShape shape_;
    bool bounds_buffers_;
};

bool has_origins(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [](const Step& step) { return step.origin.layer > 0; });
}

void take_origins(Schedule& schedule, const Schedule& lowered) {
    if (has_origins(schedule) || schedule.steps.size() != lowered.steps.size()) return;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) schedule.steps[i].origin = lowered.steps[i].origin;
}

}  // namespace

void check_lowering(Plan& plan) {
    Lowering lowering(plan);
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
        Candidate& candidate = plan.candidates[i];
        const Schedule lowered = lowering.of(candidate);
        take_origins(candidate.schedule, lowered);
        const io::Document found = io::encode_schedule(candidate.schedule);
        const io::Document expected = io::encode_schedule(lowered);
        if (io::canonical(found) == io::canonical(expected)) continue;
        std::string where;
        for (const char* key : {"spaces", "parameters", "tensors", "steps"}) {
            if (where.empty()) where = difference(found, expected, key);
        }
        throw Error(ErrorCode::data, "is not what this version makes of the configuration: " + where,
                    fmt::format("candidates[{}].schedule", i),
                    fmt::format("it was altered, or made by another version ({}): plan again", plan.tool_version));
    }
}

void add_origins(Plan& plan) {
    for (Candidate& candidate : plan.candidates) {
        if (!has_origins(candidate.schedule)) take_origins(candidate.schedule, Lowering(plan).of(candidate));
    }
}

Plan read_plan_text(std::string_view text, const std::string& path) {
    Plan plan = io::read_plan(text, path);
    try {
        check_predicted_bytes(plan);
        check_lowering(plan);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::internal) throw;
        throw Error(ErrorCode::data, error.what(), path);
    }
    return plan;
}

Plan read_plan_file(const std::string& path) { return read_plan_text(io::read_file(path), path); }

}  // namespace gnnplan::tools
