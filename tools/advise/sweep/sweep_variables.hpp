// The quantities and choices that a sweep can vary: a table.
#pragma once

#include "tools/advise/sweep/sweep_question.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// A variable of a sweep: how a value is read and what it changes.
struct Variable {
    std::string name;                    // of --vary
    std::string key;                     // of CSV and JSON, with the unit
    std::string example;                 // values as they are written
    std::string unit;                    // of a number written without one, in hints
    double (*read)(const std::string&);  // nullptr: a name
    std::function<void(Question&, const Setting&)> apply;
};

// In the order in which settings are applied: what rests on another one comes behind it.
const std::vector<Variable>& all_variables();

}  // namespace gnnplan::tools
