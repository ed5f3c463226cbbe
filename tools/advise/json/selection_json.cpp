#include "tools/advise/json/selection_json.hpp"

#include "planner/cost/tie.hpp"
#include "planner/io/plan_keys.hpp"
#include "tools/advise/certainty.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/text/option_names.hpp"

namespace gnnplan::tools {

io::Document encode(const RankedConfiguration& ranked) {
    const Prediction& predicted = ranked.predicted;
    return io::Document::object({{"configuration", io::encode(ranked.configuration)},
                                 {"epoch_seconds", predicted.epoch_seconds},
                                 {"loading_seconds", io::encode(predicted.loading)},
                                 {"setup_seconds", predicted.setup_seconds},
                                 {"kept_seconds_per_epoch", predicted.kept_seconds},
                                 {"total_bytes", predicted.total_bytes},
                                 {"max_rank_bytes", predicted.max_rank_bytes},
                                 {"peak_bytes_per_rank", predicted.peak_bytes_per_rank},
                                 {"estimate", predicted.estimate},
                                 {"redistribution_units", ranked.executed.redistribution},
                                 {"sparse_units", ranked.executed.sparse},
                                 {"pareto", ranked.pareto},
                                 {"fits", ranked.fits}});
}

io::Document encode(const std::vector<RankedConfiguration>& ranked) {
    io::Document array = io::Document::array();
    for (const RankedConfiguration& r : ranked) array.push(encode(r));
    return array;
}

io::Document encode(const std::vector<Rejection>& rejected) {
    io::Document array = io::Document::array();
    for (const Rejection& r : rejected) {
        array.push(io::Document::object({{"what", r.what}, {"why", with_dashes(r.why)}, {"count", r.count}}));
    }
    return array;
}

io::Document encode(const Infeasible& infeasible, const std::string& message) {
    io::Document largest = io::Document::array();
    for (const TensorSize& tensor : infeasible.largest) {
        largest.push(io::Document::object({{"name", tensor.name}, {"bytes", tensor.bytes}}));
    }
    io::Document document = io::Document::object({{"schema", "gnnplan.infeasible/1"},
                                                  {"message", message},
                                                  {"needed_bytes_per_rank", infeasible.needed_bytes},
                                                  {"available_bytes_per_rank", infeasible.available_bytes},
                                                  {"largest_tensors", std::move(largest)}});
    const auto or_null = [](const auto& value) { return value ? io::Document(*value) : io::Document(); };
    return document.set("sharded_bytes_per_rank", or_null(infeasible.sharded_bytes))
        .set("recomputed_bytes_per_rank", or_null(infeasible.recomputed_bytes))
        .set("smallest_ranks", or_null(infeasible.smallest_ranks));
}

io::Document encode_ranking(const Selection& selection) {
    const std::optional<double> slower = separation(selection);
    return io::Document::object({{"schema", "gnnplan.ranking/1"},
                                 {"tool_version", selection.plan.tool_version},
                                 {"command_line", selection.plan.command_line},
                                 {"memory_bytes_per_rank", selection.memory_per_rank},
                                 {"runner_up_slower_by", slower ? io::Document(*slower) : io::Document()},
                                 {"model_error", cost::model_error(selection.plan.machine)},
                                 {"ties", ties(selection)},
                                 {"separated", slower && ties(selection) == 1},
                                 {"sure", encode(certainty_of(selection.plan))},
                                 {"ranked", encode(selection.ranked)},
                                 {"rejected", encode(selection.rejected)}});
}

}  // namespace gnnplan::tools
