#include "runtime/read/readers.hpp"

#include "runtime/read/edge_list.hpp"
#include "runtime/read/foreign_binary.hpp"
#include "runtime/read/input.hpp"
#include "runtime/read/matrix_market.hpp"
#include "runtime/read/metis_file.hpp"
#include "runtime/read/npy_folder.hpp"
#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/ogb.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <vector>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

Leftovers edge_list_leftovers(const fs::path& path, std::int64_t /*vertices*/) { return {beside_ogb_file(path)}; }

// They are asked in this order; every text that no other reader wants is an edge list.
constexpr Reader readers[] = {
    {"OGB raw folders", is_ogb_folder, read_ogb_graph, open_ogb_features, read_ogb_supervision, ogb_leftovers},
    {"OGB binary raw folders", is_ogb_binary_folder, read_ogb_binary_graph, open_ogb_binary_features,
     read_ogb_binary_supervision, ogb_binary_leftovers},
    {"folders of .npy arrays", is_npy_folder, read_npz_graph, open_npz_features, read_npz_supervision, npz_leftovers},
    {".npz archives", is_npz_file, read_npz_graph, open_npz_features, read_npz_supervision, npz_leftovers},
    {"Matrix Market", is_matrix_market, read_matrix_market, nullptr, nullptr},
    {"METIS graphs", is_metis_file, read_metis_file, nullptr, nullptr},
    {"SNAP and CSV edge lists", is_edge_list, read_edge_list, nullptr, nullptr, edge_list_leftovers},
};

std::string known_forms() {
    std::string list;
    for (const Reader& reader : readers) list += (list.empty() ? "" : ", ") + std::string(reader.name);
    return "known are " + list + ", gzipped or not";
}

Source look_at(const fs::path& path) {
    std::error_code status;
    if (!fs::exists(path, status)) {
        throw Error(ErrorCode::missing_input,
                    status ? "cannot be looked at: " + status.message() : "no such file or folder", path.string(),
                    known_forms());
    }
    if (fs::is_directory(path, status)) return {path, true};
    char buffer[512];
    const std::size_t count = open_input(path)->read(buffer);
    return {path, false, std::string(buffer, count)};
}

// The names in a folder.
std::string content_of(const fs::path& folder) {
    constexpr std::size_t shown_at_most = 12;
    std::vector<std::string> names;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) names.push_back(entry.path().filename().string());
    if (names.empty()) return "it is empty";
    std::sort(names.begin(), names.end());
    std::string list = "it holds ";
    for (std::size_t i = 0; i < std::min(names.size(), shown_at_most); ++i) list += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > shown_at_most) list += " and " + std::to_string(names.size() - shown_at_most) + " more";
    return list;
}

bool has_graph(const fs::path& folder) {
    const Source source{folder, true};
    return std::ranges::any_of(readers, [&](const Reader& reader) { return reader.matches(source); });
}

// The folder with a graph that was meant in place of this one: one inside it, or the one it belongs to.
fs::path meant_folder(const fs::path& folder) {
    std::error_code failed;
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        std::error_code ignored;
        if (entry.is_directory(ignored)) inside.push_back(entry.path());
    }
    std::ranges::sort(inside);
    const auto found = std::ranges::find_if(inside, has_graph);
    if (found != inside.end()) return *found;
    const fs::path whole = fs::weakly_canonical(folder, failed);
    const bool part = whole.filename() == "raw" || whole.filename() == "split";
    return part && has_graph(whole.parent_path()) ? whole.parent_path() : fs::path();
}

// A file of another program in the folder, such as a part of a Parquet data set.
ForeignBinary foreign_in(const fs::path& folder) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        std::error_code ignored;
        if (!entry.is_regular_file(ignored)) continue;
        const ForeignBinary foreign = foreign_binary(look_at(entry.path()));
        if (foreign.what != nullptr) return foreign;
    }
    return {};
}

std::string hint_for_folder(const fs::path& folder) {
    const fs::path meant = meant_folder(folder);
    if (!meant.empty()) return "there is one in " + meant.string() + ": give that path";
    std::error_code ignored;
    const bool ondisk =
        fs::exists(folder / "metadata.yaml", ignored) || fs::exists(folder / "preprocessed" / "metadata.yaml", ignored);
    if (!ondisk) {
        const ForeignBinary foreign = foreign_in(folder);
        return foreign.what != nullptr ? std::string("there is ") + foreign.what + ": " + foreign.hint : known_forms();
    }
    return "metadata.yaml is that of an OnDiskDataset of DGL: save its arrays under the names that are read, "
           "edge_index.npy, x.npy, y.npy and so on, in one folder; docs/data.md has a program that does it";
}

[[noreturn]] void refuse(const Source& source) {
    const std::string where = source.path.string();
    if (source.folder) {
        throw Error(
            ErrorCode::missing_input,
            "no graph in this folder: looked for raw/edge.csv.gz, raw/edge.csv, raw/data.npz and edge_index.npy; " +
                content_of(source.path),
            where, hint_for_folder(source.path));
    }
    if (source.head.starts_with("\x93NUMPY"))
        throw Error(ErrorCode::data, "a lone .npy array is no graph", where,
                    "save np.savez(path, edge_index=...), or give the folder of arrays it is in");
    if (source.wide_text()) {
        throw Error(ErrorCode::data, "a text in UTF-16 or UTF-32", where,
                    "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > edges.txt");
    }
    throw Error(ErrorCode::data, "a binary file of unknown form; Python pickles (.pt, .pkl) are never loaded", where,
                "convert it in Python first: np.savez_compressed(path, edge_index=..., x=..., y=...)");
}

}  // namespace

const Reader& find_reader(const fs::path& path) {
    const Source source = look_at(path);
    const ForeignBinary foreign = foreign_binary(source);
    if (foreign.what != nullptr) throw Error(ErrorCode::data, foreign.what, path.string(), foreign.hint);
    for (const Reader& reader : readers) {
        if (reader.matches(source)) return reader;
    }
    refuse(source);
}

ParsedGraph read_graph(const Reader& reader, const fs::path& path, const ReadOptions& options) {
    ParsedGraph graph = reader.read_graph(path, options);
    if (options.index_base == IndexBase::one && graph.index_base != 1) {
        throw Error(ErrorCode::usage, "ids of vertices in this format count from 0, not from 1: " + graph.format,
                    path.string(), "leave `index-base` out");
    }
    if (options.edge_weights && !graph.edges.weighted()) {
        throw Error(ErrorCode::usage, "this format has no weights of edges: " + graph.format, path.string(),
                    "leave `edge-weights` out");
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

Leftovers leftovers_of(const Reader& reader, const fs::path& path, std::int64_t vertices) {
    return reader.leftovers != nullptr ? reader.leftovers(path, vertices) : Leftovers();
}

}  // namespace gnnplan::data
