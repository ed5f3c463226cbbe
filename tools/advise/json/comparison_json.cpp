#include "planner/cost/tie.hpp"
#include "planner/io/enum_names.hpp"
#include "tools/advise/comparison.hpp"

namespace gnnplan::tools {
namespace {

io::Document optional_number(const std::optional<double>& value) {
    return value ? io::Document(*value) : io::Document();
}

io::Document encode(const std::vector<Compared>& compared) {
    io::Document object = io::Document::object();
    for (const Compared& c : compared) {
        object.set(c.name, io::Document::object({{"a", optional_number(c.a)},
                                                 {"b", optional_number(c.b)},
                                                 {"ratio", optional_number(c.ratio())}}));
    }
    return object;
}

io::Document encode(const std::vector<Difference>& differences) {
    io::Document object = io::Document::object();
    for (const Difference& d : differences) object.set(d.name, io::Document::object({{"a", d.a}, {"b", d.b}}));
    return object;
}

}  // namespace

io::Document encode(const Comparison& comparison) {
    const auto name = [](const Side& side) {
        io::Document object = io::Document::object({{"file", side.file}, {"schema", side.schema}});
        if (side.ending) object.set("ending", io::name_of(*side.ending));
        if (side.resumed_after) object.set("resumed_after", *side.resumed_after);
        return object;
    };
    const Machine* machine = comparison.machine();
    const std::optional<bool> tie = comparison.tie();
    return io::Document::object({{"schema", "gnnplan.comparison/1"},
                                 {"a", name(comparison.a)},
                                 {"b", name(comparison.b)},
                                 {"problem_differences", encode(comparison.problem)},
                                 {"settings_differences", encode(comparison.settings)},
                                 {"configuration", encode(comparison.configuration)},
                                 {"epoch_seconds", encode(comparison.seconds)},
                                 {"model_error", machine ? io::Document(cost::model_error(*machine)) : io::Document()},
                                 {"predicted_tie", tie ? io::Document(*tie) : io::Document()},
                                 {"bytes", encode(comparison.bytes)},
                                 {"kinds_measured", comparison.kinds_measured},
                                 {"kind_seconds", encode(comparison.kind_seconds)},
                                 {"kind_bytes", encode(comparison.kind_bytes)}});
}

}  // namespace gnnplan::tools
