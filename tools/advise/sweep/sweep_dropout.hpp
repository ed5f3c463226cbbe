// The answer of a sweep where runs treat their features otherwise.
#pragma once

#include "tools/advise/sweep/sweep.hpp"

#include <string>

namespace gnnplan::tools {

// "with dropout on the features (`dropout 0.5`) an epoch takes 1.7 to 3.7 times as long; the fastest is then 1d 8x1 DD
// S-, 34 ms (ranks=8)"; "" where no point has such an answer.
std::string dropout_sentence(const Sweep& sweep);

}  // namespace gnnplan::tools
