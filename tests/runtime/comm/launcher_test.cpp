#include "runtime/comm/launcher.hpp"

#include "runtime/comm/launch.hpp"

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace gnnplan::comm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Variables = std::map<std::string, std::string>;

// The environment has these variables of launchers and no others while it lives.
class Environment {
public:
    explicit Environment(const Variables& variables) {
        clear();
        for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() { clear(); }

private:
    static void clear() {
        for (const char* name :
             {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "PMI_SIZE",
              "PMI_RANK", "PMIX_RANK", "PALS_RANKID", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "FLUX_URI", "PBS_JOBID",
              "SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"})
            unsetenv(name);
    }
};

// Variables as each launcher sets them, of rank 2 of 4.
const Variables of_open_mpi{{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}};
const Variables of_mpich{{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}};
const Variables of_srun{{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}};
const Variables of_flux{{"FLUX_URI", "local:"}, {"FLUX_JOB_SIZE", "4"}, {"FLUX_TASK_RANK", "2"}};
const Variables of_pals{{"PBS_JOBID", "7"}, {"PALS_RANKID", "2"}};

Variables both(Variables one, const Variables& other) {
    one.insert(other.begin(), other.end());
    return one;
}

// A process that its own launcher started with another one's help names its own.
TEST(Launcher, IsTheOneThatStartedTheProcess) {
    const auto found = [](const Variables& variables) {
        const Environment environment(variables);
        return launcher_here();
    };
    EXPECT_EQ(found({}), Launcher::mpirun);
    EXPECT_EQ(found(of_open_mpi), Launcher::mpirun);
    EXPECT_EQ(found(of_mpich), Launcher::mpiexec);
    EXPECT_EQ(found(of_srun), Launcher::srun);
    EXPECT_EQ(found(of_flux), Launcher::flux);
    EXPECT_EQ(found(both(of_flux, of_mpich)), Launcher::flux);  // Flux gives PMI's variables, too
    EXPECT_EQ(found(both(of_pals, of_mpich)), Launcher::pals);
    EXPECT_EQ(found(both(of_srun, of_mpich)), Launcher::srun);                 // srun --mpi=pmi2
    EXPECT_EQ(found(both(both(of_srun, of_pals), of_mpich)), Launcher::srun);  // HPE's plugin for SLURM
    EXPECT_EQ(found(both({{"SLURM_STEP_NUM_TASKS", "2"}}, both(of_srun, of_mpich))), Launcher::mpiexec);  // two nodes
    EXPECT_EQ(found(both(of_srun, of_open_mpi)), Launcher::mpirun);
}

TEST(Launcher, IsThatOfTheJobWhereNothingStartedTheProcess) {
    const auto found = [](const char* variable) {
        const Environment environment(Variables{{variable, "7"}});
        return launcher_here();
    };
    EXPECT_EQ(found("SLURM_JOB_ID"), Launcher::srun);
    EXPECT_EQ(found("FLUX_URI"), Launcher::flux);
    EXPECT_EQ(found("PBS_JOBID"), Launcher::mpiexec);
}

TEST(Launcher, SaysHowRanksAreStarted) {
    const auto command = [](Launcher launcher, const std::string& library) {
        return start_command(4, {.launcher = launcher, .library = library});
    };
    const std::string open_mpi = "Open MPI v4.1.4", mpich = "MPICH Version: 4.0.2",
                      cray = "MPI VERSION: CRAY MPICH 8.1";
    EXPECT_EQ(command(Launcher::mpirun, open_mpi), "mpirun -n 4");
    EXPECT_EQ(command(Launcher::mpiexec, mpich), "mpiexec -n 4");
    EXPECT_EQ(command(Launcher::mpiexec, open_mpi), "mpirun -n 4");
    EXPECT_EQ(command(Launcher::srun, open_mpi), "srun --mpi=pmix -n 4");
    EXPECT_EQ(command(Launcher::srun, ""), "srun --mpi=pmix -n 4");
    EXPECT_EQ(command(Launcher::srun, mpich), "srun --mpi=pmi2 -n 4");
    EXPECT_EQ(command(Launcher::srun, cray), "srun -n 4");
    EXPECT_EQ(command(Launcher::flux, open_mpi), "flux run -o pmi=pmix -n 4");
    EXPECT_EQ(command(Launcher::flux, mpich), "flux run -n 4");
    EXPECT_EQ(command(Launcher::pals, cray), "mpiexec -n 4");
    EXPECT_EQ(command(Launcher::pals, open_mpi), "mpirun -n 4");
}

TEST(Launcher, SaysWhatOpenMpiHasToBeTold) {
    const auto command = [](const std::string& library, bool root, std::int64_t slots) {
        return start_command(4, {.library = library, .root = root, .slots = slots});
    };
    EXPECT_EQ(command("Open MPI", false, 4), "mpirun -n 4");
    EXPECT_EQ(command("Open MPI", false, 2), "mpirun -n 4 --oversubscribe");
    EXPECT_EQ(command("Open MPI", true, 0), "mpirun -n 4 --allow-run-as-root");
    EXPECT_EQ(command("MPICH", true, 2), "mpirun -n 4");  // another MPI knows no such flags
}

TEST(Launcher, SaysWhereThreadsGetMoreUnits) {
    EXPECT_THAT(wider_ranks(Launcher::mpirun, 3), HasSubstr("slot:PE=3"));
    EXPECT_THAT(wider_ranks(Launcher::mpiexec, 3), HasSubstr("-bind-to core:3"));
    EXPECT_THAT(wider_ranks(Launcher::srun, 3), HasSubstr("srun --cpus-per-task=3"));
    EXPECT_THAT(wider_ranks(Launcher::flux, 3), HasSubstr("--cores-per-task=3"));
    EXPECT_THAT(wider_ranks(Launcher::pals, 3), HasSubstr("--depth=3"));
}

TEST(Launch, TheEnvironmentTells) {
    {
        const Environment none(Variables{});
        EXPECT_FALSE(launched_by_mpi());
    }
    const Environment one(Variables{{"OMPI_COMM_WORLD_SIZE", "1"}});
    EXPECT_TRUE(launched_by_mpi());
}

TEST(Launch, OfSeveralProcessesThatAreAloneIsRefused) {
    const auto refused = [&](const Variables& variables, const std::string& library = "Open MPI v4.1.4") {
        const Environment environment(variables);
        try {
            refuse_lone_rank(library);
            return std::string();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::mismatch);
            EXPECT_EQ(rank_of_launcher(), 2);
            return std::string(error.what());
        }
    };
    EXPECT_EQ(refused({}), "");
    EXPECT_THAT(refused(of_mpich, "Some MPI 1.0"),
                HasSubstr("built with Some MPI 1.0: start it with mpirun -n 4 of that MPI"));
    EXPECT_THAT(refused(of_mpich), HasSubstr("PMI_SIZE=4"));
    EXPECT_THAT(refused(of_srun), HasSubstr("one of 4 tasks of a SLURM step"));
    EXPECT_THAT(refused(of_srun), HasSubstr("start it with srun --mpi=pmix -n 4, with mpirun -n 4 of that MPI, or "
                                            "alone with srun -n 1"));
    EXPECT_THAT(refused(both(of_srun, of_mpich)), HasSubstr("srun --mpi=pmix -n 4"));
    EXPECT_THAT(refused(of_srun, ""), HasSubstr("built without MPI: start it with srun -n 1"));
    EXPECT_THAT(refused(of_flux), HasSubstr("4 tasks of a Flux job"));
    EXPECT_THAT(refused(of_flux), HasSubstr("flux run -o pmi=pmix -n 4"));
    EXPECT_THAT(refused(both(of_pals, of_mpich)), HasSubstr("4 processes of PALS"));
    EXPECT_THAT(refused(both(of_pals, of_mpich)), HasSubstr("start it with mpirun -n 4 of that MPI, or alone"));
    EXPECT_THAT(refused(of_open_mpi, "MPICH Version: 4.0.2"), HasSubstr("start it with mpirun -n 4 of that MPI"));
    EXPECT_THAT(refused(of_open_mpi, ""), Not(HasSubstr("mpirun")));
    // Allowed: a batch script, which has a rank, too; one process of Open MPI where SLURM started the daemons.
    EXPECT_EQ(refused({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}}), "");
    EXPECT_EQ(refused(both({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}, of_srun)), "");
}

}  // namespace
}  // namespace gnnplan::comm
