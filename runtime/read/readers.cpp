#include "runtime/read/readers.hpp"

#include "runtime/read/edge_list.hpp"
#include "runtime/read/input.hpp"
#include "runtime/read/matrix_market.hpp"
#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/ogb.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

// They are asked in this order; every text that no other reader wants is an edge list.
constexpr Reader readers[] = {
    {"OGB raw folders", is_ogb_folder, read_ogb_graph, open_ogb_features, read_ogb_supervision},
    {".npz archives", is_npz_file, read_npz_graph, open_npz_features, read_npz_supervision},
    {"Matrix Market", is_matrix_market, read_matrix_market, nullptr, nullptr},
    {"SNAP and CSV edge lists", is_edge_list, read_edge_list, nullptr, nullptr},
};

std::string known_forms() {
    std::string list;
    for (const Reader& reader : readers) list += (list.empty() ? "" : ", ") + std::string(reader.name);
    return "known are " + list + ", gzipped or not";
}

Source look_at(const fs::path& path) {
    std::error_code status;
    if (!fs::exists(path, status))
        throw Error(ErrorCode::missing_input, "no such file or folder", path.string(), known_forms());
    if (fs::is_directory(path, status)) return {path, true};
    char buffer[64];
    const std::size_t count = open_input(path)->read(buffer);
    return {path, false, std::string(buffer, count)};
}

[[noreturn]] void refuse(const Source& source) {
    const std::string where = source.path.string();
    if (source.folder) {
        throw Error(ErrorCode::missing_input, "no graph in this folder: looked for raw/edge.csv.gz and raw/edge.csv",
                    where, known_forms());
    }
    if (source.head.starts_with("\x93NUMPY"))
        throw Error(ErrorCode::data, "a lone .npy array is no graph", where, "save np.savez(path, edge_index=...)");
    throw Error(ErrorCode::data, "a binary file of unknown form; Python pickles (.pt, .pkl) are never loaded", where,
                "convert it in Python first: np.savez_compressed(path, edge_index=..., x=..., y=...)");
}

}  // namespace

const Reader& find_reader(const fs::path& path) {
    const Source source = look_at(path);
    for (const Reader& reader : readers) {
        if (reader.matches(source)) return reader;
    }
    refuse(source);
}

ParsedGraph read_graph(const Reader& reader, const fs::path& path, const ReadOptions& options) {
    ParsedGraph graph = reader.read_graph(path, options);
    if (options.index_base == IndexBase::one && graph.index_base != 1) {
        throw Error(ErrorCode::usage, "ids of vertices in this format count from 0, not from 1: " + graph.format,
                    path.string(), "leave --index-base out");
    }
    if (options.edge_weights && !graph.edges.weighted()) {
        throw Error(ErrorCode::usage, "this format has no weights of edges: " + graph.format, path.string(),
                    "leave --edge-weights out");
    }
    return graph;
}

std::unique_ptr<FeatureSource> open_features(const Reader& reader, const fs::path& path, std::int64_t vertices) {
    return reader.open_features != nullptr ? reader.open_features(path, vertices) : nullptr;
}

Supervision read_supervision(const Reader& reader, const fs::path& path, const std::string& split,
                             std::int64_t vertices) {
    if (reader.read_supervision != nullptr) return reader.read_supervision(path, split, vertices);
    refuse_split(split, path);
    return {};
}

}  // namespace gnnplan::data
