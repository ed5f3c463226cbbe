#include "tools/gnnplan/output.hpp"

#include "tools/common/main.hpp"

#include <gnnplan/base/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace gnnplan::tools {

void print_json(const io::Document& document) { print(io::dump(document, 1) + "\n"); }

void check_can_create(const std::string& path) {
    namespace fs = std::filesystem;
    const auto refuse = [&](const std::string& why) { throw Error(ErrorCode::cannot_create, why, path); };
    std::error_code ignored;
    if (path.empty()) refuse("the name of the output is empty");
    if (fs::is_directory(path, ignored)) refuse("is a folder");
    if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return;  // e.g. /dev/stdout
    const fs::path parent = fs::path(path).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
        refuse("cannot be created: " + folder + ": " + std::strerror(errno));
    }
}

}  // namespace gnnplan::tools
