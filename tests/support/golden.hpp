// Numbers that another program computed, in a file of tests/golden: lines of a name, how many there are, and these.
#pragma once

#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gnnplan::testing {

using Golden = std::map<std::string, std::vector<double>>;

inline Golden read_golden(const std::string& path) {
    Golden golden;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream fields(line);
        std::string name;
        std::size_t count = 0;
        fields >> name >> count;
        std::vector<double>& values = golden[name];
        for (double value = 0; fields >> value;) values.push_back(value);
        if (values.size() != count) throw std::runtime_error(path + ": " + name + " is cut");
    }
    return golden;
}

}  // namespace gnnplan::testing
