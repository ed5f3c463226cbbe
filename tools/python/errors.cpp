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

// False says no to a flag, which is no more than to leave it out. An option with a value has none for False, and one
// that there is not is refused later.
bool leaves_out(const CLI::App& app, const std::string& argument) {
    constexpr std::string_view no = "=false";
    if (!argument.starts_with("--") || !argument.ends_with(no)) return false;
    const std::string name = argument.substr(0, argument.size() - no.size());
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) return false;
    if (option->get_items_expected_min() == 0) return true;
    throw Error(ErrorCode::usage, name + " takes a value, not False", name, "leave it out, or say None");
}

}  // namespace

void parse(CLI::App& app, const Arguments& arguments) {
    app.set_help_flag();
    std::vector<const char*> words{"gnnplan"};
    for (const std::string& argument : arguments)
        if (!leaves_out(app, argument)) words.push_back(argument.c_str());
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
