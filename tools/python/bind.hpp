// The parts of the Python module share these declarations.
#pragma once

#include <CLI/CLI.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <string>
#include <vector>

namespace gnnplan::python {

namespace nb = nanobind;

// Options as the two programs take them.
using Arguments = std::vector<std::string>;

// Told by the thread of Python that waits for a search or a run, which then ends as soon as it looks here.
struct Stop {
    std::atomic<bool> told{false};
};

// Throws Error{usage} where an option is wrong.
void parse(CLI::App& app, const Arguments& arguments);

// Throws Error{unavailable} in a child of fork(), which lacks the threads that its parent had.
void check_process();

// Errors of the library become gnnplan.Error.
void add_errors(nb::module_& module);
void add_data(nb::module_& module);
void add_planning(nb::module_& module);
void add_running(nb::module_& module);
void add_sparse(nb::module_& module);

}  // namespace gnnplan::python
