#include "runtime/comm/mpi_start.hpp"

#include <algorithm>

namespace gnnplan::comm {
namespace {

// "ranks 1, 2 and 5 more"
std::string list_of(const std::vector<int>& ranks) {
    constexpr std::size_t shown = 16;
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < std::min(shown, ranks.size()); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (ranks.size() > shown) text += " and " + std::to_string(ranks.size() - shown) + " more";
    return text;
}

}  // namespace

std::string MpiStart::answers() const {
    std::vector<int> here, missing;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        (answered_[i].load(std::memory_order_relaxed) ? here : missing).push_back(ranks_[i]);
    const auto verb = [](const std::vector<int>& ranks) { return ranks.size() == 1 ? " has" : " have"; };
    if (missing.empty()) return "all that it greeted have answered";
    return list_of(missing) + verb(missing) + " not answered" + (here.empty() ? "" : ", " + list_of(here) + verb(here));
}

}  // namespace gnnplan::comm
