// Finds the entry of a table of names, which samples are called by.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace gnnplan::calibrate {

// The second member of the pair in `names` whose first member is `what`; nothing where there is none.
template <class Names>
auto named(const Names& names, std::string_view what) -> std::optional<decltype(names[0].second)> {
    const auto* known = std::ranges::find(names, what, [](const auto& name) { return name.first; });
    if (known == names.end()) return std::nullopt;
    return known->second;
}

}  // namespace gnnplan::calibrate
