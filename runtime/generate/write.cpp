#include "runtime/generate/write_forms.hpp"

#include <gnnplan/base/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

bool is_named(const fs::path& path, int descriptor) {
    struct stat named {};
    struct stat open {};
    return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 && named.st_ino == open.st_ino &&
           named.st_dev == open.st_dev;
}

// A new folder beside the target, in which this process makes the output. It is removed with the object. The process
// holds a lock of it, which ends with the process: a folder without a lock was left by a process that was killed, and
// the next process with the same target removes it.
class Draft {
public:
    explicit Draft(const fs::path& target) : prefix_("." + target.filename().string() + ".tmp-") {
        const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
        remove_leftovers(folder);
        constexpr int attempts = 1000;
        for (int i = 0; i < attempts; ++i) {
            path_ = target.parent_path() / (prefix_ + std::to_string(::getpid()) + "-" + std::to_string(i));
            if (::mkdir(path_.c_str(), 0777) == 0) {
                descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                const bool mine = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
                if (mine && is_named(path_, descriptor_)) return;
                ::close(std::exchange(descriptor_, -1));  // it was taken for a leftover
            } else if (errno != EEXIST) {
                break;
            }
        }
        throw Error(ErrorCode::cannot_create, std::string("cannot create: ") + std::strerror(errno), target.string());
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
        ::close(descriptor_);
    }

    const fs::path& path() const { return path_; }

private:
    void remove_leftovers(const fs::path& folder) const {
        std::error_code failure, ignored;
        for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
            const fs::path& path = entry->path();
            if (!path.filename().string().starts_with(prefix_)) continue;
            const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
            if (descriptor < 0) continue;
            if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_named(path, descriptor))
                fs::remove_all(path, ignored);
            ::close(descriptor);
        }
    }

    std::string prefix_;
    fs::path path_;
    int descriptor_ = -1;
};

void publish(const fs::path& whole, const fs::path& target) {
    std::error_code error;
    fs::rename(whole, target, error);
    if (error)
        throw Error(ErrorCode::cannot_create, "cannot rename the finished output: " + error.message(), target.string());
}

// The file that links lead to, which need not exist.
fs::path followed(fs::path path) {
    constexpr int most_links = 40;
    std::error_code no_link;
    for (int i = 0; i < most_links; ++i) {
        const fs::path to = fs::read_symlink(path, no_link);
        if (no_link) break;
        path = path.parent_path() / to;
    }
    return path;
}

}  // namespace

void write_graph(const GeneratedGraph& graph, const fs::path& path) {
    fs::path target = path.lexically_normal();
    if (target.filename().empty()) target = target.parent_path();  // "DIR/"
    if (target.empty()) throw Error(ErrorCode::cannot_create, "no output path");
    if (target.extension() == ".npz") {
        target = followed(target);
        if (fs::is_directory(target)) throw Error(ErrorCode::cannot_create, "is a folder", target.string());
        const Draft draft(target);
        const fs::path archive = draft.path() / "graph.npz";
        write_npz(graph, archive);
        publish(archive, target);
        return;
    }
    std::error_code ignored;
    if (fs::exists(target, ignored) && !fs::is_empty(target, ignored)) {
        throw Error(ErrorCode::cannot_create, "exists already", target.string(), "remove it, or choose another name");
    }
    const Draft draft(target);
    const fs::path folder = draft.path() / "graph";
    write_ogb(graph, folder);
    publish(folder, target);
}

}  // namespace gnnplan::data
