// How far the times predicted for a machine can be trusted, in words and in digits.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <string>

namespace gnnplan::tools {

// The finding of docs/published.md about machines that were not measured, as one sentence without a line break; "" for
// a machine that was calibrated.
std::string trust_sentence(const Machine& machine);

// Whether times of it come from measurements.
bool calibrated(const Machine& machine);

// A predicted quantity to two digits where the machine was not calibrated, else as it is.
double trusted_digits(double value, const Machine& machine);

// A predicted time with the digits it deserves: two where the machine was not calibrated ("9.2 ms"), else three.
std::string format_seconds(double seconds, const Machine& machine);
// The same where no more of the machine is known.
std::string format_predicted(double seconds, bool measured);

}  // namespace gnnplan::tools
