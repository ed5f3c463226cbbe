// A configuration in the words of tables and sentences.
#pragma once

#include <gnnplan/ir/kept.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// The products that are kept, "ÂX once,ÂH1"; "-" when none is. Those of three and more neighbouring layers are
// a range, "ÂH1..ÂH9".
std::string kept_text(const std::vector<KeptProduct>& products, std::string_view separator = ",");

// The choices besides scheme, grid and orders that differ from the plainest: "rows, overlap, permuted"; "-" when none
// does.
std::string choices_text(const Configuration& configuration);

// The orders of both passes for a cell of a table: "SD S-"; of an inference "SD".
std::string orders_text(const Configuration& configuration);

// All of it on one line: "rdm 1x8 SD SS, kept ÂX, overlap". Equal texts are the same choice to a reader.
std::string configuration_text(const Configuration& configuration);

}  // namespace gnnplan::tools
