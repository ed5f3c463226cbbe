#include "tools/gnnplan/sweep_ask.hpp"

#include "planner/catalog/publications.hpp"
#include "tools/advise/sweep/sweep_publication.hpp"
#include "tools/advise/sweep/sweep_variation.hpp"
#include "tools/ask/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

const Variation* find(const std::vector<Variation>& variations, const std::string& name) {
    const auto found = std::ranges::find(variations, name, &Variation::name);
    return found == variations.end() ? nullptr : &*found;
}

void check_said_once(const SweepOptions& options) {
    const auto given = std::ranges::find_if(options.said_by_as, [](const CLI::Option* o) { return o->count() > 0; });
    if (given == options.said_by_as.end()) return;
    throw Error(ErrorCode::usage, fmt::format("--as {} says that already", *options.as), (*given)->get_name(),
                "leave one of the two out; --vary, --machine and --memory change what --as says");
}

// The graph of the first point that is possible: heads of attention may be too many for a width, and the width that is
// there by default is asked for by nobody. Throws what the first point throws where none is.
const LoadedProblem* load_first_possible(const Question& question, const std::vector<Variation>& variations,
                                         SweepGraphs& graphs) {
    constexpr int most = 64;  // points; each reads the graph
    std::vector<std::size_t> at(variations.size());
    std::optional<Error> first;
    for (int tried = 0; tried < most; ++tried) {
        try {
            return &graphs.of(with_settings(question, variations, at));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::usage) throw;
            if (!first) first = error;
        }
        std::size_t i = variations.size();
        while (i > 0 && ++at[i - 1] == variations[i - 1].settings.size()) at[--i] = 0;
        if (i == 0) break;
    }
    throw Error(*first);
}

Machine machine_of(const SweepOptions& options, const Question& question, const std::vector<Variation>& variations) {
    const bool published = options.as && options.problem.machine.empty();
    if (published || find(variations, "machine") != nullptr)
        return with_settings(question, variations, std::vector<std::size_t>(variations.size())).machine;
    // One for all points, so that they differ by what varies only.
    return machine_and_say(options.problem, std::ranges::max(ranks_of(options, variations)));
}

}  // namespace

std::vector<Variation> variations_of(const SweepOptions& options) {
    std::vector<Variation> variations;
    for (const std::string& text : options.vary) variations.push_back(parse_variation(text));
    if (options.compare_schemes) {
        if (options.problem.model.sampler)
            throw Error(ErrorCode::usage, "the ranks that share batches do so as RDM does, so there is no other scheme",
                        "--compare-schemes", "leave out --sampler or --compare-schemes");
        // Nobody knows how most graphs of cards cut, so a cut is compared where it is named.
        std::vector<std::string> compared = scheme_names();
        std::erase(compared, "cut");
        variations.push_back(parse_variation(fmt::format("scheme={},paper,full", fmt::join(compared, ","))));
    }
    if (find(variations, "batches-per-update") != nullptr && find(variations, "sampler") == nullptr &&
        !options.problem.model.sampler) {
        throw Error(ErrorCode::usage, "updates are of no batches whose number could vary", "--vary batches-per-update",
                    "give --sampler, or vary it");
    }
    if (options.break_even && find(variations, "bandwidth") != nullptr) {
        throw Error(ErrorCode::usage, "--break-even searches for a bandwidth, so --vary cannot vary it as well",
                    "--break-even", "leave one of the two out");
    }
    check_varied_once(variations);
    if (!options.as) return variations;
    check_said_once(options);
    return variations_of(catalog::find_publication(*options.as), variations);
}

std::vector<std::int64_t> ranks_of(const SweepOptions& options, const std::vector<Variation>& variations) {
    const Variation* varied = find(variations, "ranks");
    if (varied == nullptr) return {options.problem.shape.ranks};
    std::vector<std::int64_t> ranks;
    ranks.reserve(varied->settings.size());
    for (const Setting& setting : varied->settings) ranks.push_back(static_cast<std::int64_t>(*setting.number));
    return ranks;
}

Question question_of(const SweepOptions& options, const std::vector<Variation>& variations, SweepGraphs& graphs) {
    const ProblemFlags& problem = options.problem;
    Question question{nullptr,
                      problem.shape,
                      select_options(problem.search),
                      {},
                      reading_of(problem.preparation),
                      network_of(problem.model)};
    if (problem.ranks_per_node) question.ranks_per_node = static_cast<int>(*problem.ranks_per_node);
    if (options.as) question = with_settings(std::move(question), catalog::find_publication(*options.as));
    question.loaded = load_first_possible(question, variations, graphs);
    question.machine = machine_of(options, question, variations);
    return question;
}

}  // namespace gnnplan::tools
