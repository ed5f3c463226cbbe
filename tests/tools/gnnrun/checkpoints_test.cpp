// gnnrun's checkpoints, weights and early ends.
#include "planner/io/checkpoint.hpp"
#include "tests/tools/gnnrun/gnnrun_fixture.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <limits>

namespace gnnplan::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Checkpoints : public Gnnrun {
protected:
    std::vector<std::string> files(const std::string& folder) const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path(folder))) {
            names.push_back(entry.path().filename());
        }
        std::sort(names.begin(), names.end());
        return names;
    }
    std::vector<double> losses(const std::string& name) const {
        std::vector<double> losses;
        for (const EpochRecord& epoch : report(name).epochs) losses.push_back(epoch.loss);
        return losses;
    }
    void damage(const std::string& name) const {
        std::string bytes = io::read_file(path(name));
        bytes.erase(bytes.size() / 2, 1);
        io::write_file_atomically(path(name), bytes);
    }

    const std::string run_ = "@plan4.json --data @graph --in-process --autotune 0 --dropout 0.25 --eval-every 1 ";
};

TEST_F(Checkpoints, TheLastTwoAreKeptAndARunGoesOnFromThem) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 20 --report @whole.json --metrics @whole.jsonl").code, 0);
    const Outcome first = gnnrun(run_ + "--epochs 11 --checkpoint @c --checkpoint-every 3 --report @first.json");
    ASSERT_EQ(first.code, 0) << first.output;
    EXPECT_EQ(files("c"), (std::vector<std::string>{"checkpoint-000009.safetensors", "checkpoint-000011.safetensors"}));
    EXPECT_EQ(report("first.json").checkpoints->written, 4);

    const Outcome rest = gnnrun(run_ +
                                "--epochs 20 --checkpoint @c --checkpoint-every 3 --resume auto --report "
                                "@rest.json --metrics @rest.jsonl");
    ASSERT_EQ(rest.code, 0) << rest.output;
    EXPECT_THAT(rest.output, HasSubstr("checkpoint-000011.safetensors: going on after epoch 11"));
    EXPECT_EQ(losses("rest.json"), losses("whole.json"));
    EXPECT_EQ(report("rest.json").resumed_after, 11);
    EXPECT_EQ(files("c"), (std::vector<std::string>{"checkpoint-000018.safetensors", "checkpoint-000020.safetensors"}));
    // The metrics are those of the whole run, but for how long epochs took.
    const std::string metrics = io::read_file(path("rest.jsonl"));
    EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 20);

    const Outcome rewound = gnnrun(run_ + "--epochs 19 --resume @c");
    EXPECT_EQ(rewound.code, 64);
    EXPECT_THAT(rewound.output, HasSubstr("the checkpoint is of epoch 20, and 19 are asked for"));
}

TEST_F(Checkpoints, RunsOfSeveralSeedsGoOnInTheRunThatEnded) {
    const std::string runs = run_ + "--runs 3 --seed 5 --epochs 6 --report @runs.json --metrics @runs.jsonl ";
    const std::string saving = "--checkpoint @c --checkpoint-every 4 ";
    const Outcome whole = gnnrun(runs + saving);
    ASSERT_EQ(whole.code, 0) << whole.output;
    EXPECT_THAT(whole.output, HasSubstr("run 3 of 3: seed 7"));
    EXPECT_THAT(whole.output, HasSubstr(" ± "));
    EXPECT_EQ(files("c"), (std::vector<std::string>{"checkpoint-000016.safetensors", "checkpoint-000018.safetensors"}));
    const RunReport all = report("runs.json");
    ASSERT_EQ(all.runs.size(), 3U);
    ASSERT_EQ(gnnrun(run_ + "--seed 6 --epochs 6 --report @alone.json").code, 0);
    EXPECT_EQ(report("alone.json").epochs.back().loss, all.runs[1].loss);

    const auto same = [&](const RunReport& again) {
        ASSERT_EQ(again.runs.size(), 3U);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(again.runs[i].loss, all.runs[i].loss) << i;
            EXPECT_EQ(again.runs[i].judgement.accuracy.test, all.runs[i].judgement.accuracy.test) << i;
        }
        EXPECT_EQ(again.spreads[0].test->deviation, all.spreads[0].test->deviation);
        const std::string metrics = io::read_file(path("runs.jsonl"));
        EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 18);
        EXPECT_THAT(metrics, HasSubstr("\"seed\": 5}"));
    };
    const Outcome rest = gnnrun(runs + "--resume @c/checkpoint-000016.safetensors --checkpoint @other");
    ASSERT_EQ(rest.code, 0) << rest.output;
    EXPECT_THAT(rest.output, HasSubstr("going on after epoch 4 of run 3"));
    same(report("runs.json"));
    const Outcome done = gnnrun(runs + "--resume @c");
    ASSERT_EQ(done.code, 0) << done.output;
    EXPECT_THAT(done.output, HasSubstr("nothing is left to train"));
    same(report("runs.json"));
    const Outcome more = gnnrun(run_ + "--runs 4 --seed 5 --epochs 6 --report @more.json --resume @c --checkpoint @d");
    ASSERT_EQ(more.code, 0) << more.output;
    ASSERT_EQ(report("more.json").runs.size(), 4U);
    EXPECT_EQ(report("more.json").runs[2].loss, all.runs[2].loss);
    ASSERT_EQ(gnnrun(run_ + "--seed 8 --epochs 6 --report @alone.json").code, 0);
    EXPECT_EQ(report("alone.json").epochs.back().loss, report("more.json").runs[3].loss);

    for (const auto& [flags, message] :
         {std::pair("--runs 2 --seed 5 --epochs 6", "the checkpoint is of run 3, and 2 are asked for"),
          {"--runs 3 --seed 5 --epochs 7", "the runs before the checkpoint's took 6 epochs, and 7 are asked for"},
          {"--runs 3 --seed 5 --epochs 6 --save-weights @w", "is of one run, and these are several"},
          {"--runs 4 --seed 5 --epochs 6 --decay all", "runs of several seeds are trained alike"}}) {
        const Outcome refused = gnnrun(run_ + flags + " --resume @c --checkpoint @e");
        EXPECT_EQ(refused.code, std::string(flags).ends_with("all") ? 78 : 64) << flags;
        EXPECT_THAT(refused.output, HasSubstr(message));
    }
}

// Batch systems start the same command again.
TEST_F(Checkpoints, ARunThatIsDoneIsDoneAgain) {
    const std::string command = run_ +
                                "--epochs 20 --checkpoint @c --resume auto --report @run.json --metrics @m.jsonl "
                                "--save-weights @w.safetensors --trace @trace.json";
    ASSERT_EQ(gnnrun(command).code, 0);
    const std::vector<double> trained = losses("run.json");
    const std::string metrics = io::read_file(path("m.jsonl"));
    const std::string weights = io::read_file(path("w.safetensors"));
    for (const char* name : {"run.json", "m.jsonl", "w.safetensors"}) std::filesystem::remove(path(name));
    std::vector<std::string> commands{std::string(program) + " --threads 1 " + command};
#ifdef MPIRUN
    commands.push_back(std::string(MPIRUN) + " 4 " + program + " --threads 1 " + command);
    const std::size_t at = commands.back().find("--in-process ");
    commands.back().erase(at, std::string("--in-process ").size());
#endif
    for (const std::string& again : commands) {
        const Outcome done = run(again);
        ASSERT_EQ(done.code, 0) << done.output;
        EXPECT_THAT(done.output, HasSubstr("checkpoint-000020.safetensors: all 20 epochs are done: nothing is left"));
        EXPECT_THAT(done.output, HasSubstr("trained     nothing"));
        EXPECT_THAT(done.output, HasSubstr("note: nothing was trained, so there is no trace"));
        EXPECT_EQ(losses("run.json"), trained);
        EXPECT_EQ(report("run.json").ending, std::nullopt);
        EXPECT_EQ(report("run.json").resumed_after, 20);
        EXPECT_TRUE(report("run.json").steps.empty());
        EXPECT_EQ(io::read_file(path("m.jsonl")), metrics);
        EXPECT_EQ(io::read_file(path("w.safetensors")), weights);
        EXPECT_EQ(files("c"), (std::vector<std::string>{"checkpoint-000020.safetensors"}));
    }
    const Outcome best = gnnrun(command + " --keep-best");
    EXPECT_EQ(best.code, 0);
    EXPECT_THAT(best.output, HasSubstr("the checkpoint is of a run without --keep-best: the last weights are written"));
    EXPECT_EQ(io::read_file(path("w.safetensors")), weights);
}

TEST_F(Checkpoints, ARunThatRanOutOfPatienceTrainsNoMore) {
    const std::string command = run_ +
                                "--epochs 1000 --keep-best --patience 5 --checkpoint @c --resume auto "
                                "--report @run.json --save-weights @w.safetensors";
    ASSERT_EQ(gnnrun(command).code, 0);
    const RunReport first = report("run.json");
    ASSERT_EQ(first.ending, Ending::patience);
    const std::string weights = io::read_file(path("w.safetensors"));
    std::filesystem::remove(path("w.safetensors"));
    const Outcome again = gnnrun(command);
    EXPECT_EQ(again.code, 0) << again.output;
    EXPECT_THAT(again.output, HasSubstr("no better validation accuracy in 5 evaluations: nothing is left to train "
                                        "(for more: a larger --patience)"));
    EXPECT_EQ(report("run.json").ending, Ending::patience);
    EXPECT_EQ(report("run.json").ended, first.ended);
    EXPECT_EQ(report("run.json").epochs.size(), first.epochs.size());
    EXPECT_EQ(report("run.json").best_epoch, first.best_epoch);
    EXPECT_EQ(io::read_file(path("w.safetensors")), weights);
}

TEST_F(Checkpoints, OtherRanksAndPlansGoOn) {
    save(train::testing::make_plan(dataset_, 4, true, 3, {{1, 9}}), "plan3.json");
    ASSERT_EQ(gnnrun(run_ + "--epochs 20 --report @whole.json").code, 0);
    ASSERT_EQ(gnnrun(run_ + "--epochs 8 --checkpoint @c").code, 0);
    for (const std::string plan : {"@plan1.json", "@plan3.json"}) {
        const Outcome rest = gnnrun(plan +
                                    " --data @graph --in-process --dropout 0.25 --epochs 20 --resume "
                                    "@c/checkpoint-000008.safetensors --report @rest.json --checkpoint " +
                                    plan + ".c");
        ASSERT_EQ(rest.code, 0) << rest.output;
        const auto whole = losses("whole.json");
        const auto here = losses("rest.json");
        for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(here[i], whole[i], 1e-5 * whole[i]) << i;
    }
}

// The command that is printed is run as it is.
TEST_F(Checkpoints, AnInterruptedRunSaysHowToGoOn) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 3000 --report @whole.json -q").code, 0);
    const std::string command = std::string("sh -c '") + program + " --threads 1 " + run_ +
                                "--epochs 3000 --report @run.json --metrics @m.jsonl & pid=$!; " +
                                "until test -s @m.jsonl; do :; done; kill -USR1 $pid; wait $pid'";
    const Outcome outcome = run(command);
    ASSERT_EQ(outcome.code, 75) << outcome.output;
    EXPECT_EQ(report("run.json").ending, Ending::interrupted);
    const std::string resume = "resume with: ";
    const std::size_t at = outcome.output.find(resume);
    ASSERT_NE(at, std::string::npos) << outcome.output;
    const std::string line =
        outcome.output.substr(at + resume.size(), outcome.output.find('\n', at) - at - resume.size());
    EXPECT_THAT(line, HasSubstr("plan4.checkpoints/checkpoint-"));
    const Outcome rest = run(line);
    EXPECT_EQ(rest.code, 0) << rest.output;
    EXPECT_EQ(losses("run.json"), losses("whole.json"));
    const std::string metrics = io::read_file(path("m.jsonl"));
    EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 3000);
}

TEST_F(Checkpoints, TheTimeLimitEndsARunInTime) {
    const Outcome outcome = gnnrun(run_ + "--epochs 1000000000 --time-limit 1s --save-logits @e.npy");
    EXPECT_EQ(outcome.code, 75);
    EXPECT_THAT(outcome.output, HasSubstr("not written: " + path("e.npy") + " (the run was interrupted)"));
    EXPECT_FALSE(std::filesystem::exists(path("e.npy")));
    EXPECT_THAT(outcome.output, HasSubstr("the time limit of 1 s is near"));
    EXPECT_THAT(outcome.output, HasSubstr("resume with: "));
    EXPECT_EQ(gnnrun(run_ + "--time-limit 3").code, 64);
    EXPECT_THAT(gnnrun(run_ + "--time-limit 5h3d").output, HasSubstr("is not a time such as 3h50m"));
}

// Time before a process became gnnrun, or in MPI_Init, has passed.
TEST_F(Checkpoints, TheTimeLimitCountsFromTheStartOfTheProcess) {
    const Outcome outcome = run(std::string("sh -c 'sleep 1; exec ") + program + " --threads 1 " + run_ +
                                "--epochs 1000000000 --time-limit 1s --report @run.json'");
    EXPECT_EQ(outcome.code, 75) << outcome.output;
    EXPECT_EQ(report("run.json").epochs.size(), 1U);
}

TEST_F(Checkpoints, AnEarlierOneTakesThePlaceOfADamagedOne) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 10 --checkpoint @c --checkpoint-every 5").code, 0);
    damage("c/checkpoint-000010.safetensors");
    const Outcome file = gnnrun(run_ + "--epochs 12 --resume @c/checkpoint-000010.safetensors");
    EXPECT_EQ(file.code, 65);
    EXPECT_THAT(file.output, HasSubstr("was cut or altered"));
    const Outcome folder = gnnrun(run_ + "--epochs 12 --checkpoint @c --resume auto");
    EXPECT_EQ(folder.code, 0);
    EXPECT_THAT(folder.output, HasSubstr("the one before it is used"));
    EXPECT_THAT(folder.output, HasSubstr("going on after epoch 5"));
    for (const std::string& name : files("c")) damage("c/" + name);
    EXPECT_EQ(gnnrun(run_ + "--epochs 20 --resume @c").code, 65) << "starting afresh would lose what there is";
}

TEST_F(Checkpoints, WithoutAnyARunStartsAfresh) {
    const Outcome outcome = gnnrun(run_ + "--epochs 5 --resume auto");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.output,
                HasSubstr("plan4.checkpoints: holds no checkpoints: training starts with the first epoch"));
    EXPECT_EQ(files("plan4.checkpoints"), (std::vector<std::string>{"checkpoint-000005.safetensors"}));
    EXPECT_EQ(gnnrun(run_ + "--epochs 5 --resume @none").code, 66);
    std::filesystem::create_directory(path("empty"));
    EXPECT_EQ(gnnrun(run_ + "--epochs 5 --resume @empty").code, 66);
}

TEST_F(Checkpoints, AnotherRunsAreNotWrittenOver) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 5 --checkpoint @c").code, 0);
    const Outcome afresh = gnnrun(run_ + "--epochs 5 --checkpoint @c");
    EXPECT_EQ(afresh.code, 64);
    EXPECT_THAT(afresh.output, HasSubstr("--resume auto goes on from them"));
}

TEST_F(Checkpoints, TwoRunsAtOnceDoNotShareAFolder) {
    std::filesystem::create_directory(path("c"));
    // flock(1) holds the lock while its command runs.
    const std::string held = "flock @c/.lock sh -c 'echo process 7 on node1 >@c/.lock; exec " + std::string(program) +
                             " --threads 1 " + run_ + "--epochs 5 --checkpoint @c'";
    const Outcome second = run(held);
    EXPECT_EQ(second.code, 73) << second.output;
    EXPECT_THAT(second.output, HasSubstr("c: another run (process 7 on node1) writes into this folder (wait for its "
                                         "end, or name another folder)"));
    EXPECT_EQ(files("c"), std::vector<std::string>{".lock"});
    // The leftovers of a killed run are no obstacle.
    ASSERT_EQ(gnnrun(run_ + "--epochs 5 --checkpoint @c").code, 0);
    EXPECT_EQ(files("c"), std::vector<std::string>{"checkpoint-000005.safetensors"});
}

// A run that saves a checkpoint only because it is interrupted finds out then.
TEST_F(Checkpoints, AnInterruptedRunLeavesTheFolderOfAnotherAlone) {
    std::filesystem::create_directory(path("plan4.checkpoints"));
    const std::string command = "flock @plan4.checkpoints/.lock sh -c '" + std::string(program) + " --threads 1 " +
                                run_ + "--epochs 1000000000 --metrics @m.jsonl & pid=$!; " +
                                "until test -s @m.jsonl; do :; done; kill -TERM $pid; wait $pid'";
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 74) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("another run writes into this folder"));
    EXPECT_EQ(files("plan4.checkpoints"), std::vector<std::string>{".lock"});
}

TEST_F(Checkpoints, AFileSystemWithoutLocksIsNoObstacle) {
    const Outcome outcome = run(std::string("ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD=") +
                                NO_LOCKS + " " + program + " --threads 1 " + run_ + "--epochs 5 --checkpoint @c");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("c: cannot be locked (No locks available): see that no other run uses it"));
}

TEST_F(Checkpoints, OfTwoRunsAreNotMixed) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 10 --checkpoint @c --checkpoint-every 5").code, 0);
    const Outcome rewound = gnnrun(run_ + "--epochs 9 --resume @c/checkpoint-000005.safetensors");
    EXPECT_EQ(rewound.code, 64);
    EXPECT_THAT(rewound.output, HasSubstr("holds checkpoints of later epochs"));
    ASSERT_EQ(gnnrun(run_ + "--epochs 5 --seed 2 --checkpoint @d").code, 0);
    const Outcome mixed = gnnrun(run_ + "--epochs 15 --resume @c/checkpoint-000010.safetensors --checkpoint @d");
    EXPECT_EQ(mixed.code, 64);
    EXPECT_THAT(mixed.output, HasSubstr("holds checkpoints of another run"));
    const Outcome named = gnnrun(run_ + "--epochs 15 --resume @c --metrics @c/checkpoint-000099.safetensors");
    EXPECT_EQ(named.code, 64);
    EXPECT_EQ(gnnrun(run_ + "--epochs 15 --resume @c --feature-norm row").code, 78);
    EXPECT_EQ(files("c").size(), 2U);
}

// The best weights of a run that did not keep them are not known.
TEST_F(Checkpoints, BestWeightsAreThoseOfEpochsThatWereKept) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 20 --checkpoint @c").code, 0);
    ASSERT_EQ(
        gnnrun(run_ + "--epochs 22 --keep-best --resume @c --save-weights @w.safetensors --report @run.json").code, 0);
    EXPECT_GT(report("run.json").best_epoch, 20);
    EXPECT_EQ(io::read_weights(io::read_file(path("w.safetensors")), "w").size(), 4U);
}

TEST_F(Checkpoints, PipesAndAbandonedFilesAreNoTrouble) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 5 --checkpoint @c").code, 0);
    ASSERT_EQ(run("mkfifo @pipe").code, 0);
    for (const std::string flag : {"--resume", "--load-weights"}) {
        const Outcome outcome = run(std::string("timeout 20 ") + program + " --threads 1 " + run_ + flag + " @pipe");
        EXPECT_EQ(outcome.code, 66) << flag << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr("nobody writes into it"));
    }
    io::write_file_atomically(path("c/checkpoint-000003.safetensors.tmp-2147483646-0"), "of a process that was killed");
    EXPECT_EQ(gnnrun(run_ + "--epochs 9 --resume @c").code, 0);
    EXPECT_EQ(files("c").size(), 2U);
}

TEST_F(Checkpoints, AreOfTheSameRun) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 5 --checkpoint @c").code, 0);
    const Outcome seed = gnnrun(run_ + "--epochs 9 --seed 2 --resume @c");
    EXPECT_EQ(seed.code, 78);
    EXPECT_THAT(seed.output,
                HasSubstr("--seed was 1 when the checkpoint was written, and is 2 now (use --seed 1; to start "
                          "afresh, leave out --resume and name another folder with --checkpoint)"));
    const Outcome automatic = gnnrun(run_ + "--epochs 9 --seed 2 --resume auto --checkpoint @c");
    EXPECT_EQ(automatic.code, 78);
    EXPECT_THAT(automatic.output, HasSubstr("(use --seed 1; to start afresh, name another folder with --checkpoint)"));
    write_ogb(gnnplan::testing::random_symmetric(31, 4, 6, 3, 2), path("other"));
    const data::Dataset other = data::open_dataset(path("other"));
    save(train::testing::make_plan(other, 4, true, 1, {{1, 10}}), "other.json");
    const Outcome graph = gnnrun("@other.json --data @other --dropout 0.25 --epochs 9 --resume @c");
    EXPECT_EQ(graph.code, 78);
    EXPECT_THAT(graph.output, HasSubstr("the checkpoint is of other data: not the same graph"));
    save(train::testing::make_plan(dataset_, 5, true, 1, {{1, 10}}), "wider.json");
    const Outcome model = gnnrun("@wider.json --data @graph --dropout 0.25 --epochs 9 --resume @c");
    EXPECT_EQ(model.code, 78);
    EXPECT_THAT(model.output, HasSubstr("that of the plan's model 6 x 5 (to start afresh, leave out --resume"));
    Plan unweighted = train::testing::make_plan(dataset_, 4, true, 1, {{1, 10}});
    unweighted.problem.graph.normalisation = Normalisation::none;
    save(unweighted, "unweighted.json");
    const Outcome weights = gnnrun("@unweighted.json --data @graph --dropout 0.25 --epochs 9 --resume @c");
    EXPECT_EQ(weights.code, 78);
    EXPECT_THAT(weights.output, HasSubstr("the weighing of edges was symmetric when the checkpoint was written, and is "
                                          "none now (resume with a plan of the same model; to start afresh"));
    const Outcome rate = gnnrun(run_ + "--epochs 9 --lr 0.02 --resume @c");
    EXPECT_EQ(rate.code, 0);
    EXPECT_THAT(rate.output, HasSubstr("note: --lr was 0.01 up to epoch 5, and is 0.02 from here on"));
}

// A checkpoint has to name its run, so that the run can be compared with the one that is to go on.
TEST_F(Checkpoints, OneThatSaysNothingIsOfAnotherRun) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 5 --checkpoint @c").code, 0);
    const std::string file = path("c/checkpoint-000005.safetensors");
    io::Checkpoint checkpoint = io::read_checkpoint(io::read_file(file), file);
    const auto facts = checkpoint.facts;
    for (const std::string gone : {"the model", "the graph", "--seed"}) {
        checkpoint.facts = facts;
        std::erase_if(checkpoint.facts, [&](const auto& fact) { return fact.first == gone; });
        io::write_file_atomically(file, io::write_checkpoint(checkpoint));
        EXPECT_EQ(gnnrun(run_ + "--epochs 9 --resume @c").code, 78) << gone;
    }
    checkpoint.facts.clear();
    io::write_file_atomically(file, io::write_checkpoint(checkpoint));
    const Outcome nothing = gnnrun(run_ + "--epochs 9 --resume @c");
    EXPECT_EQ(nothing.code, 78);
    EXPECT_THAT(nothing.output, HasSubstr("the model was not said when the checkpoint was written, and is"));
    checkpoint.facts = facts;  // of an earlier build, which had fewer options
    std::erase_if(checkpoint.facts, [](const auto& fact) { return fact.first == "--momentum"; });
    io::write_file_atomically(file, io::write_checkpoint(checkpoint));
    EXPECT_EQ(gnnrun(run_ + "--epochs 9 --resume @c").code, 0);
}

TEST_F(Checkpoints, AnEarlierOneThatFitsIsNamed) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 5 --checkpoint @c").code, 0);
    ASSERT_EQ(gnnrun(run_ + "--epochs 7 --seed 2 --checkpoint @d").code, 0);
    std::filesystem::copy(path("d/checkpoint-000007.safetensors"), path("c"));
    const Outcome outcome = gnnrun(run_ + "--epochs 9 --checkpoint @c --resume auto");
    EXPECT_EQ(outcome.code, 78);
    EXPECT_THAT(outcome.output, HasSubstr("c/checkpoint-000007.safetensors: --seed was 2"));
    EXPECT_THAT(outcome.output, HasSubstr("c/checkpoint-000005.safetensors is of this run: --resume with its name"));
    EXPECT_EQ(gnnrun(run_ + "--epochs 9 --checkpoint @e --resume @c/checkpoint-000005.safetensors").code, 0);
    const Outcome neither = gnnrun(run_ + "--epochs 9 --seed 3 --checkpoint @c --resume auto");
    EXPECT_EQ(neither.code, 78);
    EXPECT_THAT(neither.output, Not(HasSubstr("is of this run")));
}

TEST_F(Checkpoints, WeightsAreSavedAndLoaded) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 30 --checkpoint @c --save-weights @w.safetensors --report @a.json").code, 0);
    const auto weights = io::read_weights(io::read_file(path("w.safetensors")), "w");
    ASSERT_EQ(weights.size(), 4U);
    EXPECT_EQ(weights[0].name, "layers.1.weight");
    EXPECT_EQ(weights[0].shape, (std::vector<std::int64_t>{6, 4}));
    for (const std::string from : {"@w.safetensors", "@c/checkpoint-000030.safetensors"}) {
        const Outcome loaded = gnnrun(
            "@plan1.json --data @graph --epochs 1 --lr 1e-12 --eval-every 1 --report @b.json --load-weights " + from);
        ASSERT_EQ(loaded.code, 0) << loaded.output;
        EXPECT_EQ(report("b.json").epochs[0].judgement.accuracy.test,
                  report("a.json").epochs.back().judgement.accuracy.test)
            << from;
    }
    EXPECT_EQ(gnnrun(run_ + "--load-weights @graph/raw/edge.csv.gz").code, 65);
    EXPECT_EQ(gnnrun(run_ + "--load-weights @w.safetensors --resume @c").code, 64);
    EXPECT_EQ(gnnrun(run_ + "--load-weights @w.safetensors --save-weights @w.safetensors").code, 64);

    std::vector<NamedTensor> broken = weights;
    broken[2].values.back() = std::numeric_limits<float>::quiet_NaN();
    io::write_file_atomically(path("nan.safetensors"), io::write_weights(broken));
    const Outcome refused = gnnrun(run_ + "--load-weights @nan.safetensors");
    EXPECT_EQ(refused.code, 65);
    EXPECT_THAT(refused.output, HasSubstr("of tensor \"" + broken[2].name + "\" is nan, not a finite number"));
}

// The classes that they choose are the accuracy that the report has, of the weights that the run leaves behind.
TEST_F(Checkpoints, EmbeddingsAreThoseOfTheWeights) {
    const auto accuracy = [&](const std::string& name) {
        const std::string bytes = io::read_file(path(name));
        const std::size_t header = bytes.size() % (static_cast<std::size_t>(dataset_.vertices()) * 3 * sizeof(float));
        double right = 0;
        for (std::int64_t v = 0; v < dataset_.vertices(); ++v) {
            std::array<float, 3> row{};
            std::memcpy(row.data(), bytes.data() + header + static_cast<std::size_t>(v) * sizeof(row), sizeof(row));
            const auto chosen = std::max_element(row.begin(), row.end()) - row.begin();
            const auto at = static_cast<std::size_t>(v);
            if (dataset_.subset()[at] == data::test && chosen == dataset_.labels()[at]) right += 1;
        }
        return right / static_cast<double>(dataset_.subset_size(data::test));
    };
    ASSERT_EQ(gnnrun(run_ + "--epochs 12 --report @a.json --save-embeddings @e.npy").code, 0);
    EXPECT_DOUBLE_EQ(accuracy("e.npy"), report("a.json").epochs.back().judgement.accuracy.test.value());
    const Outcome kept = gnnrun(run_ + "--epochs 12 --keep-best --report @b.json --save-logits @b.npy");
    ASSERT_EQ(kept.code, 0);
    EXPECT_THAT(kept.output, Not(HasSubstr("not written")));
    const auto& epochs = report("b.json").epochs;
    const auto best = std::max_element(epochs.begin(), epochs.end(), [](const EpochRecord& a, const EpochRecord& b) {
        return a.judgement.accuracy.valid < b.judgement.accuracy.valid;
    });
    EXPECT_DOUBLE_EQ(accuracy("b.npy"), best->judgement.accuracy.test.value());
    // Weights that are finite may make embeddings that are not.
    const Outcome large = gnnrun(run_ + "--epochs 1 --lr 1e30 --report @l.json --save-embeddings @l.npy");
    EXPECT_EQ(large.code, 1) << large.output;
    EXPECT_THAT(large.output, HasSubstr("of the values are not finite"));
    EXPECT_FALSE(std::filesystem::exists(path("l.npy")));
    EXPECT_EQ(report("l.json").not_finite->layer, 2);
    EXPECT_EQ(gnnrun(run_ + "--epochs 1 --checkpoint @e --save-embeddings @e/").code, 64);
    EXPECT_EQ(gnnrun(run_ + "--epochs 1 --save-embeddings /proc/none").code, 73);
    EXPECT_EQ(gnnrun(run_ + "--epochs 1 --dry-run --save-embeddings @e.npy").code, 64);
}

TEST_F(Checkpoints, BestWeightsAndPatienceNeedValidation) {
    const Outcome best = gnnrun(run_ + "--epochs 30 --keep-best --patience 5 --save-weights @w.safetensors");
    EXPECT_EQ(best.code, 0) << best.output;
    EXPECT_THAT(best.output, HasSubstr("best        epoch "));
    EXPECT_THAT(best.output, HasSubstr("ended early: no better validation accuracy in 5 evaluations"));
    EXPECT_EQ(gnnrun("@plan1.json --data @graph --keep-best --eval-every 0").code, 64);
    EXPECT_EQ(gnnrun("@plan1.json --data @graph --patience 0").code, 64);
}

TEST_F(Checkpoints, OneThatCannotBeWrittenCostsItselfAlone) {
    ASSERT_EQ(gnnrun(run_ + "--epochs 5 --checkpoint /proc/none").code, 73);
    io::write_file_atomically(path("plan4.checkpoints"), "a file in its place");
    const std::string command = std::string("sh -c '") + program + " --threads 1 " + run_ +
                                "--epochs 1000000000 --report @run.json --metrics @m.jsonl & pid=$!; " +
                                "until test -s @m.jsonl; do :; done; kill -TERM $pid; wait $pid'";
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 74) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("plan4.checkpoints: cannot create the folder: Not a directory"));
    EXPECT_THAT(outcome.output, Not(HasSubstr("resume with")));
    EXPECT_EQ(report("run.json").checkpoints->failed, 1);
}

TEST_F(Checkpoints, ARunThatDivergesReportsWhatItHas) {
    const Outcome outcome = gnnrun(run_ +
                                   "--epochs 50 --lr 1e38 --checkpoint @c --report @run.json --metrics @m.jsonl "
                                   "--save-weights @no.safetensors");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.output, HasSubstr("not written: " + path("no.safetensors") + " (the run diverged)"));
    EXPECT_THAT(outcome.output, HasSubstr("the loss is no longer finite (lower --lr, or use --feature-norm row)"));
    EXPECT_EQ(report("run.json").ending, Ending::diverged);
    EXPECT_TRUE(files("c").empty()) << "there is nothing to go on from";
    ASSERT_EQ(gnnrun(run_ + "--epochs 1 --save-weights @w.safetensors").code, 0);
    const Outcome loaded = gnnrun(run_ + "--epochs 50 --lr 1e38 --load-weights @w.safetensors");
    EXPECT_EQ(loaded.code, 1);
    EXPECT_THAT(loaded.output, HasSubstr("(lower --lr, or use --feature-norm row; it began with the weights of " +
                                         path("w.safetensors") + ")"));
    const Outcome last = gnnrun(run_ + "--epochs 1 --lr 1e39");
    EXPECT_EQ(last.code, 1);
    EXPECT_THAT(last.output, HasSubstr("the last update made weights that are not finite"));
}

#ifdef MPIRUN

// Ranks that write into folders of their own would leave parts that rank 0 does not find.
TEST_F(Checkpoints, EmbeddingsNeedAFolderThatRanksShare) {
    std::filesystem::create_directories(path("own"));
    const std::string rank =
        std::string(" ") + program + " --threads 1 @plan4.json --data @graph --epochs 3 --autotune 0 ";
    for (const std::string output : {"parts/", "e.npy"}) {
        const std::string apart = std::string("cd @ && ") + MPIRUN + " 3" + rank + "--save-embeddings " + output +
                                  " : -n 1 --wdir @own" + rank + "--save-embeddings " + output;
        const Outcome outcome = run("sh -c '" + apart + "'");
        EXPECT_EQ(outcome.code, 73) << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr("rank 3 on "));
        EXPECT_THAT(outcome.output, HasSubstr("does not see the folder into which rank 0 writes"));
        EXPECT_THAT(outcome.output, Not(HasSubstr("epoch 3"))) << "before the work";
        EXPECT_TRUE(files("own").empty());
        EXPECT_EQ(leftovers(), std::vector<std::string>{"own"});
    }
    const std::string together = std::string("cd @ && ") + MPIRUN + " 4" + rank + "--save-embeddings ";
    EXPECT_EQ(run("sh -c '" + together + "e.npy'").code, 0);
    EXPECT_EQ(run("sh -c '" + together + "parts/'").code, 0);
    EXPECT_EQ(files("parts").size(), 9U);
    EXPECT_EQ(files("own").size(), 0U);
}

TEST_F(Checkpoints, ARankThatStopsEndsTheRun) {
    const std::string command =
        std::string("sh -c '") + MPIRUN + " 4 sh -c \"if test \\$OMPI_COMM_WORLD_RANK = 2; then echo \\$\\$ " +
        ">@pid; fi; exec " + program + " --threads 1 @plan4.json --data @graph --autotune 0 --epochs 1000000000 -q " +
        "--timeout 2s --checkpoint @c --checkpoint-every 5 --metrics @m.jsonl\" & mpirun=$!; " +
        "until test -s @m.jsonl -a -s @pid; do sleep .02; done; sleep .3; kill -STOP $(cat @pid); wait $mpirun'";
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 69) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("nothing has moved for 2 s: rank 2 (its process is stopped) was last seen "));
    EXPECT_THAT(outcome.output, HasSubstr(" s ago, after step "));
    EXPECT_FALSE(files("c").empty());
}

#endif

}  // namespace
}  // namespace gnnplan::tools
