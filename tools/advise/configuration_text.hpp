// A configuration in the words of tables and sentences.
#pragma once

#include <gnnplan/ir/config.hpp>

#include <string>

namespace gnnplan::tools {

// What is kept for the backward pass or across epochs: "T1" = A^T H^0 as "ÂX", "T2" as "ÂH1"; "-" when nothing is;
// products of three and more neighbouring layers as a range.
std::string kept_text(const std::vector<std::string>& products);

// The choices besides scheme, grid and orders that differ from the plainest: "rows, overlap, permuted"; "-" when none
// does.
std::string choices_text(const Configuration& configuration);

// All of it on one line: "rdm 1x8 SD SS, kept ÂX, overlap". Equal texts are the same choice to a reader.
std::string configuration_text(const Configuration& configuration);

}  // namespace gnnplan::tools
