#include "planner/io/machine.hpp"
#include "planner/catalog/machines.hpp"
#include "planner/io/calibrations.hpp"
#include "planner/io/files.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/catalog.hpp>
#include <gnnplan/io.hpp>
#include <gnnplan/question.hpp>

#include <algorithm>

namespace gnnplan {

namespace {

bool is_calibration_name(const std::string& name) {
    const std::vector<std::string> names = io::calibration_names();
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

Machine find_machine(const std::string& name_or_file, int ranks) {
    if (name_or_file.empty()) return calibrated(ranks).value_or(preset("cpu-node"));
    if (name_or_file == io::device_machine)
        return io::device_calibration_for(ranks, io::read_calibrations().kept).profile.machine;
    if (is_calibration_name(name_or_file))
        return io::named_calibration_for(ranks, io::read_calibrations(name_or_file).kept, name_or_file).profile.machine;
    if (io::is_there(name_or_file)) return io::read_machine(io::read_file(name_or_file), name_or_file);
    if (name_or_file.ends_with(".json") || name_or_file.find('/') != std::string::npos) {
        throw Error(ErrorCode::missing_input, "there is no such file", name_or_file, catalog::own_machine_hint);
    }
    return catalog::find_machine(name_or_file, io::calibration_names());
}

}  // namespace gnnplan
