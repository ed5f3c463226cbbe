#include "planner/catalog/suggest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace gnnplan::catalog {
namespace {

constexpr std::size_t max_suggestions = 3;
constexpr std::size_t shortest_fragment = 3;  // shorter ones are contained in too many names

std::string lower_case(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::string join(std::span<const std::string> names) {
    std::string result;
    for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
    return result;
}

}  // namespace

// Optimal string alignment, Damerau-Levenshtein without overlapping edits; three rows of the table are enough.
int edit_distance(std::string_view a, std::string_view b) {
    const std::string from = lower_case(a);
    const std::string to = lower_case(b);
    std::vector<int> before(to.size() + 1);
    std::vector<int> previous(to.size() + 1);
    std::vector<int> current(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) previous[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= from.size(); ++i) {
        current[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const int substitution = previous[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
            const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous[to.size()];
}

std::vector<std::string> near_names(std::string_view given, std::span<const std::string> names) {
    const int limit = std::max(1, static_cast<int>(given.size() / 3));
    const std::string fragment = lower_case(given);
    std::vector<std::pair<int, std::string>> near;
    for (const std::string& name : names) {
        const int distance = edit_distance(given, name);
        const bool contained = fragment.size() >= shortest_fragment && name.find(fragment) != std::string::npos;
        if (distance <= limit) {
            near.emplace_back(distance, name);
        } else if (contained) {
            near.emplace_back(limit, name);
        }
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<std::string> result;
    for (std::size_t i = 0; i < std::min(near.size(), max_suggestions); ++i) result.push_back(near[i].second);
    return result;
}

std::string name_hint(std::string_view given, std::span<const std::string> names) {
    const std::vector<std::string> near = near_names(given, names);
    return near.empty() ? "known: " + join(names) : "did you mean " + join(near) + "?";
}

}  // namespace gnnplan::catalog
