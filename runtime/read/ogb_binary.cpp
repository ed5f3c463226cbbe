// OGB's binary raw folders, as ogbn-papers100M has one: arrays in place of CSV files.
#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/npz_names.hpp"
#include "runtime/read/ogb.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

fs::path data_of(const fs::path& folder) { return folder / "raw" / "data.npz"; }
fs::path labels_of(const fs::path& folder) { return folder / "raw" / "node-label.npz"; }

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

}  // namespace

bool is_ogb_binary_folder(const Source& source) { return source.folder && is_file(data_of(source.path)); }

ParsedGraph read_ogb_binary_graph(const fs::path& folder, const ReadOptions& options) {
    ParsedGraph graph = read_npz_graph(data_of(folder), options);
    graph.format = "OGB binary raw folder";
    return graph;
}

std::unique_ptr<FeatureSource> open_ogb_binary_features(const fs::path& folder, std::int64_t vertices) {
    return open_npz_features(data_of(folder), vertices);
}

Supervision read_ogb_binary_supervision(const fs::path& folder, const std::string& split, std::int64_t vertices) {
    Supervision supervision;
    if (is_file(labels_of(folder))) {
        const std::unique_ptr<ArrayArchive> opened = open_arrays(labels_of(folder));
        const ArrayArchive& archive = *opened;
        if (labels_array(archive).empty()) {
            throw Error(ErrorCode::data, "the archive holds no labels: looked for the array node_label", archive.name(),
                        "its arrays: " + names_of(archive));
        }
        read_npz_labels(archive, vertices, supervision);
    } else {
        read_npz_labels(*open_arrays(data_of(folder)), vertices, supervision);
    }
    read_ogb_split(folder, split, vertices, supervision);
    return supervision;
}

}  // namespace gnnplan::data
