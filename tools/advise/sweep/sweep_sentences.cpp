#include "tools/advise/sweep/sweep_sentences.hpp"
#include "tools/advise/evidence.hpp"

#include "planner/cost/likely.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gnnplan::tools {
namespace {

double seconds_of(const SweepPoint* point) { return point->best->predicted.ranked_seconds(); }

bool tie(const SweepPoint& a, const SweepPoint& b, const Sweep& sweep) {
    return cost::tie(a.best->predicted, b.best->predicted, sweep.machine_of(a));
}

std::string prefixed(const std::string& settings, const std::string& sentence) {
    return settings.empty() ? sentence : settings + ": " + sentence;
}

// The settings in which races differ.
std::string race_text(const Sweep& sweep, const Race& race) {
    std::vector<std::size_t> skip;
    if (const auto axis = race_axis(sweep.variations)) skip.push_back(*axis);
    for (std::size_t v = 0; v < sweep.variations.size(); ++v) {
        if (is_alternative(sweep.variations[v])) skip.push_back(v);
    }
    return short_text(sweep.variations, race.others, skip);
}

// "7 %", "2.3x".
std::string behind_text(double ratio) {
    const double percent = 100 * (ratio - 1);
    if (percent >= 100) return fmt::format("{:.2g}x", ratio);
    return fmt::format("{:.{}f} %", percent, percent >= 0.05 && percent < 0.95 ? 1 : 0);
}

struct Entry {
    std::string name;
    const SweepPoint* point;
};

// The entries that have a plan, the fastest first.
std::vector<Entry> by_time(const Race& race, const Contest& contest) {
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < contest.entries.size(); ++i) {
        if (contest.entries[i]->best) entries.push_back({race.competitors[i], contest.entries[i]});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return seconds_of(a.point) < seconds_of(b.point); });
    return entries;
}

// "1d is fastest, 1.5d 7 %, rdm 13 % behind (a tie within 25 %), paper 2.3x; 3d does not fit"
std::string contest_text(const Sweep& sweep, const Race& race, const Contest& contest) {
    const std::vector<Entry> entries = by_time(race, contest);
    std::vector<std::string> tied, slower, over;
    for (const Entry& entry : entries) {
        if (&entry == &entries.front()) continue;
        const double first = seconds_of(entries.front().point), seconds = seconds_of(entry.point);
        (tie(*entry.point, *entries.front().point, sweep) ? tied : slower)
            .push_back(entry.name + " " + behind_text(seconds / first));
    }
    for (std::size_t i = 0; i < contest.entries.size(); ++i) {
        if (contest.entries[i]->over_memory()) over.push_back(race.competitors[i]);
    }
    std::string text = entries.front().name + (entries.size() == 1 && !over.empty() ? " alone fits" : " is fastest");
    if (!tied.empty()) {
        text += fmt::format(", {} behind (a tie within {})", fmt::join(tied, ", "),
                            tie_text(sweep.machine_of(*entries.front().point)));
    }
    if (!slower.empty()) text += fmt::format(", {}{}", fmt::join(slower, ", "), tied.empty() ? " behind" : "");
    if (over.empty() || entries.size() == 1) return text;
    return text + fmt::format("; {} {} not fit", fmt::join(over, ", "), over.size() == 1 ? "does" : "do");
}

// The first of the contests up to `last` from which on the fastest of `last` is so or in a tie.
std::size_t lead_begins(const Sweep& sweep, const std::vector<const Contest*>& contests, std::size_t last) {
    const Contest& end = *contests[last];
    const auto leader = static_cast<std::size_t>(std::find(end.entries.begin(), end.entries.end(), end.fastest()) -
                                                 end.entries.begin());
    std::size_t begin = last;
    while (begin > 0) {
        const Contest& before = *contests[begin - 1];
        const SweepPoint* own = before.entries[leader];
        if (!own->best || !tie(*own, *before.fastest(), sweep)) break;
        --begin;
    }
    return begin;
}

std::vector<std::string> contest_sentences(const Sweep& sweep, const Race& race) {
    const std::optional<std::size_t> axis = race_axis(sweep.variations);
    // Graphs or machines follow each other in no order, so nothing begins at one of them.
    const bool ordered = axis && sweep.variations[*axis].settings.front().number.has_value();
    std::vector<const Contest*> contests;
    for (const Contest& contest : race.contests) {
        if (contest.fastest() != nullptr) contests.push_back(&contest);
    }
    std::vector<std::string> sentences;
    for (std::size_t end = contests.size(); end > 0;) {
        const std::size_t last = end - 1;
        const std::size_t begin = ordered ? lead_begins(sweep, contests, last) : last;
        std::string text = contest_text(sweep, race, *contests[last]);
        if (axis) text.insert(0, fmt::format("{}: ", place_text(sweep.variations[*axis], contests[last]->setting)));
        if (begin < last) {
            const std::string leader = by_time(race, *contests[last]).front().name;
            const std::string from = place_text(sweep.variations[*axis], contests[begin]->setting);
            text += fmt::format(
                "; {} leads or ties from {} {}", leader, from,
                end == contests.size() ? "on" : "to " + place_text(sweep.variations[*axis], contests[last]->setting));
        }
        const std::string others = race_text(sweep, race);
        sentences.push_back(others.empty() ? text : fmt::format("{}{}{}", others, axis ? ", " : ": ", text));
        end = begin;
    }
    return sentences;
}

std::string scaling_sentence(const Sweep& sweep, const Race& race, const Variation& ranks) {
    std::vector<std::pair<std::string, const SweepPoint*>> fewer;  // than the fastest: ranks, the best with them
    const SweepPoint* fastest = race.fastest();
    if (fastest == nullptr) return "";
    std::string number;
    for (const Contest& contest : race.contests) {
        const SweepPoint* best = contest.fastest();
        number = ranks.settings[contest.setting].text;
        if (best == fastest) break;
        if (best != nullptr) fewer.emplace_back(number, best);
    }
    std::string text = number + (number == "1" ? " rank is the fastest" : " ranks are the fastest");
    if (fewer.empty()) {
        const auto planned = std::count_if(race.contests.begin(), race.contests.end(),
                                           [](const Contest& contest) { return contest.fastest() != nullptr; });
        return planned == 1 ? "" : prefixed(race_text(sweep, race), text + ", more take longer");
    }
    const auto share = [&](const auto& other) {
        const bool tied = tie(*other.second, *fastest, sweep);
        return fmt::format("{} {:.0f} % of their speed{}", other.first + (other.first == "1" ? " gives" : " give"),
                           100 * seconds_of(fastest) / seconds_of(other.second),
                           tied ? " (a tie within " + tie_text(sweep.machine_of(*fastest)) + ")" : "");
    };
    text += "; " + share(fewer.back());
    // The fewest that nobody can tell from it.
    const auto tied = std::find_if(fewer.begin(), fewer.end(),
                                   [&](const auto& other) { return tie(*other.second, *fastest, sweep); });
    if (tied != fewer.end() && std::next(tied) != fewer.end()) text += ", " + share(*tied);
    return prefixed(race_text(sweep, race), text);
}

}  // namespace

std::vector<std::string> scaling_sentences(const Sweep& sweep) {
    const std::optional<std::size_t> axis = race_axis(sweep.variations);
    std::vector<std::string> sentences;
    if (!axis || sweep.variations[*axis].name != "ranks") return sentences;
    for (const Race& race : races_of(sweep)) {
        std::string sentence = scaling_sentence(sweep, race, sweep.variations[*axis]);
        if (!sentence.empty()) sentences.push_back(std::move(sentence));
    }
    return sentences;
}

std::vector<std::string> contest_sentences(const Sweep& sweep) {
    std::vector<std::string> sentences;
    for (const Race& race : races_of(sweep)) {
        if (race.competitors.size() < 2) continue;
        for (std::string& sentence : contest_sentences(sweep, race)) sentences.push_back(std::move(sentence));
    }
    return sentences;
}

std::vector<std::string> nothing_fits_sentences(const Sweep& sweep) {
    const std::optional<std::size_t> main = main_variation(sweep.variations);
    const bool varies = main && sweep.variations[*main].name == "ranks";
    std::vector<SweepLine> lines;
    if (varies) {
        lines = lines_along(sweep, *main);
    } else {
        for (const SweepPoint& point : sweep.points) lines.push_back({point.at, {&point}});
    }
    // Settings of which the same is to be said are named together.
    std::vector<std::pair<std::string, std::vector<std::string>>> said;
    for (const SweepLine& line : lines) {
        if (!std::all_of(line.points.begin(), line.points.end(), [](const auto* p) { return p->over_memory(); }))
            continue;
        std::vector<std::string> asked;
        for (const SweepPoint* point : line.points) {
            if (varies) asked.push_back(sweep.variations[*main].settings[point->at[*main]].text);
        }
        // The point with the fewest ranks knows the answer, as its search looked at every larger number.
        const std::optional<int> smallest = line.points.front()->smallest_ranks;
        const std::string text =
            fmt::format("nothing fits{}; {}", varies ? fmt::format(" on {} ranks", fmt::join(asked, ", ")) : "",
                        smallest ? fmt::format("{} ranks would do", *smallest) : line.points.front()->why);
        const std::string name =
            short_text(sweep.variations, line.others, varies ? std::vector{*main} : std::vector<std::size_t>{});
        const auto same = std::find_if(said.begin(), said.end(), [&](const auto& s) { return s.first == text; });
        if (same == said.end()) {
            said.push_back({text, {name}});
        } else {
            same->second.push_back(name);
        }
    }
    std::vector<std::string> sentences;
    sentences.reserve(said.size());
    for (const auto& [text, names] : said) {
        sentences.push_back(prefixed(fmt::format("{}", fmt::join(names, "; ")), text));
    }
    return sentences;
}

std::vector<std::string> sweep_sentences(const Sweep& sweep) {
    std::vector<std::string> all = scaling_sentences(sweep);
    using Sentences = std::vector<std::string> (*)(const Sweep&);
    for (const Sentences more : {Sentences(contest_sentences), Sentences(nothing_fits_sentences)}) {
        for (std::string& sentence : more(sweep)) all.push_back(std::move(sentence));
    }
    return all;
}

std::vector<std::string> most_telling(std::vector<std::string> sentences) {
    if (sentences.size() <= max_sentences) return sentences;
    const std::size_t left = sentences.size() - (max_sentences - 1);
    sentences.resize(max_sentences - 1);
    sentences.push_back(fmt::format("{} sentences more are in the output of --json", left));
    return sentences;
}

}  // namespace gnnplan::tools
