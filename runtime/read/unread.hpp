// Arrays and files of other names than those that are read, which a user may have meant.
#pragma once

#include "runtime/read/npz.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gnnplan::data {

// An array of an archive or a file of a folder that is not read, and what it may be meant as, by its name or its shape.
struct Unread {
    std::string name;  // with type and shape, where they are known: "labels int64 [24]"
    bool features = false;
    bool labels = false;
    bool split = false;
};

struct Leftovers {
    std::vector<Unread> unread = {};
    // Where data of this form has features, labels and split, for messages.
    std::string features = {};
    std::string labels = {};
    std::string split = {};

    // The names of those that may be meant as any of `kinds`; "" where there are none.
    std::string names(const std::vector<bool Unread::*>& kinds) const;
    std::string names() const;  // all
};

// Arrays of an archive that neither the graph, of so many vertices, nor features, labels or split are read of.
std::vector<Unread> unread_arrays(const NpzArchive& archive, std::int64_t vertices);
// Files of `root`/`folder`, but for `known` ones, gzipped or not.
std::vector<Unread> unread_files(const std::filesystem::path& root, const std::string& folder,
                                 const std::vector<std::string>& known);

}  // namespace gnnplan::data
