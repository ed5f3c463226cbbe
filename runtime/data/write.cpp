#include "runtime/data/write_forms.hpp"

#include <gnnplan/base/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

// Removes what was written unless it got its name.
class Draft {
public:
    explicit Draft(const fs::path& target) : path_(target.parent_path() / ".") {
        path_ += target.filename();
        path_ += ".tmp-" + std::to_string(getpid());
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

void create_file(const fs::path& path, const fs::path& target) {
    errno = 0;
    if (!std::ofstream(path)) {
        throw Error(ErrorCode::cannot_create, std::string("cannot create: ") + std::strerror(errno), target.string());
    }
}

void create_folder(const fs::path& path, const fs::path& target) {
    std::error_code error;
    if (fs::exists(target, error) && !fs::is_empty(target, error)) {
        throw Error(ErrorCode::cannot_create, "exists already", target.string(), "remove it, or choose another name");
    }
    fs::create_directory(path, error);
    if (error) throw Error(ErrorCode::cannot_create, "cannot create the folder: " + error.message(), target.string());
}

}  // namespace

void write_graph(const GeneratedGraph& graph, const fs::path& path) {
    fs::path target = path.lexically_normal();
    if (target.filename().empty()) target = target.parent_path();  // "DIR/"
    if (target.empty()) throw Error(ErrorCode::cannot_create, "no output path");
    Draft draft(target);
    if (target.extension() == ".npz") {
        if (fs::is_directory(target)) throw Error(ErrorCode::cannot_create, "is a folder", target.string());
        create_file(draft.path(), target);
        write_npz(graph, draft.path());
    } else {
        create_folder(draft.path(), target);
        write_ogb(graph, draft.path());
    }
    draft.publish(target);
}

}  // namespace gnnplan::data
