// How many digits the times predicted for a machine deserve.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <string>

namespace gnnplan::tools {

// Whether times of it come from measurements, and not only from a probe.
bool calibrated(const Machine& machine);

// A predicted quantity to two digits where the machine was not calibrated, else as it is.
double trusted_digits(double value, const Machine& machine);

// A predicted time with the digits it deserves: two where the machine was not calibrated ("9.2 ms"), else three.
std::string format_seconds(double seconds, const Machine& machine);
// The same where no more of the machine is known.
std::string format_predicted(double seconds, bool measured);

}  // namespace gnnplan::tools
