// The program itself on a small graph, in a folder of its own.
#pragma once

#include "planner/io/files.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/report.hpp"
#include "tests/runtime/train/fixture.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct Outcome {
    int code = -1;
    std::string output;  // stdout, then stderr
};

class Gnnrun : public ::testing::Test {
protected:
    static constexpr const char* program = GNNRUN;

    Gnnrun() {
        write_ogb(gnnplan::testing::random_symmetric(31, 3, 6, 3, 2), path("graph"));
        dataset_ = data::open_dataset(path("graph"));
        save(train::testing::make_plan(dataset_, 4, true, 1, {{1, 10}}), "plan1.json");
        save(train::testing::make_plan(dataset_, 4, true, 4, {{4, 10}, {2, 6}}), "plan4.json");
    }

    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    void save(const Plan& plan, const std::string& name) const {
        io::write_file_atomically(path(name), io::write_plan(plan));
    }

    // Runs a command in which "@name" stands for the path of a file in the folder.
    Outcome run(std::string command) const {
        for (std::size_t at = command.find('@'); at != std::string::npos; at = command.find('@', at)) {
            command.replace(at, 1, folder_.path().string() + "/");
        }
        command += " >" + path("stdout") + " 2>" + path("stderr");
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                io::read_file(path("stdout")) + io::read_file(path("stderr"))};
    }
    Outcome gnnrun(const std::string& arguments) const {
        return run(std::string(program) + " --threads 1 " + arguments);
    }

    RunReport report(const std::string& name) const { return io::read_report(io::read_file(path(name)), name); }

    // Files of the folder that the test did not ask for.
    std::vector<std::string> leftovers() const {
        const std::vector<std::string> known = {"graph", "plan1.json", "plan4.json", "stdout", "stderr"};
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
            const std::string name = entry.path().filename();
            if (std::find(known.begin(), known.end(), name) == known.end()) found.push_back(name);
        }
        return found;
    }

    gnnplan::testing::TemporaryFolder folder_;
    data::Dataset dataset_;
};

}  // namespace gnnplan::tools
