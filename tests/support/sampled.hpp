// Long rows of runs, of which a commit takes some.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

namespace gnnplan::testing {

// Whether the index-th of a long row of runs takes place: all of them, or those that the environment variable
// GNNPLAN_TEST_SAMPLE takes, spread over the configurations of each number of ranks. "8" takes one in eight; "8:3"
// takes another one in eight, the fourth of its eight disjoint samples.
inline bool sampled(int index) {
    const char* const wanted = std::getenv("GNNPLAN_TEST_SAMPLE");
    if (wanted == nullptr) return true;
    const std::string text = wanted;
    std::size_t read = 0;
    const int sample = std::max(1, std::stoi(text, &read));
    const int first = read < text.size() ? std::stoi(text.substr(read + 1)) : 0;
    return (index + index / 16) % sample == first;  // the shift keeps the sample from being the same orders every time
}

}  // namespace gnnplan::testing
