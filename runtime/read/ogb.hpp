// Raw folders of Open Graph Benchmark node-property data sets: CSV files, gzipped or not.
#pragma once

#include "runtime/graph/features.hpp"
#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/supervision.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace gnnplan::data {

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

// raw/node-feat.csv; null when there is none. Each read opens the file anew.
std::unique_ptr<FeatureSource> open_ogb_features(const std::filesystem::path& folder, std::int64_t vertices);

}  // namespace gnnplan::data
