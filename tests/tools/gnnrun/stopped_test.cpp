// When a rank stops or gets stuck outside of epochs, the others do not wait for it for ever.
#include "tests/tools/gnnrun/gnnrun_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>

namespace gnnplan::tools {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class Stopped : public Gnnrun {
protected:
    // Rank 1 of four stops as rank_stops.cpp makes it. `timeout` gives 124 if a run hangs.
    Outcome run_with(const std::string& stop, const std::string& arguments) const {
        return run("GNNPLAN_STOP='" + stop + "' timeout -k 5 60 " + MPIRUN +
                   " 4 -x LD_PRELOAD=" RANK_STOPS " -x ASAN_OPTIONS=verify_asan_link_order=0 " + program +
                   " --threads 1 --timeout 1s --data @graph " + arguments);
    }
    // Open MPI 4.1's mpirun now and then crashes itself while it cleans up after ranks that ended in MPI_Init.
    static int code_of(const Outcome& outcome) {
        const bool mpirun_crashed = outcome.output.find("PMIx_server_finalize") != std::string::npos;
        return outcome.code == 128 + SIGSEGV && mpirun_crashed ? 69 : outcome.code;
    }
};

TEST_F(Stopped, WhileMpiStarts) {
    for (const auto& [stop, says] : {std::pair{"MPI_Init_thread stopped", "in MPI_Init, which all ranks have to reach"},
                                     std::pair{"MPI_Win_allocate_shared blocked", "where MPI makes communicators"}}) {
        const Outcome outcome = run_with(stop, "@plan4.json --epochs 5");
        EXPECT_EQ(code_of(outcome), 69) << stop << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr("error: nothing has moved for 10 s: rank ")) << stop;
        EXPECT_THAT(outcome.output, HasSubstr(says)) << stop;
    }
}

TEST_F(Stopped, WhileDataIsRead) {
    for (const char* load : {"whole", "sharded"}) {
        for (const char* stop : {"gzread stopped", "gzread blocked"}) {
            const Outcome outcome = run_with(stop, std::string("@plan4.json --epochs 5 --load ") + load);
            EXPECT_EQ(outcome.code, 69) << stop << load << outcome.output;
            EXPECT_THAT(outcome.output, HasSubstr("error: nothing has moved for 1 s: rank 1")) << stop << load;
            EXPECT_THAT(outcome.output,
                        AnyOf(HasSubstr("as it began to read the data"), HasSubstr("as it began to load the graph")));
        }
    }
}

TEST_F(Stopped, WhoeverReadsSlowlyIsWaitedFor) {
    const Outcome outcome = run_with("gzread slow", "@plan4.json --epochs 5");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
}

TEST_F(Stopped, WhenAllIsDone) {
    const Outcome outcome = run_with("MPI_Finalize stopped", "@plan4.json --epochs 5 --report @run.json");
    EXPECT_EQ(outcome.code, 69) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("in MPI_Finalize"));
    EXPECT_EQ(report("run.json").epochs.size(), 5U);
}

}  // namespace
}  // namespace gnnplan::tools
