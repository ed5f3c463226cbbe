// The answer to the same question where runs treat their features otherwise: with dropout on them, or without.
#pragma once

#include <gnnplan/select.hpp>

#include <optional>
#include <string>

namespace gnnplan::tools {

// Searches once more: with dropout on the features where `chosen` relies on constant ones and nobody has said how runs
// treat them, and without it where runs drop them. None where neither is so.
std::optional<SelectResult> with_features_otherwise(Problem problem, const Machine& machine, SelectOptions options,
                                                    const Configuration& chosen);

// The best of that search as an alternative to a plan for `run`.
Alternative feature_dropout(const Selection& otherwise, const RunRecord& run);

// The other way to treat features than `run` has, with the option that asks for it.
std::string other_dropout_words(const RunRecord& run);

// How long one time is beside another in words: "3.7x", "+12 %", "3.7x as fast".
std::string times_text(double ratio);

// "with dropout on the features (`dropout 0.5`): 1d 8x1 DD S-, 34 ms, 3.7x" of the plan's alternative; "" without one.
std::string dropout_text(const Plan& plan);
// The same where nothing fits then.
std::string dropout_text(const Infeasible& infeasible, const RunRecord& run);

}  // namespace gnnplan::tools
