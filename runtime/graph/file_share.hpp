// A share of what a file has.
#pragma once

#include <gnnplan/base/range.hpp>

#include <cstdint>

namespace gnnplan::data {

// One of several shares of a file's entries, of about equal size, that are read by as many ranks, or a part of it, as
// threads divide a share.
struct FileShare {
    int index = 0;
    int of = 1;
    int part = 0;
    int parts = 1;

    bool whole() const { return of == 1 && parts == 1; }
    bool first() const { return index == 0 && part == 0; }
    // The sub-range of [0, all) that this share and part cover.
    Range range(std::int64_t all) const { return balanced_block(balanced_block({0, all}, index, of), part, parts); }
    // Whether they have thing number i of those that shares take in turn, and then parts of shares.
    bool has_turn(std::int64_t i) const { return i % of == index && i / of % parts == part; }
};
}  // namespace gnnplan::data
