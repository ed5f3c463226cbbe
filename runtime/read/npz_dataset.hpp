// Data sets and SciPy matrices in .npz archives.
#pragma once

#include "runtime/graph/features.hpp"
#include "runtime/read/array_archive.hpp"
#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/supervision.hpp"
#include "runtime/read/unread.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace gnnplan::data {

// True of zip files, whatever they hold.
bool is_npz_file(const Source& source);

// Arrays are looked up by PyTorch Geometric's names, then by those of OGB's binary raw folders: x or node_feat, y or
// node_label, num_nodes or num_nodes_list, edge_weight or edge_feat.

// edge_index int [2, E], with the number of vertices from num_nodes, x, y or the largest id, in this order; or a SciPy
// matrix, CSR (indptr, indices, data, shape, format) or COO (row, col), whose entry (i, j) is the edge i -> j. The
// weights, where they are to be read: edge_weight float or int [E] or [E, 1]; or the data of the matrix.
ParsedGraph read_npz_graph(const ArrayArchive& archive, const ReadOptions& options = {});
ParsedGraph read_npz_graph(const std::filesystem::path& path, const ReadOptions& options);

// y int or float [N] or [N, 1]; train_idx, valid_idx or val_idx, test_idx int [n] or [n, 1]; or train_mask ... as bool,
// or as integers that are 0 and 1, [N] or [N, 1], or [N, K] with a column that `split` names. All are optional. Throws
// ErrorCode::usage when there are several columns and `split` is empty, or when there is one and `split` is not empty,
// and ErrorCode::missing_input when `split` names no column.
Supervision read_npz_supervision(const ArrayArchive& archive, const std::string& split, std::int64_t vertices);
Supervision read_npz_supervision(const std::filesystem::path& path, const std::string& split, std::int64_t vertices);

// Reads the labels alone, if there are any.
void read_npz_labels(const ArrayArchive& archive, std::int64_t vertices, Supervision& supervision);

// x float [N, F]; null when the archive has none. Each read opens the archive anew.
std::unique_ptr<FeatureSource> open_npz_features(const std::filesystem::path& path, std::int64_t vertices);

// Names the arrays of the archive that are not read.
Leftovers npz_leftovers(const std::filesystem::path& path, std::int64_t vertices);

}  // namespace gnnplan::data
