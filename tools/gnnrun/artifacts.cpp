#include "tools/gnnrun/artifacts.hpp"

#include "planner/io/files.hpp"
#include "planner/io/report.hpp"

#include <gnnplan/base/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace gnnplan::tools {
namespace {

// Creates a file beside `path` and removes it again: permissions alone do not tell.
void check_can_create(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (path.empty()) throw Error(ErrorCode::cannot_create, "the name of the output is empty");
    if (fs::is_directory(path, ignored)) throw Error(ErrorCode::cannot_create, "is a folder", path);
    if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return;  // e.g. /dev/stdout
    std::string probe = path + ".XXXXXX";
    const int descriptor = mkstemp(probe.data());
    if (descriptor < 0) {
        throw Error(ErrorCode::cannot_create, std::string("cannot be created: ") + std::strerror(errno), path);
    }
    close(descriptor);
    unlink(probe.c_str());
}

}  // namespace

void check_artifacts(const RunFlags& flags) {
    if (flags.report) check_can_create(*flags.report);
    if (flags.metrics) check_can_create(*flags.metrics);
}

void write_artifacts(const RunFlags& flags, const RunReport& report) {
    if (flags.report) io::write_file_atomically(*flags.report, io::write_report(report));
    if (flags.metrics) {
        std::string lines;
        for (const EpochRecord& epoch : report.epochs) lines += io::metrics_line(epoch);
        io::write_file_atomically(*flags.metrics, lines);
    }
}

}  // namespace gnnplan::tools
