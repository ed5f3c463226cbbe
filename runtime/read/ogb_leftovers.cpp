// Finds the files of OGB folders that are not read.
#include "runtime/read/ogb.hpp"

#include <utility>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

// Lists the files of raw/ that are not read, and those of split/, which has folders.
Leftovers unread_of(const fs::path& folder, const std::vector<std::string>& known) {
    Leftovers leftovers{unread_files(folder, "raw", known), "raw/node-feat.csv", "raw/node-label.csv", ogb_split_files};
    for (Unread& file : unread_files(folder, "split", {})) leftovers.unread.push_back(std::move(file));
    return leftovers;
}

bool has_split(const fs::path& folder) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder / "split", missing)) {
        if (entry.is_directory()) return true;
    }
    return false;
}

}  // namespace

Leftovers ogb_leftovers(const fs::path& folder, std::int64_t /*vertices*/) {
    return unread_of(folder, {"edge.csv", "edge-feat.csv", "num-node-list.csv", "num-edge-list.csv", "node-feat.csv",
                              "node-label.csv"});
}

Leftovers ogb_binary_leftovers(const fs::path& folder, std::int64_t vertices) {
    Leftovers leftovers = unread_of(folder, {"data.npz", "node-label.npz"});
    leftovers.features = "node_feat of raw/data.npz";
    leftovers.labels = "node_label of raw/node-label.npz";
    std::vector<Unread> arrays = unread_arrays(*open_arrays(folder / "raw/data.npz"), vertices);
    leftovers.unread.insert(leftovers.unread.begin(), arrays.begin(), arrays.end());
    return leftovers;
}

std::vector<Unread> beside_ogb_file(const fs::path& file) {
    std::error_code failed;
    const fs::path raw = fs::absolute(file, failed).parent_path();
    const fs::path folder = raw.parent_path();
    const bool archive = file.filename() == "data.npz";
    if (failed || raw.filename() != "raw" || (!archive && find_csv(raw, "edge.csv").filename() != file.filename()))
        return {};
    Unread beside{"the OGB folder " + folder.string() + " (to be given in place of this file of it)"};
    beside.features = !find_csv(raw, "node-feat.csv").empty() || fs::is_directory(raw / "node-feat", failed);
    beside.labels = !find_csv(raw, "node-label.csv").empty() || fs::exists(raw / "node-label.npz", failed);
    beside.split = has_split(folder);
    if (!beside.features && !beside.labels && !beside.split) return {};
    return {beside};
}

}  // namespace gnnplan::data
