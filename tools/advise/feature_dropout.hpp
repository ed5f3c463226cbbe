// Words for the answer to the same question where runs treat their features otherwise: with dropout on them, or
// without.
#pragma once

#include <gnnplan/select.hpp>

#include <string>

namespace gnnplan::tools {

// The other way to treat features than `run` has, with the option that asks for it.
std::string other_dropout_words(const RunRecord& run);

// How long one time is beside another in words: "3.7x", "+12 %", "3.7x as fast".
std::string times_text(double ratio);

// "with dropout on the features (`dropout 0.5`): 1d 8x1 DD S-, 34 ms, 3.7x" of the plan's alternative; "" without one.
std::string dropout_text(const Plan& plan);
// The same for the network without the linear maps before layer 1.
std::string without_maps_text(const Plan& plan);
// The same where nothing fits then.
std::string dropout_text(const Infeasible& infeasible, const RunRecord& run);

}  // namespace gnnplan::tools
