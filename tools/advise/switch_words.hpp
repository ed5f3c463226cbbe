// The words of the switches of a configuration, and of the other choices that hold for all its layers: a row each,
// which the cells of tables, their legends, --help, pins and the worth of choices are made from.
#pragma once

#include <gnnplan/select.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::tools {

// A word of the cell "choices", and what the legend says of it.
struct CellWord {
    std::string word;  // "" of a value that cells leave out
    std::string meaning;
};

struct ValueWords {
    std::string chosen;   // of the plan, where alternatives have another value: "scores by whole rows"
    std::string instead;  // of an alternative, where the plan has another value: "by whole rows"
    CellWord cell = {};
};

// A value as a flag spells it.
struct FlagValue {
    std::string spelling;
    std::size_t value = 0;  // its place among those of the switch
    bool numbered = false;  // its last letter stands for a number of epochs: "cd:R"

    bool is(std::string_view text) const;
    int number_in(std::string_view text) const;  // -1 where it has none
};

// How people pin a switch.
struct PinWords {
    std::string flag = {};               // "--scores"; "" where there is none
    std::vector<FlagValue> values = {};  // in the order of --help; none of a flag without a value, which says "on"
    std::string help = {};               // in --help
    std::string no_effect = {};          // why a pin may have none, with {} for the grid; "": nothing is said of it
    std::string no_effect_on = "the plan";
    bool remark_says_value = false;
    bool (*applies)(const Distribution&) = nullptr;  // where a pin can have an effect; nullptr: see what was chosen

    bool takes(std::string_view text) const;  // whether its flag does
    void (*pin)(SelectOptions&, std::size_t value, int number) = nullptr;
    std::optional<std::size_t> (*pinned)(const SelectOptions&) = nullptr;  // what `pin` was told
};

struct SwitchWords {
    std::string key;                                // in plan files
    std::size_t (*value_of)(const Configuration&);  // its place in `values`
    std::vector<ValueWords> values;                 // the plainest first
    int Configuration::*count = nullptr;            // of parts: stands before the word in a cell
    bool absence_differs = true;  // whether a cell without its word differs to a reader: a grid has an exchange or not
    PinWords pin = {};

    bool has_same(const Configuration& a, const Configuration& b) const {
        const bool counted = count != nullptr && value_of(a) != 0;
        return value_of(a) == value_of(b) && (!counted || a.*count == b.*count);
    }
    const ValueWords& words_of(const Configuration& configuration) const { return values[value_of(configuration)]; }
    std::string cell_of(const Configuration& configuration) const;  // "4 parts"; "" where the cell leaves it out
    // "--scores whole-rows"
    std::string flag_with(std::size_t value) const;
};

// In the order of cells and legends.
const std::vector<SwitchWords>& switch_words();

// The row with this key; nullptr where there is none.
const SwitchWords* find_switch_words(std::string_view key);

// Those that can be pinned, in the order of --help.
std::vector<const SwitchWords*> pinnable_switches();

// "2 layers recomputed at once"; "" where nothing is recomputed.
std::string recomputed_text(const Configuration& configuration);

// The value of --inexact that makes groups train so; "" where all ranks train together.
std::string inexact_way(const Configuration& configuration);

// Pins a switch to a value that its flag takes. Throws Error{usage} where no model has such a value.
void pin_switch(SelectOptions& options, std::string_view key, std::string_view spelling);

}  // namespace gnnplan::tools
