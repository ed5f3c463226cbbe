#include "tools/advise/launcher.hpp"

#include <gtest/gtest.h>

namespace gnnplan::tools {
namespace {

TEST(Launcher, SaysWhatOpenMpiHasToBeTold) {
    EXPECT_EQ(launcher(1, {true, true, 1}), "");
    EXPECT_EQ(launcher(2, {true, false, 2}), "mpirun -n 2 ");
    EXPECT_EQ(launcher(4, {true, false, 2}), "mpirun -n 4 --oversubscribe ");
    EXPECT_EQ(launcher(2, {true, true, 2}), "mpirun -n 2 --allow-run-as-root ");
    EXPECT_EQ(launcher(4, {false, true, 2}), "mpirun -n 4 ");  // another MPI knows no such flags
}

}  // namespace
}  // namespace gnnplan::tools
