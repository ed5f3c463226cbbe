#include "planner/io/checkpoint_folder.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace gnnplan::io {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view prefix = "checkpoint-";
constexpr std::string_view suffix = ".safetensors";

// The epoch in "checkpoint-000120.safetensors".
std::optional<std::int64_t> epoch_in(const std::string& name) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
    const char* begin = name.data() + prefix.size();
    const char* end = name.data() + name.size() - suffix.size();
    std::int64_t epoch = 0;
    const auto [stop, error] = std::from_chars(begin, end, epoch);
    if (begin >= end || stop != end || error != std::errc() || epoch < 0) return std::nullopt;
    return epoch;
}

// "checkpoint-000120.safetensors.tmp-31539-0" or "layer-2.npy.tmp-31539-0" of a process that is no longer there.
bool is_abandoned(const std::string& name) {
    constexpr std::string_view mark = ".tmp-";
    const std::size_t at = name.find(mark);
    if (at == std::string::npos || !(name.starts_with(prefix) || name.starts_with("layer-"))) return false;
    pid_t process = 0;
    const char* begin = name.data() + at + mark.size();
    const auto [stop, error] = std::from_chars(begin, name.data() + name.size(), process);
    return error == std::errc() && process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string checkpoint_name(std::int64_t epoch) {
    constexpr std::size_t digits = 6;
    const std::string number = std::to_string(epoch);
    const std::string zeros(digits - std::min(digits, number.size()), '0');
    return std::string(prefix) + zeros + number + std::string(suffix);
}

std::optional<std::int64_t> checkpoint_epoch(const std::string& path) {
    return epoch_in(fs::path(path).filename().string());
}

void remove_abandoned(const std::string& folder) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (is_abandoned(entry.path().filename().string())) fs::remove(entry.path(), none);
    }
}

std::vector<KeptCheckpoint> checkpoints_in(const std::string& folder) {
    std::vector<KeptCheckpoint> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (!entry.is_regular_file(none)) continue;  // a pipe would be waited for
        if (const auto epoch = epoch_in(entry.path().filename().string()))
            found.push_back({*epoch, entry.path().string()});
    }
    std::sort(found.begin(), found.end(),
              [](const KeptCheckpoint& a, const KeptCheckpoint& b) { return a.epoch < b.epoch; });
    return found;
}

}  // namespace gnnplan::io
