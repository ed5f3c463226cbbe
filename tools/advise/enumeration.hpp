// The list of `gnnplan enumerate`.
#pragma once

#include "planner/io/enumeration.hpp"
#include "tools/ask/problem.hpp"

#include <gnnplan/ir/cost.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan::tools {

struct EnumerateOptions {
    Shape shape;
    std::optional<std::int64_t> replication;
    std::optional<std::string> scheme;
    std::string space = "paper";
    bool json = false;
};

// RDM's 4^L orders in the paper's units; of more than six layers the exact Pareto front, one order of each pair of
// units, numbered from 0 where the letters are too many for an id. Throws Error{usage} on another scheme than rdm.
io::EnumerationDocument enumerate_paper_space(const EnumerateOptions& options);

// More configurations than this are too many to list: so many of the fastest are, and the Pareto front.
inline constexpr std::size_t max_listed = 20000;
inline constexpr std::size_t fastest_listed = 500;

// Every configuration of the full space, whatever fits in memory, in the units that its steps perform; a choice that
// another one beats whatever the machine is left out. The fastest first, where a unit of either kind takes as long.
// Networks of more than three layers have the front alone, as far
// as weighing the two units finds it, without overlap and with whole panels.
struct Enumeration {
    io::EnumerationDocument document;
    std::string note;  // which grids are left out, if any are
};
Enumeration enumerate_full_space(const EnumerateOptions& options);

// A document without configurations.
io::EnumerationDocument enumeration_question(const EnumerateOptions& options);
io::EnumeratedConfiguration enumerated(const Configuration& configuration, const Units& units,
                                       const io::EnumerationDocument& document);
// Marks those that no other one of the document is <= in both units and < in one.
void mark_pareto(io::EnumerationDocument& document);

}  // namespace gnnplan::tools
