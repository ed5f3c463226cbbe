// Finds arrays and files that are not read because of their names, and which a user may have meant to be read.
#pragma once

#include "runtime/read/array_archive.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gnnplan::data {

// An array of an archive or a file of a folder that is not read, and what it may hold, judged by its name or its shape.
struct Unread {
    std::string name;  // with type and shape, where they are known: "labels int64 [24]"
    bool features = false;
    bool labels = false;
    bool split = false;
};

struct Leftovers {
    std::vector<Unread> unread = {};
    // The places where data of this form has features, labels and split, for messages.
    std::string features = {};
    std::string labels = {};
    std::string split = {};

    // The names of those that may hold any of `kinds`; "" where there are none.
    std::string names(const std::vector<bool Unread::*>& kinds) const;
    std::string names() const;  // all
};

// The arrays of an archive that are not read, neither for the graph, which has so many vertices, nor for anything else.
std::vector<Unread> unread_arrays(const ArrayArchive& archive, std::int64_t vertices);
// The files of `root`/`folder`, gzipped or not, except for `known` ones.
std::vector<Unread> unread_files(const std::filesystem::path& root, const std::string& folder,
                                 const std::vector<std::string>& known);

}  // namespace gnnplan::data
