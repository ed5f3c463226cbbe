#include "runtime/run/agreement.hpp"

#include "planner/io/enum_names.hpp"
#include "planner/io/facts.hpp"
#include "planner/io/sampling_words.hpp"
#include "runtime/graph/fingerprint.hpp"

#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::run {
namespace {

template <class T>
std::string text_of(const std::optional<T>& value) {
    return value ? fmt::format("{}", *value) : "not given";
}

std::string text_of(std::optional<Loading> loading) {
    return loading ? std::string(io::name_of(*loading)) : "not given";
}

std::string given_or_not(bool value) { return value ? "given" : "not given"; }

// Names and values, each ended by a zero byte.
std::string encode(const std::vector<Fact>& facts) {
    std::string text;
    for (const Fact& fact : facts) text += fact.name + '\0' + fact.value + '\0';
    return text;
}

// Names and values, in turn.
std::vector<std::string> decode(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\0', begin);
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

}  // namespace

std::vector<Fact> facts_of_training(const Settings& settings) {
    const train::TrainOptions& options = settings.training;
    std::vector<Fact> facts{
        {io::option_fact("seed"), std::to_string(options.seed)},
        {io::option_fact("lr"), fmt::format("{}", options.learning_rate)},
        {io::option_fact("lr-schedule"), options.schedule.kind == train::RateSchedule::Kind::constant
                                             ? text_of(std::optional<std::string>())
                                             : text_of(options.schedule)},
        {io::option_fact("weight-decay"), fmt::format("{}", options.weight_decay)},
        {io::option_fact("momentum"), fmt::format("{}", options.momentum)},
        {io::option_fact("decay"), text_of(options.decay)},
        {io::option_fact("dropout"), fmt::format("{}", options.dropout)},
        {io::option_fact("input-dropout"), text_of(options.input_dropout)},
        {io::option_fact("attention-dropout"), fmt::format("{}", options.attention_dropout)},
        {io::option_fact("feature-norm"), name_of(settings.feature_norm)}};
    if (options.keep_best || options.patience || options.runs > 1)
        facts.push_back({io::option_fact("best-by"), std::string(io::name_of(options.best_by))});
    return facts;
}

std::vector<Fact> facts_of_run(const Settings& settings, const Plan& plan) {
    const train::TrainOptions& options = settings.training;
    std::vector<Fact> facts{{"the version of `run/`", settings.tool_version}, {"the plan", plan.fingerprints.content}};
    for (Fact& fact : facts_of_training(settings)) facts.push_back(std::move(fact));
    const std::vector<Fact> others{{io::option_fact("dry-run"), given_or_not(settings.dry_run)},
                                   {io::option_fact("epochs"), std::to_string(options.epochs)},
                                   {io::option_fact("runs"), std::to_string(options.runs)},
                                   {io::option_fact("eval-every"), text_of(options.eval_every)},
                                   {io::option_fact("autotune"), text_of(options.autotune)},
                                   {io::option_fact("checkpoint"), text_of(settings.checkpoint)},
                                   {io::option_fact("checkpoint-every"), text_of(settings.checkpoint_every_epochs)},
                                   {io::option_fact("resume"), text_of(settings.resume)},
                                   {io::option_fact("load-weights"), text_of(settings.load_weights)},
                                   {io::option_fact("save-weights"), text_of(settings.save_weights)},
                                   {io::option_fact("save-logits"), text_of(settings.save_logits)},
                                   {io::option_fact("save-layers"), text_of(settings.save_layers)},
                                   {io::option_fact("keep-best"), given_or_not(options.keep_best)},
                                   {io::option_fact("patience"), text_of(options.patience)},
                                   {io::option_fact("time-limit"), text_of(settings.time_limit_seconds)},
                                   {io::option_fact("timeout"), std::to_string(settings.timeout_seconds)},
                                   {io::option_fact("bind"), settings.binds_threads ? "on" : "off"},
                                   {io::option_fact("backend"), settings.backend},
                                   {io::option_fact("spmm"), options.product_kernel},
                                   {io::option_fact("load"), text_of(settings.loading)},
                                   {io::option_fact("report"), text_of(settings.report)},
                                   {io::option_fact("metrics"), text_of(settings.metrics)},
                                   {io::option_fact("trace"), text_of(settings.trace)}};
    facts.insert(facts.end(), others.begin(), others.end());
    return facts;
}

std::vector<Fact> facts_of_model(const Settings& settings, const ProblemRecord& problem) {
    std::string weighing(io::name_of(problem.graph.normalisation));
    if (problem.graph.edge_weights) weighing += ", with the data's weights";
    // In plans of earlier versions, the matrix that gin normalises includes the vertex itself.
    if (models::matrix_of(models::with_defaults(problem.model)).self_loops && !problem.graph.self_loops)
        weighing += ", without the vertex itself";
    std::vector<Fact> facts{{"the model", settings.model}, {"the weighing of edges", weighing}};
    if (!problem.batches) return facts;
    for (auto& [name, value] : io::words_of(problem.batches)) facts.push_back({std::move(name), std::move(value)});
    return facts;
}

std::vector<Fact> facts_of_data(const data::Dataset& dataset) {
    return {{"the graph", dataset.fingerprint()},
            {"the number of features", std::to_string(dataset.features())},
            {"the number of classes", std::to_string(dataset.classes())},
            {"the labels", dataset.label_fingerprint()},
            {"the split", data::fingerprint(dataset.subset())}};
}

void require_same(comm::Communicator& comm, const std::vector<Fact>& facts) {
    const std::vector<std::string> all = comm.control_all_gather(encode(facts));
    const std::vector<std::string> first = decode(all.front());
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank] == all.front()) continue;
        const std::vector<std::string> other = decode(all[rank]);
        // The version comes first, so facts that another version lacks or adds are not reached.
        const auto differs = std::mismatch(first.begin(), first.end(), other.begin(), other.end()).first;
        const auto name = static_cast<std::size_t>(differs - first.begin()) / 2 * 2;
        ensure(name + 1 < std::min(first.size(), other.size()), "ranks compare the same facts");
        throw comm::AgreedError(ErrorCode::mismatch,
                                fmt::format("{} is not the same on every rank: {} on rank 0, {} on rank {}",
                                            io::fact_text(first[name]), first[name + 1], other[name + 1], rank),
                                {}, "start all ranks with the same arguments, data and version");
    }
}

}  // namespace gnnplan::run
