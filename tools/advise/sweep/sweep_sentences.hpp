// The sentences of a sweep: how time scales with ranks, which scheme is fastest and by how much, what does not fit.
#pragma once

#include "tools/advise/sweep/sweep_contest.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gnnplan::tools {

inline constexpr std::size_t max_sentences = 10;

// All of the following, in their order.
std::vector<std::string> sweep_sentences(const Sweep& sweep);
// The first ones, so that there are no more than max_sentences; the last says how many are left out.
std::vector<std::string> most_telling(std::vector<std::string> sentences);

// For each race along ranks: "8 ranks are the fastest; 4 give 61 % of their speed".
std::vector<std::string> scaling_sentences(const Sweep& sweep);

// For each race between several: "8 ranks: 1d is fastest, 1.5d 7 % behind (a tie within 25 %), paper 2.3x; 1d leads or
// ties from 2 ranks on"; again for what lies before, where another one leads by more than the model's error.
std::vector<std::string> contest_sentences(const Sweep& sweep);

// For all settings, ranks apart, in which nothing fits on any of the ranks asked for: "memory=2GiB: nothing fits on 2,
// 4 ranks; 8 ranks would do".
std::vector<std::string> nothing_fits_sentences(const Sweep& sweep);

}  // namespace gnnplan::tools
