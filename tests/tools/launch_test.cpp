// gnnplan launch: job scripts.
#include "tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gnnplan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A plan of 6 ranks for nodes with 4 GPUs each, made from a card.
class Launch : public ::testing::Test {
protected:
    Launch() {
        const Outcome made =
            gnnplan("plan --graph reddit --ranks 6 --machine a6000x8 --ranks-per-node 4 -o '" + plan + "'");
        EXPECT_EQ(made.code, 0) << made.err;
    }

    Outcome launch(const std::string& arguments) const { return gnnplan("launch '" + plan + "' " + arguments); }

    const Folder folder;
    const std::string plan = folder / "a plan.json";
};

TEST_F(Launch, Slurm) {
    const Outcome outcome = launch("--slurm --data '/data/a graph' --threads 8 --time 2h30m -- --epochs 500");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, StartsWith("#!/bin/bash\n"));
    for (const char* directive : {"nodes=2", "ntasks=6", "ntasks-per-node=4", "cpus-per-task=8", "gpus-per-node=4",
                                  "time=02:30:00", "signal=USR1@121", "requeue", "open-mode=append"}) {
        EXPECT_THAT(outcome.out, HasSubstr(std::string("\n#SBATCH --") + directive + "\n"));
    }
    EXPECT_THAT(outcome.out, HasSubstr("\n#SBATCH --mem="));
    EXPECT_THAT(outcome.out, Not(HasSubstr("gpus-per-task")));
    EXPECT_THAT(outcome.out,
                HasSubstr("\nsrun --mpi=pmix -n 6 --nodes=2 --cpus-per-task=8 --distribution=plane=4 gnnrun '" + plan +
                          "' --data '/data/a graph' --threads 8 --backend cuda --checkpoint checkpoints "
                          "--resume auto --epochs 500\n"));
    EXPECT_THAT(outcome.out,
                HasSubstr("if [ $code -eq 75 ]; then scontrol requeue \"$SLURM_JOB_ID\"; fi\nexit $code\n"));
}

// The last node has two ranks.
TEST_F(Launch, Pbs) {
    const std::string script = folder / "a job.sh";
    const Outcome outcome = launch("--pbs --data D --threads 8 --time 1h -o '" + script + "'");
    EXPECT_EQ(outcome.out, "submit it:  qsub '" + script + "'\n");
    const std::string text = read_text(script);
    EXPECT_THAT(text,
                ::testing::ContainsRegex("\n#PBS -l select=1:ncpus=32:mpiprocs=4:ompthreads=8:ngpus=4:mem=[0-9]+gb"
                                         "[+]1:ncpus=16:mpiprocs=2:ompthreads=8:ngpus=2:mem=[0-9]+gb\n"));
    EXPECT_THAT(text, AllOf(HasSubstr("\n#PBS -l walltime=01:00:00\n"), HasSubstr("\ncd \"$PBS_O_WORKDIR\""),
                            HasSubstr(" --time-limit 3479s"), HasSubstr("then qsub '" + script + "'; fi")));
}

TEST_F(Launch, Flux) {
    const Outcome outcome = launch("--flux --data D --threads 2 --time 1h");
    for (const char* directive : {"nodes=2", "nslots=6", "cores-per-slot=2", "gpus-per-slot=1", "time-limit=3600s"}) {
        EXPECT_THAT(outcome.out, HasSubstr(std::string("\n# flux: --") + directive + "\n"));
    }
    EXPECT_THAT(outcome.out, HasSubstr(" -n 6 --nodes=2 --cores-per-task=2 --gpus-per-task=1 gnnrun "));
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(" --time-limit 3479s"), HasSubstr("then flux --parent batch job.sh; fi")));
}

// Ranks of processors take the memory of their plan; one's own folder of checkpoints stays.
TEST_F(Launch, WithoutGpus) {
    const std::string cpu = folder / "cpu.json";
    ASSERT_EQ(gnnplan("plan --graph cora --ranks 2 --machine cpu-node -o " + cpu).code, 0);
    const Outcome outcome = gnnplan("launch " + cpu + " --slurm --data D -- --checkpoint mine");
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("\n#SBATCH --nodes=1\n"), HasSubstr("\n#SBATCH --mem=2G\n"),
                                   Not(HasSubstr("gpus")), Not(HasSubstr("cuda"))));
    EXPECT_THAT(outcome.out, HasSubstr("--data D --threads 1 --resume auto --checkpoint mine\n"));
}

// One pass has no checkpoints to go on from.
TEST_F(Launch, AnInferenceIsNotQueuedAgain) {
    const std::string pass = folder / "pass.json";
    ASSERT_EQ(gnnplan("plan --graph cora --ranks 2 --machine cpu-node --task infer -o " + pass).code, 0);
    const Outcome outcome = gnnplan("launch " + pass + " --slurm --data D -- --load-weights W --save-logits O.npy");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(Not(HasSubstr("signal")), Not(HasSubstr("resume")), Not(HasSubstr("requeue")),
                                   HasSubstr(" --load-weights W --save-logits O.npy\n")));
}

TEST_F(Launch, Refuses) {
    EXPECT_EQ(launch("--data D").code, 64);
    EXPECT_THAT(launch("--slurm --pbs --data D").err, HasSubstr("add one of --slurm, --pbs and --flux"));
    EXPECT_THAT(launch("--slurm").err, HasSubstr("name them with --data"));
    const Outcome brief = launch("--slurm --data D --time 2m");
    EXPECT_EQ(brief.code, 64);
    EXPECT_THAT(brief.err, HasSubstr("warned 121 s before its end, and has 120 s"));
    EXPECT_EQ(gnnplan("launch " + (folder / "none.json") + " --slurm --data D").code, 66);
}

// The script sets these itself, and gnnrun refuses what is given twice.
TEST_F(Launch, RefusesWhatTheScriptSays) {
    for (const char* twice : {"--data E", "--threads=3", "--resume mine", "--backend cpu", "--in-process"}) {
        const Outcome outcome = launch(std::string("--slurm --data D -- ") + twice);
        EXPECT_EQ(outcome.code, 64) << twice;
        EXPECT_THAT(outcome.err, HasSubstr("the script sets this itself")) << twice;
    }
    EXPECT_EQ(launch("--pbs --data D -- --time-limit 5m").code, 64);
    EXPECT_THAT(launch("--slurm --data D -- --checkpoint-every 10").out,
                HasSubstr("--checkpoint checkpoints --resume auto --checkpoint-every 10\n"));
}

TEST_F(Launch, WantsDataThatAreFiles) {
    const std::string file = folder / "graph.txt", made = folder / "made.json";
    std::ofstream(file) << "0 1\n1 0\n";
    const std::string given = "plan --graph " + file + " --features 2 --classes 2 --hidden 2 -o " + made;
    ASSERT_EQ(gnnplan(given).code, 0);
    EXPECT_THAT(gnnplan("launch " + made + " --slurm").out, HasSubstr("--data " + file));
    std::filesystem::remove(file);
    const Outcome outcome = gnnplan("launch " + made + " --slurm");
    EXPECT_EQ(outcome.code, 66);
    EXPECT_THAT(outcome.err, HasSubstr("name it with --data"));
}

}  // namespace
}  // namespace gnnplan::testing
