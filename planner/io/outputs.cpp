#include "planner/io/outputs.hpp"

#include "planner/io/draft.hpp"
#include "planner/io/files.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/memory_text.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>

namespace gnnplan::io {
namespace fs = std::filesystem;
namespace {

// Whether they are one file, or would be.
bool same_file(const fs::path& a, const fs::path& b) {
    std::error_code none;
    if (fs::exists(a, none) && fs::exists(b, none)) return fs::equivalent(a, b, none);
    return fs::weakly_canonical(io::followed(a), none) == fs::weakly_canonical(io::followed(b), none);
}

// Whether the file is of data, and lies in the folder or below it.
bool holds_data_file(const fs::path& folder, const fs::path& file) {
    constexpr std::array<std::string_view, 6> endings{".gz", ".csv", ".npz", ".npy", ".mtx", ".txt"};
    std::error_code none;
    if (!fs::is_directory(folder, none) || !fs::is_regular_file(file, none)) return false;
    if (std::find(endings.begin(), endings.end(), file.extension().string()) == endings.end()) return false;
    const fs::path below = fs::canonical(file, none).lexically_relative(fs::canonical(folder, none));
    return !below.empty() && *below.begin() != "..";
}

bool is_there(const fs::path& file) {
    std::error_code none;
    return fs::exists(file, none);
}

bool is_special(const fs::path& file) {
    std::error_code none;
    return is_there(file) && !fs::is_regular_file(file, none);
}

}  // namespace

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i].path) continue;
        const std::string& path = *outputs[i].path;
        const std::string where = outputs[i].name + " " + path;
        for (const NamedFile& input : inputs) {
            if (!input.path || !is_there(*input.path) || is_special(path)) continue;
            if (same_file(path, *input.path) || holds_data_file(*input.path, path)) {
                throw Error(ErrorCode::usage, "would overwrite what is read: " + input.name + " " + *input.path, where,
                            "choose another name");
            }
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (!outputs[j].path || is_special(path) || !same_file(path, *outputs[j].path)) continue;
            throw Error(ErrorCode::usage, "names the same file as " + outputs[j].name, where, "choose another name");
        }
        io::check_can_create(path);
    }
}

namespace {

// The free bytes on the disk of a folder; the largest number where the system does not tell.
std::uint64_t free_bytes(const fs::path& folder) {
    if (const char* told = std::getenv("GNNPLAN_DISK_FREE")) return std::strtoull(told, nullptr, 10);
    std::error_code failure;
    const fs::space_info space = fs::space(folder, failure);
    return failure ? std::numeric_limits<std::uint64_t>::max() : space.available;
}

}  // namespace

void check_free_space(const std::vector<ExpectedFile>& files) {
    struct Disk {
        fs::path folder;
        std::uint64_t bytes = 0;
    };
    std::map<dev_t, Disk> disks;
    for (const ExpectedFile& file : files) {
        std::error_code none;
        fs::path folder = fs::weakly_canonical(io::followed(file.path), none).parent_path();
        if (folder.empty()) folder = ".";
        struct stat status {};
        if (is_special(file.path) || ::stat(folder.c_str(), &status) != 0) continue;
        Disk& disk = disks[status.st_dev];
        disk.folder = folder;
        disk.bytes += static_cast<std::uint64_t>(file.bytes);
    }
    for (const auto& [device, disk] : disks) {
        const std::uint64_t available = free_bytes(disk.folder);
        if (disk.bytes <= available) continue;
        throw Error(ErrorCode::cannot_create,
                    memory_text(static_cast<std::int64_t>(disk.bytes)) + " are to be written, and " +
                        memory_text(static_cast<std::int64_t>(available)) + " are free on the disk",
                    disk.folder.string(), "make room, or write to another disk");
    }
}

}  // namespace gnnplan::io
