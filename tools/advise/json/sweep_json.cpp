#include "tools/advise/json/sweep_json.hpp"

#include "planner/cost/tie.hpp"
#include "planner/io/fingerprint.hpp"
#include "planner/io/plan_keys.hpp"
#include "tools/advise/certainty.hpp"
#include "tools/advise/json/selection_json.hpp"
#include "tools/advise/sweep/sweep_certainty.hpp"
#include "tools/advise/sweep/sweep_contest.hpp"
#include "tools/advise/sweep/sweep_printed.hpp"
#include "tools/text/version.hpp"

namespace gnnplan::tools {
namespace {

io::Document value_of(const Setting& setting) {
    return setting.number ? io::Document(*setting.number) : io::Document(setting.text);
}

io::Document encode_variations(const Sweep& sweep) {
    io::Document variations = io::Document::array();
    for (const Variation& variation : sweep.variations) {
        io::Document values = io::Document::array();
        for (const Setting& setting : variation.settings) values.push(value_of(setting));
        variations.push(
            io::Document::object({{"name", variation.name}, {"key", variation.key}, {"values", std::move(values)}}));
    }
    return variations;
}

io::Document encode_best(const std::optional<RankedConfiguration>& best) {
    return best ? encode(*best) : io::Document();
}

io::Document encode_range(const Sweep& sweep, const SweepPoint& point) {
    if (!point.best) return {};
    const Prediction& predicted = point.best->predicted;
    return encode_range(predicted.shown_seconds(),
                        time_factors(predicted, sweep.machine_of(point), sweep.problem.task));
}

// Encodes the figure that the publication prints for the point, and its prediction; null where it prints none.
io::Document encode_printed(const Sweep& sweep, const SweepPoint& point) {
    if (point.printed == catalog::nothing_printed) return {};
    const std::optional<double> predicted = predicted_as_printed(sweep, point);
    return io::Document::object({{"fits", point.printed != catalog::out_of_memory},
                                 {"value", point.printed > 0 ? io::Document(point.printed) : io::Document()},
                                 {"predicted", predicted ? io::Document(*predicted) : io::Document()}});
}

io::Document encode_publication(const Sweep& sweep) {
    if (sweep.published == nullptr) return {};
    const bool seconds = sweep.published->printed == catalog::PrintedQuantity::seconds;
    return io::Document::object({{"name", sweep.published->name},
                                 {"title", sweep.published->title},
                                 {"quantity", seconds ? "seconds" : "speed_up"}});
}

io::Document encode_points(const Sweep& sweep) {
    const bool drops = sweep.problem.run.drops_features().has_value();
    io::Document points = io::Document::array();
    const std::vector<std::optional<Scaling>> scaling = scaling_of(sweep);
    for (std::size_t i = 0; i < sweep.points.size(); ++i) {
        const SweepPoint& point = sweep.points[i];
        io::Document settings = io::Document::object();
        for (std::size_t v = 0; v < point.at.size(); ++v) {
            settings.set(sweep.variations[v].key, value_of(sweep.variations[v].settings[point.at[v]]));
        }
        io::Document entry = io::Document::object({{"settings", std::move(settings)}});
        entry.set("best", encode_best(point.best));
        entry.set("printed", encode_printed(sweep, point));
        entry.set("range_seconds", encode_range(sweep, point));
        entry.set("with_feature_dropout", drops ? io::Document() : encode_best(point.otherwise));
        entry.set("without_feature_dropout", drops ? encode_best(point.otherwise) : io::Document());
        entry.set("exit_code", point.best ? 0 : static_cast<int>(point.code));
        entry.set("speed_up", scaling[i] ? io::Document(scaling[i]->speed_up) : io::Document());
        entry.set("efficiency", scaling[i] ? io::Document(scaling[i]->efficiency) : io::Document());
        entry.set("memory_limit_bytes_per_rank", point.memory_limit);
        entry.set("needed_bytes_per_rank", point.over_memory() ? io::Document(point.needed_bytes) : io::Document());
        entry.set("smallest_ranks", point.smallest_ranks ? io::Document(*point.smallest_ranks) : io::Document());
        entry.set("why", point.why).set("pareto", encode(point.pareto)).set("rejected", encode(point.rejected));
        points.push(std::move(entry));
    }
    return points;
}

io::Document encode(const SchemeCrossing& c) {
    const Crossing& found = c.crossing;
    return io::Document::object({{"settings", c.others},
                                 {"along", c.axis},
                                 {"slower", found.slower},
                                 {"faster", found.faster},
                                 {"equal", found.equal},
                                 {"throughout", found.throughout},
                                 {"from", c.from},
                                 {"last", c.last},
                                 {"ratio_at_last", found.ratio},
                                 {"text", crossing_text(c)}});
}

io::Document encode(const std::optional<SureChange>& change) {
    if (!change) return {};
    return io::Document::object({{"bytes_per_second", change->at}, {"choice", change->choice}});
}

io::Document encode(const LinkBreakEven& link) {
    io::Document changes = io::Document::array();
    for (const ChoiceChange& change : link.changes) {
        changes.push(
            io::Document::object({{"bytes_per_second", change.at}, {"below", change.below}, {"above", change.above}}));
    }
    return io::Document::object({{"settings", link.settings},
                                 {"link", link.link},
                                 {"bytes_per_second", link.bytes_per_second},
                                 {"searched_from", link.low},
                                 {"searched_to", link.high},
                                 {"choice", link.choice},
                                 {"changes", std::move(changes)},
                                 {"sure_when_slower", encode(link.sure_slower)},
                                 {"sure_when_faster", encode(link.sure_faster)}});
}

}  // namespace

io::Document encode(const Question& question, const SweepAnswers& answers, const std::string& command_line) {
    io::Document crossings = io::Document::array(), links = io::Document::array();
    for (const SchemeCrossing& crossing : answers.crossings) crossings.push(encode(crossing));
    for (const LinkBreakEven& link : answers.links) links.push(encode(link));
    io::Document sentences = io::Document::array();
    for (const std::string& sentence : answers.sentences) sentences.push(sentence);
    return io::Document::object(
        {{"schema", "gnnplan.sweep/1"},
         {"tool_version", version()},
         {"command_line", command_line},
         {"problem", io::encode(question.loaded->problem.record)},
         {"machine", question.machine.name},
         {"model_error", cost::model_error(question.machine)},
         {"fingerprints",
          io::Document::object({{"graph", question.loaded->dataset ? question.loaded->dataset->fingerprint() : ""},
                                {"machine", io::machine_fingerprint(question.machine)}})},
         {"publication", encode_publication(answers.sweep)},
         {"variations", encode_variations(answers.sweep)},
         {"points", encode_points(answers.sweep)},
         {"sure", encode(certainty_of(answers.sweep))},
         {"sentences", std::move(sentences)},
         {"crossings", std::move(crossings)},
         {"bandwidth_break_even", std::move(links)}});
}

}  // namespace gnnplan::tools
