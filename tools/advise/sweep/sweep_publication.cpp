#include "tools/advise/sweep/sweep_publication.hpp"

#include "tools/advise/sweep/sweep_variation.hpp"

#include <algorithm>

namespace gnnplan::tools {
namespace {

using catalog::PaperFigure;

constexpr const char* case_name = "case";

Variation case_variation(const PaperFigure& publication) {
    Variation variation{case_name, case_name, {}};
    for (const catalog::PublishedCase& each : publication.cases)
        variation.settings.push_back({each.name, std::nullopt, each.settings});
    return variation;
}

std::optional<std::size_t> place_of(const std::vector<Variation>& variations, const std::string& name) {
    const auto found = std::ranges::find(variations, name, &Variation::name);
    if (found == variations.end()) return std::nullopt;
    return static_cast<std::size_t>(found - variations.begin());
}

// The text of a point's setting of this variation.
std::string setting_of(const Sweep& sweep, const SweepPoint& point, const std::string& name) {
    const auto place = place_of(sweep.variations, name);
    return place ? sweep.variations[*place].settings[point.at[*place]].text : "";
}

// The figure that the publication prints of a point.
double printed_of(const Sweep& sweep, const SweepPoint& point, const PaperFigure& publication) {
    const Variation along = parse_variation(publication.along);
    if (!publication.competitors.empty()) {
        const Variation competitors = parse_variation(publication.competitors);
        if (setting_of(sweep, point, competitors.name) != publication.printed_of) return catalog::nothing_printed;
    }
    const auto row =
        std::ranges::find(publication.cases, setting_of(sweep, point, case_name), &catalog::PublishedCase::name);
    const auto column = std::ranges::find(along.settings, setting_of(sweep, point, along.name), &Setting::text);
    if (row == publication.cases.end() || column == along.settings.end()) return catalog::nothing_printed;
    return row->printed[static_cast<std::size_t>(column - along.settings.begin())];
}

}  // namespace

std::vector<Variation> variations_of(const PaperFigure& publication, const std::vector<Variation>& asked) {
    std::vector<Variation> variations{case_variation(publication), parse_variation(publication.along)};
    if (!publication.competitors.empty()) variations.push_back(parse_variation(publication.competitors));
    for (const Variation& variation : asked) {
        const auto place = place_of(variations, variation.name);
        (place ? variations[*place] : variations.emplace_back()) = variation;
    }
    return variations;
}

Question with_settings(Question question, const PaperFigure& publication) {
    question.network.task = publication.task;
    const Variation all{case_name, case_name, {{publication.name, std::nullopt, publication.settings}}};
    return with_settings(std::move(question), {all}, {0});
}

void add_printed(Sweep& sweep, const PaperFigure& publication) {
    const std::vector<Variation> own = variations_of(publication, {});
    const bool same = std::ranges::all_of(sweep.variations,
                                          [&](const Variation& each) { return place_of(own, each.name).has_value(); });
    if (!same || with_settings(Question{}, publication).machine.name != sweep.machine.name) return;
    sweep.published = &publication;
    for (SweepPoint& point : sweep.points) point.printed = printed_of(sweep, point, publication);
}

}  // namespace gnnplan::tools
