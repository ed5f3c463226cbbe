#include "planner/catalog/machines.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/catalog.hpp>

#include "planner/catalog/host.hpp"
#include "planner/catalog/machine_presets.hpp"
#include "planner/catalog/suggest.hpp"

#include <utility>

namespace gnnplan::catalog {

std::span<const Machine> machines() {
    static const std::vector<Machine> presets = [] {
        std::vector<Machine> all = make_machine_presets();
        for (Machine& machine : make_cpu_presets()) all.push_back(std::move(machine));
        return all;
    }();
    return presets;
}

std::vector<std::string> machine_names() {
    std::vector<std::string> names;
    for (const Machine& machine : machines()) names.push_back(machine.name);
    return names;
}

const Machine& find_machine(std::string_view name, const std::vector<std::string>& others) {
    for (const Machine& machine : machines()) {
        if (machine.name == name) return machine;
    }
    std::vector<std::string> known = others;
    for (std::string& preset : machine_names()) known.push_back(std::move(preset));
    const std::string near = name_hint(name, known);
    throw Error(ErrorCode::missing_input, "no such machine profile", std::string(name),
                near + (near.ends_with('?') ? " " : "; ") + own_machine_hint);
}

Machine detect_machine() { return machine_of(find_machine("cpu-node"), read_host()); }

}  // namespace gnnplan::catalog

namespace gnnplan {

Machine preset(std::string_view name) { return catalog::find_machine(name); }

}  // namespace gnnplan
