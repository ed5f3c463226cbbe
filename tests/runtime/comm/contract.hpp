// The contract of Communicator as one suite of tests, run on every kind of ranks.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

namespace gnnplan::comm {

using Body = std::function<void(Communicator&)>;

// One way to have ranks: runs a body on each of them.
struct Ranks {
    std::string name;
    std::function<void(const Body&)> run;
};

inline void PrintTo(const Ranks& ranks, std::ostream* out) { *out << ranks.name; }

class Contract : public testing::TestWithParam<Ranks> {
protected:
    static void on_ranks(const Body& body) { GetParam().run(body); }
};

inline std::string name_of(const testing::TestParamInfo<Ranks>& info) { return info.param.name; }

}  // namespace gnnplan::comm
