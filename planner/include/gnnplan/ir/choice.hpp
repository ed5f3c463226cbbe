// An alternative differs from the plan's configuration in one Choice.
#pragma once

#include <optional>
#include <string>

namespace gnnplan {

struct LayerRange {
    int first = 1;
    int last = 1;
    bool operator==(const LayerRange&) const = default;
};

// `key` is the key of a configuration in plan files, or "scheme", "kept" or "baseline"; `value` is spelled as in plan
// files, "on" or "off" where it is true or false there. docs/plan-format.md, "alternatives", lists them.
struct Choice {
    std::string key;
    std::string value = {};                 // "" where the key says it all: another grid
    std::optional<LayerRange> layers = {};  // that change together, where the choice is one of layers
    bool operator==(const Choice&) const = default;
};

// For people: "forward 2..9 D", "loss rows off", "scores by dealt rows".
std::string text(const Choice& choice);

}  // namespace gnnplan
