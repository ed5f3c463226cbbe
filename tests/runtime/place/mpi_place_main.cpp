// Ranks that mpirun binds or does not bind; started once for each case, with the test's name as a filter.
#include "runtime/comm/launcher.hpp"
#include "runtime/comm/mpi.hpp"
#include "runtime/place/place.hpp"
#include "tests/runtime/place/here.hpp"
#include "tests/support/run_tests.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace gnnplan::place {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

comm::Communicator* world = nullptr;

// mpirun --bind-to none
TEST(MpiPlace, RanksDivideWhatTheyShare) {
    if (gnnplan::testing::units_here() < world->size()) GTEST_SKIP() << "fewer units than ranks";
    const Placement placement = bind_threads(*world, 1);
    EXPECT_FALSE(placement.warning);
    EXPECT_EQ(placement.ranks, world->control_all_gather(gnnplan::testing::list_here()));
    EXPECT_NE(placement.ranks.front(), placement.ranks.back());
}

// mpirun --bind-to core
TEST(MpiPlace, ALaunchersBindingStays) {
    const std::string before = gnnplan::testing::list_here();
    const int units = gnnplan::testing::units_here();
    if (units == sysconf(_SC_NPROCESSORS_ONLN)) GTEST_SKIP() << "one core only";
    const Placement narrow = bind_threads(*world, units + 1);
    EXPECT_TRUE(narrow.warning);
    EXPECT_THAT(narrow.note, HasSubstr(comm::wider_ranks(comm::launcher_here(), units + 1)));
    EXPECT_THAT(narrow.ranks, Each(IsEmpty()));
    EXPECT_EQ(gnnplan::testing::list_here(), before);
    EXPECT_FALSE(bind_threads(*world, 1).warning);
}

}  // namespace
}  // namespace gnnplan::place

int main(int argc, char** argv) {
    ::testing::InitGoogleMock(&argc, argv);
    gnnplan::comm::MpiEnvironment mpi;
    gnnplan::place::world = &mpi.world();
    return gnnplan::testing::run_tests();
}
