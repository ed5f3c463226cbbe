// Backends by the names that users give them.
#pragma once

#include "kernels/device.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::kernels {

struct Backend {
    bool host_memory = true;  // of its devices: the host may read and write it
    // `local_rank` counts the ranks of this machine from 0; they share its devices out. Both throw Error{unavailable}
    // where there is no device.
    std::function<std::string(int local_rank)> device_name;
    std::function<std::unique_ptr<Device>(int local_rank)> open;  // called by the rank's thread
};

// "cpu", "reference", and those that need not be there: "cuda".
std::vector<std::string> backend_names();

// The kind of memory that tensors lie in on its devices. Opens nothing.
TensorMemory tensor_memory(std::string_view backend);

// Finds the backend, and a device of it. The libraries of "cuda" are loaded here and not before, from the module that
// the variable GNNPLAN_CUDA_MODULE names, else libgnnplan_cuda.so in ../lib beside the program, or beside the library
// that has this code, else where the loader finds it. Throws Error{unavailable} with what is missing.
Backend open_backend(std::string_view name);

}  // namespace gnnplan::kernels
