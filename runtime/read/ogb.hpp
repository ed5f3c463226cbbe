// Raw folders of Open Graph Benchmark node-property data sets: CSV files, gzipped or not, or archives (ogb_binary.cpp).
#pragma once

#include "runtime/graph/features.hpp"
#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/supervision.hpp"
#include "runtime/read/unread.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace gnnplan::data {

inline constexpr const char* ogb_split_files = "split/NAME/train.csv, valid.csv and test.csv";

// FOLDER/NAME.gz or FOLDER/NAME, whichever exists; empty when neither does.
std::filesystem::path find_csv(const std::filesystem::path& folder, const std::string& name);

// True of folders with raw/edge.csv.
bool is_ogb_folder(const Source& source);

// raw/edge.csv and raw/num-node-list.csv; raw/num-edge-list.csv, when it is there, must agree. Ids count from 0. The
// weights, where they are to be read, are the one column of raw/edge-feat.csv.
ParsedGraph read_ogb_graph(const std::filesystem::path& folder, const ReadOptions& options);

// raw/node-label.csv and split/NAME/{train,valid,test}.csv, both optional. An empty split name takes the only one there
// is; throws ErrorCode::usage, naming them, when there are several, and ErrorCode::missing_input when `split` is not
// there.
Supervision read_ogb_supervision(const std::filesystem::path& folder, const std::string& split, std::int64_t vertices);

// Reads the split alone.
void read_ogb_split(const std::filesystem::path& folder, const std::string& split, std::int64_t vertices,
                    Supervision& supervision);

// raw/node-feat.csv, whose lines are in the order of the vertices, or the files of the folder raw/node-feat, whose
// lines begin with the id of a vertex; null when there is neither. Throws ErrorCode::data where there are both. Each
// read opens the files anew.
std::unique_ptr<FeatureSource> open_ogb_features(const std::filesystem::path& folder, std::int64_t vertices);

// The same of folders as OGB's binary data sets have them: raw/data.npz with edge_index, node_feat, num_nodes_list and
// num_edges_list, raw/node-label.npz with node_label, and splits as above.
bool is_ogb_binary_folder(const Source& source);
ParsedGraph read_ogb_binary_graph(const std::filesystem::path& folder, const ReadOptions& options);
Supervision read_ogb_binary_supervision(const std::filesystem::path& folder, const std::string& split,
                                        std::int64_t vertices);
std::unique_ptr<FeatureSource> open_ogb_binary_features(const std::filesystem::path& folder, std::int64_t vertices);

// They name the files of such folders that are not read (ogb_leftovers.cpp).
Leftovers ogb_leftovers(const std::filesystem::path& folder, std::int64_t vertices);
Leftovers ogb_binary_leftovers(const std::filesystem::path& folder, std::int64_t vertices);
// Names the OGB folder whose graph this file is, if that folder has more files that can be read.
std::vector<Unread> beside_ogb_file(const std::filesystem::path& file);

}  // namespace gnnplan::data
