// gnnplan._core: what the Python package calls. Texts go in and out as the JSON that the programs write.
#include "tools/python/bind.hpp"

#include "tools/text/version.hpp"

NB_MODULE(_core, module) {
    using namespace gnnplan::python;
    nb::set_leak_warnings(false);  // of classes that an interpreter keeps until its end
    module.attr("version") = gnnplan::tools::version();
    add_errors(module);
    add_data(module);
    add_planning(module);
    add_running(module);
    add_sparse(module);
}
