#include "runtime/generate/write_forms.hpp"

#include <gnnplan/base/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

// A new file or folder beside the target, which nobody else could have put there. It is removed unless it gets its
// name.
class Draft {
public:
    // `create`: makes the path it is given, or sets errno; EEXIST asks for another name.
    Draft(const fs::path& target, const std::function<bool(const char*)>& create) {
        constexpr int attempts = 1000;
        for (int i = 0; i < attempts; ++i) {
            fs::path path = target.parent_path() / ".";
            path += target.filename();
            path += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(i);
            if (create(path.c_str())) {
                path_ = path;
                return;
            }
            if (errno != EEXIST) break;
        }
        throw Error(ErrorCode::cannot_create, std::string("cannot create: ") + std::strerror(errno), target.string());
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }

    const fs::path& path() const { return path_; }

    void publish(const fs::path& target) {
        std::error_code error;
        fs::rename(path_, target, error);
        if (error)
            throw Error(ErrorCode::cannot_create, "cannot rename the finished output: " + error.message(),
                        target.string());
        path_.clear();
    }

private:
    fs::path path_;
};

bool create_file(const char* path) {
    const int descriptor = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return descriptor >= 0 && ::close(descriptor) == 0;
}

bool create_folder(const char* path) { return ::mkdir(path, 0777) == 0; }

}  // namespace

void write_graph(const GeneratedGraph& graph, const fs::path& path) {
    fs::path target = path.lexically_normal();
    if (target.filename().empty()) target = target.parent_path();  // "DIR/"
    if (target.empty()) throw Error(ErrorCode::cannot_create, "no output path");
    if (target.extension() == ".npz") {
        if (fs::is_directory(target)) throw Error(ErrorCode::cannot_create, "is a folder", target.string());
        Draft draft(target, create_file);
        write_npz(graph, draft.path());
        draft.publish(target);
        return;
    }
    std::error_code ignored;
    if (fs::exists(target, ignored) && !fs::is_empty(target, ignored)) {
        throw Error(ErrorCode::cannot_create, "exists already", target.string(), "remove it, or choose another name");
    }
    Draft draft(target, create_folder);
    write_ogb(graph, draft.path());
    draft.publish(target);
}

}  // namespace gnnplan::data
