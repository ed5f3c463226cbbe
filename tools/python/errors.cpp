// Errors, and what every call checks.
#include "tools/python/bind.hpp"

#include "tools/common/main.hpp"

#include <gnnplan/base/error.hpp>

#include <unistd.h>

#include <exception>

namespace gnnplan::python {
namespace {

// gnnplan._errors.make() makes the exception of the kind that Python has for this code.
void raise(const Error& error) {
    const nb::object made =
        nb::module_::import_("gnnplan._errors")
            .attr("make")(static_cast<int>(error.code()), error.what(), error.where(), error.hint());
    PyErr_SetObject(made.type().ptr(), made.ptr());
}

const pid_t& importing_process() {
    static const pid_t process = ::getpid();
    return process;
}

}  // namespace

void parse(CLI::App& app, const Arguments& arguments) {
    app.set_help_flag();
    std::vector<const char*> words{"gnnplan"};
    for (const std::string& argument : arguments) words.push_back(argument.c_str());
    const auto end = tools::parse(app, static_cast<int>(words.size()), words.data());
    if (end) throw Error(ErrorCode::usage, end->error);
}

void check_process() {
    if (::getpid() == importing_process()) return;
    throw Error(ErrorCode::unavailable, "this process was forked after gnnplan was imported, without its threads", {},
                "let multiprocessing start its processes by spawn or forkserver");
}

void add_errors(nb::module_& module) {
    importing_process();
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            raise(error);
        }
    });
    module.def("check_process", &check_process);
}

}  // namespace gnnplan::python
