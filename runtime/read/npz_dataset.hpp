// Data sets and SciPy matrices in .npz archives.
#pragma once

#include "runtime/graph/features.hpp"
#include "runtime/read/npz.hpp"
#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/supervision.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace gnnplan::data {

// True of zip files, whatever they hold.
bool is_npz_file(const Source& source);

// edge_index int [2, E], with the number of vertices from num_nodes, x, y or the largest id, in this order; or a SciPy
// CSR matrix (indptr, indices, data, shape, format), whose entry (i, j) is the edge i -> j. The weights, where they are
// to be read: edge_weight float or int [E] or [E, 1]; or the data of the matrix.
ParsedGraph read_npz_graph(const NpzArchive& archive, const ReadOptions& options = {});
ParsedGraph read_npz_graph(const std::filesystem::path& path, const ReadOptions& options);

// y int or float [N] or [N, 1]; train_idx, valid_idx or val_idx, test_idx int; or train_mask ... bool [N]. All
// optional. There are no named splits.
Supervision read_npz_supervision(const NpzArchive& archive, std::int64_t vertices);
Supervision read_npz_supervision(const std::filesystem::path& path, const std::string& split, std::int64_t vertices);

// x float [N, F]; null when the archive has none. Each read opens the archive anew.
std::unique_ptr<FeatureSource> open_npz_features(const std::filesystem::path& path, std::int64_t vertices);

}  // namespace gnnplan::data
