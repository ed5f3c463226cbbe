#include "planner/io/checkpoint_folder.hpp"

#include "planner/io/draft.hpp"

#include <gnnplan/base/words.hpp>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace gnnplan::io {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view checkpoint_prefix = "checkpoint-";
constexpr std::string_view checkpoint_suffix = ".safetensors";

// The epoch in "checkpoint-000120.safetensors".
std::optional<std::int64_t> epoch_in(const std::string& name) {
    if (!name.starts_with(checkpoint_prefix) || !name.ends_with(checkpoint_suffix)) return std::nullopt;
    if (name.size() < checkpoint_prefix.size() + checkpoint_suffix.size()) return std::nullopt;
    const std::string_view digits(name.begin() + checkpoint_prefix.size(), name.end() - checkpoint_suffix.size());
    const auto epoch = number_from<std::int64_t>(digits);
    return epoch && *epoch >= 0 ? epoch : std::nullopt;
}

}  // namespace

std::string checkpoint_name(std::int64_t epoch) {
    constexpr std::size_t digits = 6;
    const std::string number = std::to_string(epoch);
    const std::string zeros(digits - std::min(digits, number.size()), '0');
    return std::string(checkpoint_prefix) + zeros + number + std::string(checkpoint_suffix);
}

std::optional<std::int64_t> checkpoint_epoch(const std::string& path) {
    return epoch_in(fs::path(path).filename().string());
}

void remove_abandoned(const std::string& folder) {
    remove_leftovers(folder, [](std::string_view file) { return file.starts_with(checkpoint_prefix); });
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
