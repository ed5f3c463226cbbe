#include "tools/gnnplan/sweep_facets.hpp"

#include "tools/advise/sweep/sweep_sentences.hpp"
#include "tools/gnnplan/sweep_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_facets = 6;

}  // namespace

const SweepPoint* faster(const SweepPoint* a, const SweepPoint* b) {
    if (b == nullptr || !b->best) return a;
    return a == nullptr || seconds_of(*b) < seconds_of(*a) ? b : a;
}

std::vector<Facet> facets_of(const Sweep& sweep, std::size_t main) {
    std::vector<SweepLine> lines = lines_along(sweep, main);
    if (lines.size() <= most_series) return {{"", std::move(lines)}};
    std::optional<std::size_t> by;
    for (std::size_t v = 0; v < sweep.variations.size(); ++v) {
        const std::size_t values = sweep.variations[v].settings.size();
        if (v == main || values < 2 || values > most_facets || lines.size() / values > most_series) continue;
        if (!by || (is_alternative(sweep.variations[*by]) && !is_alternative(sweep.variations[v]))) by = v;
    }
    if (by) {
        std::vector<Facet> facets;
        for (std::size_t i = 0; i < sweep.variations[*by].settings.size(); ++i) {
            facets.push_back({place_text(sweep.variations[*by], i), {}, by});
        }
        for (SweepLine& line : lines) facets[line.others[*by]].lines.push_back(std::move(line));
        return facets;
    }
    const auto best = [](const SweepLine& line) {
        const SweepPoint* fastest = nullptr;
        for (const SweepPoint* point : line.points) fastest = faster(fastest, point);
        return fastest == nullptr ? std::numeric_limits<double>::infinity() : seconds_of(*fastest);
    };
    std::stable_sort(lines.begin(), lines.end(),
                     [&](const SweepLine& a, const SweepLine& b) { return best(a) < best(b); });
    const std::string title = fmt::format("the {} fastest of {}", most_series, lines.size());
    lines.resize(most_series);
    return {{title, std::move(lines)}};
}

}  // namespace gnnplan::tools
