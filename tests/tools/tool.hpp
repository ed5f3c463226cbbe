// Runs the tools as a user would.
#pragma once

#include "tests/support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace gnnplan::testing {

struct Outcome {
    int code = -1;  // exit code; 128 + signal when killed
    std::string out;
    std::string err;

    nlohmann::ordered_json json() const { return nlohmann::ordered_json::parse(out); }
};

// `PROGRAM ARGUMENTS`, the arguments as a shell takes them.
Outcome run_program(const std::string& program, const std::string& arguments);
Outcome gnnplan(const std::string& arguments);

// The text with every run of blanks and line breaks as one blank, wherever lines were wrapped.
std::string on_one_line(const std::string& text);

// How many columns of a terminal a text takes: code points of its longest line.
std::size_t widest_line(const std::string& text);

// An empty folder that is removed at the end of the test.
using Folder = test::TemporaryFolder;

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace gnnplan::testing
