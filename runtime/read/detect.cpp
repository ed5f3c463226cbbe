#include "runtime/read/detect.hpp"

#include "runtime/read/edge_list.hpp"
#include "runtime/read/input.hpp"
#include "runtime/read/matrix_market.hpp"
#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/ogb.hpp"
#include "runtime/read/text_reader.hpp"

#include <gnnplan/base/error.hpp>

#include <string_view>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

constexpr const char* known_forms =
    "known are OGB raw folders, .npz archives, Matrix Market, SNAP and CSV edge lists, gzipped or not";

GraphForm detect_folder(const fs::path& path) {
    std::error_code ignored;
    if (!find_csv(path / "raw", "edge.csv").empty()) return GraphForm::ogb_folder;
    throw Error(ErrorCode::missing_input, "no graph in this folder: looked for raw/edge.csv.gz and raw/edge.csv",
                path.string(), known_forms);
}

}  // namespace

GraphForm detect_form(const fs::path& path) {
    std::error_code status;
    if (!fs::exists(path, status))
        throw Error(ErrorCode::missing_input, "no such file or folder", path.string(), known_forms);
    if (fs::is_directory(path, status)) return detect_folder(path);

    char buffer[64];
    const std::string_view head(buffer, open_input(path)->read(buffer));
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return GraphForm::npz;
    if (head.starts_with("\x93NUMPY")) {
        throw Error(ErrorCode::data, "a lone .npy array is no graph", path.string(),
                    "save np.savez(path, edge_index=...)");
    }
    if (head.starts_with("\x80") || head.find('\0') != std::string_view::npos) {
        throw Error(ErrorCode::data, "a binary file of unknown form; Python pickles (.pt, .pkl) are never loaded",
                    path.string(),
                    "convert it in Python first: np.savez_compressed(path, edge_index=..., x=..., y=...)");
    }
    constexpr std::string_view banner = "%%MatrixMarket";
    const bool has_banner = head.substr(0, banner.size()) == banner || head.starts_with("%%matrixmarket");
    const std::string name = path.filename().string();
    const bool named = name.ends_with(".mtx") || name.ends_with(".mtx.gz");
    return has_banner || named ? GraphForm::matrix_market : GraphForm::edge_list;
}

namespace {

ParsedGraph read_form(const fs::path& path, GraphForm form, IndexBase index_base) {
    switch (form) {
        case GraphForm::ogb_folder: return read_ogb_graph(path);
        case GraphForm::npz: return read_npz_graph(NpzArchive(path));
        case GraphForm::matrix_market: {
            TextReader reader(open_input(path));
            return read_matrix_market(reader);
        }
        case GraphForm::edge_list: {
            TextReader reader(open_input(path));
            return read_edge_list(reader, index_base);
        }
    }
    return {};
}

}  // namespace

ParsedGraph read_graph(const fs::path& path, GraphForm form, IndexBase index_base) {
    ParsedGraph graph = read_form(path, form, index_base);
    if (index_base == IndexBase::one && graph.index_base != 1) {
        throw Error(ErrorCode::usage, "ids of this form count from 0: " + graph.format, path.string(),
                    "leave --index-base out");
    }
    return graph;
}

}  // namespace gnnplan::data
