// Near names for a misspelt one: "redit" finds "reddit".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::catalog {

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`, ignoring ASCII case.
int edit_distance(std::string_view a, std::string_view b);

// At most three of `names`, nearest first: those within a third of the letters, or that contain `given`.
std::vector<std::string> near_names(std::string_view given, std::span<const std::string> names);

// The hint of a "no such name" error: the near names, or every name when none is near.
std::string name_hint(std::string_view given, std::span<const std::string> names);

}  // namespace gnnplan::catalog
