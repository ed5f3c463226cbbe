// The readers of graphs, and the one that a path is for.
#pragma once

#include "runtime/graph/features.hpp"
#include "runtime/read/parsed_graph.hpp"
#include "runtime/read/source.hpp"
#include "runtime/read/supervision.hpp"
#include "runtime/read/unread.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace gnnplan::data {

// The functions that read one form of data. A new form is a file of these functions and a row of the table in
// readers.cpp.
struct Reader {
    const char* name;  // in the list of known forms
    bool (*matches)(const Source& source);
    ParsedGraph (*read_graph)(const std::filesystem::path& path, const ReadOptions& options);
    // Returns null where the data has no features. The function is null where the form never has any.
    std::unique_ptr<FeatureSource> (*open_features)(const std::filesystem::path& path, std::int64_t vertices);
    // Reads labels and split, as far as they are there. `split` names one of several splits; a form without names calls
    // refuse_split(). The function is null where the form has neither labels nor splits.
    Supervision (*read_supervision)(const std::filesystem::path& path, const std::string& split, std::int64_t vertices);
    // Names data that is not read but may hold features, labels or a split. Null where a form holds a graph alone.
    Leftovers (*leftovers)(const std::filesystem::path& path, std::int64_t vertices) = nullptr;
};

// The first reader of the table that matches the path and its first bytes: the only place where the form of data is
// decided. Throws ErrorCode::missing_input when nothing is there and ErrorCode::data for what is known not to be a
// graph (pickles, lone arrays, binary files).
const Reader& find_reader(const std::filesystem::path& path);

// The functions of a reader, for whatever form. read_graph() throws ErrorCode::usage when ids are said to count
// from 1 in a form where they count from 0, and when weights of edges are asked of a form that has none.
ParsedGraph read_graph(const Reader& reader, const std::filesystem::path& path, const ReadOptions& options);
std::unique_ptr<FeatureSource> open_features(const Reader& reader, const std::filesystem::path& path,
                                             std::int64_t vertices);
Supervision read_supervision(const Reader& reader, const std::filesystem::path& path, const std::string& split,
                             std::int64_t vertices);
Leftovers leftovers_of(const Reader& reader, const std::filesystem::path& path, std::int64_t vertices);

}  // namespace gnnplan::data
