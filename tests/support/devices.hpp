// The devices that tests of kernels run on.
#pragma once

#include "kernels/device.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace gnnplan::testing {

struct DeviceKind {
    std::string name;
    kernels::OpenDevice open;
    // Of tests over many shapes, it takes every so manieth.
    int every = 1;
};
inline void PrintTo(const DeviceKind& kind, std::ostream* out) { *out << kind.name; }

// The oracle itself, the processor, the CUDA kernels on fibres, and a memory that the host cannot touch. The first does
// not stand for the others: it shows that operands get to a device and back.
const std::vector<DeviceKind>& devices();

}  // namespace gnnplan::testing
