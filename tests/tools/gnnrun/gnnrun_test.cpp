// The program itself: exit codes, messages and files.
#include "planner/catalog/host.hpp"
#include "runtime/deploy/report.hpp"
#include "tests/tools/gnnrun/gnnrun_fixture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace gnnplan::tools {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Not what else the data lacks or has, which follows from its being other data.
TEST_F(Gnnrun, DataOfAnotherGraphIsNamed) {
    write_ogb(gnnplan::testing::random_symmetric(29, 3, 6, 3, 2), path("smaller"));
    write_ogb(gnnplan::testing::random_symmetric(31, 4, 6, 3, 2), path("other"));
    Plan plan = train::testing::make_plan(dataset_, 4, true, 1, {{1, 10}});
    plan.problem.graph.name = "data/ego.txt.gz";
    plan.problem.graph.generated_features = 5;
    save(plan, "ego.json");
    for (const char* data : {"smaller", "other"}) {
        const Outcome outcome = gnnrun(std::string("@ego.json --data @") + data);
        EXPECT_EQ(outcome.code, 78) << outcome.output;
        EXPECT_THAT(outcome.output,
                    HasSubstr("this plan is for data/ego.txt.gz, not " + path(data) + ": the plan's graph has "));
    }
}

// A plan of data at hand knows all of it, not only the graph.
TEST_F(Gnnrun, DataThatChangedSinceIsNamed) {
    const gnnplan::testing::TinyGraph graph = gnnplan::testing::random_symmetric(31, 3, 6, 3, 2);
    for (const int ranks : {1, 4}) {
        Plan plan = train::testing::make_plan(dataset_, 4, true, ranks, {{1, 10}});
        plan.fingerprints = data::fingerprints_of(dataset_);
        save(plan, "exact.json");
        const auto expect = [&](const gnnplan::testing::TinyGraph& changed, int code, const std::string& what) {
            std::filesystem::remove_all(path("changed"));
            write_ogb(changed, path("changed"));
            const Outcome outcome = gnnrun("@exact.json --data @changed --in-process --epochs 2");
            EXPECT_EQ(outcome.code, code) << outcome.output;
            EXPECT_THAT(outcome.output, HasSubstr(what));
        };
        expect(graph, 0, "epoch 2");
        gnnplan::testing::TinyGraph changed = graph;
        changed.feature[7] += 1;
        expect(changed, 78, "the features are not those that the plan was made for");
        changed = graph;
        for (std::int32_t& label : changed.labels) label = label < 0 ? label : 2 - label;
        expect(changed, 78, "the labels are not those");
        changed = graph;
        std::replace(changed.subset.begin(), changed.subset.end(), std::uint8_t{1}, std::uint8_t{2});
        expect(changed, 78, "the training, validation and test vertices are not those");
    }
}

TEST_F(Gnnrun, ReadsIdsFromOneAsThePlanSays) {
    io::write_file_atomically(path("edges.txt"), "1 2\n2 1\n2 3\n3 2\n3 4\n4 3\n4 5\n5 4\n");
    data::DatasetOptions options;
    options.index_base = data::IndexBase::one;
    options.generate_features = 6;
    options.generate_classes = 2;
    const data::Dataset dataset = data::open_dataset(path("edges.txt"), options);
    ASSERT_EQ(dataset.vertices(), 5);
    Plan plan = train::testing::make_plan(dataset, 4, true, 1, {{1, 10}});
    plan.problem.graph.generated_features = 6;
    plan.problem.graph.generated_classes = 2;
    save(plan, "from0.json");
    plan.problem.graph.index_base = 1;
    save(plan, "from1.json");
    const Outcome outcome = gnnrun("@from1.json --data @edges.txt --epochs 2");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(gnnrun("@from0.json --data @edges.txt --epochs 2").code, 78);
}

TEST_F(Gnnrun, HelpIsGroupedAndEndsWithExitCodes) {
    const Outcome outcome = gnnrun("--help");
    EXPECT_EQ(outcome.code, 0);
    std::size_t at = 0;
    for (const char* part : {"\nData:\n", "--data", "\nTraining:\n", "--dropout", "\nTuning:\n", "--autotune",
                             "\nPlacement:\n", "--in-process", "\nOutput:\n", "--report", "gnnplan explain --analyze",
                             "\nExit codes:\n", "  78  plan, data and launch do not match"}) {
        at = outcome.output.find(part, at);
        ASSERT_NE(at, std::string::npos) << part << " is missing, or in another place\n" << outcome.output;
    }
}

TEST_F(Gnnrun, EpochsAreCountedInThirtyOneBits) {
    const Outcome outcome = gnnrun("@plan1.json --data @graph --epochs 2147483648");
    EXPECT_EQ(outcome.code, 64);
    EXPECT_THAT(outcome.output, HasSubstr("from 1 to 2,147,483,647"));
}

TEST_F(Gnnrun, TrainsReportsAndWritesMetrics) {
    const Outcome outcome = gnnrun("@plan1.json --data @graph --epochs 5 --report @run.json --metrics @m.jsonl");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("worst step"));
    EXPECT_THAT(outcome.output, Not(HasSubstr("NOT EQUAL")));
    const RunReport run = report("run.json");
    EXPECT_EQ(run.epochs.size(), 5U);
    EXPECT_EQ(run.communicator, "self");
    EXPECT_THAT(run.placement.value_or(""), HasSubstr("threads"));
    EXPECT_EQ(deploy::byte_mismatch(run), std::nullopt);
    const std::string metrics = io::read_file(path("m.jsonl"));
    EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 5);
    EXPECT_EQ(leftovers().size(), 2U);
}

TEST_F(Gnnrun, RanksAsThreadsNeedNoLauncher) {
    const Outcome outcome = gnnrun("@plan4.json --data @graph --epochs 4 --in-process --bind off --json -q");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    const RunReport run = io::read_report(outcome.output, "stdout");
    EXPECT_EQ(run.ranks, 4);
    EXPECT_EQ(run.communicator, "threads");
    EXPECT_EQ(run.placement, "threads are not bound: --bind off");
    EXPECT_EQ(deploy::byte_mismatch(run), std::nullopt);
    EXPECT_EQ(run.measured.peak_bytes_per_rank, run.predicted.peak_bytes_per_rank);
}

TEST_F(Gnnrun, SaysWhatRunsWhere) {
    const std::string flags = "@plan4.json --data @graph --epochs 2 --autotune 0 --in-process";
    const Outcome outcome = gnnrun(flags);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, ContainsRegex("trained +candidate 1: rdm on grid 1x4, forward "));
    EXPECT_THAT(outcome.output, Not(HasSubstr("rank  host  threads")));
    const std::string verbose = gnnrun(flags + " -v").output;
    EXPECT_THAT(verbose, ContainsRegex("rank  host +threads\n   0  [^ ]+ +1\n   1  [^ ]+ +1\n   2 "));
}

TEST_F(Gnnrun, RefusesALaunchThePlanIsNotFor) {
    const Outcome outcome = gnnrun("@plan4.json --data @graph");
    EXPECT_EQ(outcome.code, 78);
    EXPECT_THAT(outcome.output, HasSubstr("mpirun -n 4"));
    EXPECT_THAT(outcome.output, HasSubstr("--in-process"));
}

// Otherwise each process would be rank 0 of 1, and all would write the same files.
TEST_F(Gnnrun, RefusesTheLauncherOfAnotherMpi) {
    const std::string start = std::string(" ") + program + " --threads 1 --data @graph --epochs 2 ";
    const std::string step = "SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=0 SLURM_NTASKS=4 ";
    for (const auto& [set, plan, says] :
         {std::tuple{std::string("PMI_RANK=0 PMI_SIZE=4"), "@plan1.json", "(PMI_SIZE=4)"},
          std::tuple{std::string("PMI_RANK=0 PMI_SIZE=4"), "@plan4.json", "(PMI_SIZE=4)"},
          std::tuple{std::string("PMI_RANK=0 PMI_SIZE=2 SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0"), "@plan1.json",
                     "(PMI_SIZE=2)"},
          std::tuple{step + "SLURM_PROCID=0", "@plan1.json", "(SLURM_STEP_NUM_TASKS=4)"},
          std::tuple{step + "SLURM_PROCID=0", "@plan4.json --in-process", "(SLURM_STEP_NUM_TASKS=4)"}}) {
        const Outcome outcome = run(set + start + plan);
        EXPECT_EQ(outcome.code, 78) << set << plan << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr(says)) << set << plan;
        EXPECT_THAT(outcome.output, HasSubstr("takes itself for rank 0 of 1")) << set << plan;
    }
    // The first process reports the error for all.
    for (const std::string& set : {std::string("PMI_RANK=1 PMI_SIZE=4"), step + "SLURM_PROCID=3"}) {
        const Outcome outcome = run(set + start + "@plan1.json");
        EXPECT_EQ(outcome.code, 78) << set;
        EXPECT_EQ(outcome.output, "") << set;
    }
    // A batch script runs once, however many tasks its allocation has, and so does a process that was started alone.
    for (const char* set : {"SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_JOB_ID=7", "PMI_RANK=0 PMI_SIZE=1",
                            "SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 SLURM_NTASKS=4"}) {
        const std::string plan = std::string(set).starts_with("PMI") ? "@plan1.json" : "@plan4.json --in-process";
        EXPECT_EQ(run(fmt::format("{}{}{}", set, start, plan)).code, 0) << set;
    }
}

TEST_F(Gnnrun, TakesTheThreadsOfItsMask) {
    ASSERT_EQ(
        run(std::string("taskset -c 0 ") + program + " @plan1.json --data @graph --epochs 2 --report @r.json").code, 0);
    EXPECT_EQ(report("r.json").threads, 1);
}

// Lack of memory always has the same exit code, also where OpenMP's library would end the process with 1.
TEST_F(Gnnrun, ThreadsThatTheSystemRefusesAreLackOfMemory) {
    const Outcome outcome =
        run(std::string("OMP_STACKSIZE=100000G ") + program + " @plan1.json --data @graph --threads 2");
    EXPECT_EQ(outcome.code, 3) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("out of memory: the system refused a thread"));
}

TEST_F(Gnnrun, RanksAsThreadsNeedTheMemoryOfAll) {
    const std::int64_t memory = catalog::read_host().memory_bytes;
    const auto expect_refusal = [&](const std::string& name, std::int64_t peak, const std::string& says) {
        Plan plan = io::read_plan(io::read_file(path(name)), name);
        plan.problem.loading = Loading::sharded;
        for (Candidate& candidate : plan.candidates) {
            candidate.schedule.loading = Loading::sharded;
            candidate.predicted.peak_bytes_per_rank = peak;
            candidate.predicted.estimate = false;
        }
        save(plan, "large.json");
        const Outcome outcome = gnnrun("@large.json --data @graph --in-process");
        EXPECT_EQ(outcome.code, 3) << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr(says));
    };
    expect_refusal("plan4.json", memory / 3, "out of memory: 4 ranks here need ");
    expect_refusal("plan1.json", 2 * memory, "out of memory: 1 rank here needs ");
}

TEST_F(Gnnrun, RefusesAnotherGraph) {
    write_ogb(gnnplan::testing::random_symmetric(31, 3, 6, 3, 9), path("other"));
    EXPECT_EQ(gnnrun("@plan1.json --data @other").code, 78);
    write_ogb(gnnplan::testing::random_symmetric(31, 3, 7, 3, 2), path("wider"));
    EXPECT_EQ(gnnrun("@plan1.json --data @wider").code, 78);
}

TEST_F(Gnnrun, RefusesDropoutThatNoCandidateAllows) {
    save(train::testing::make_plan(dataset_, 4, false, 1, {{1, 10, true}}), "constant.json");
    const Outcome outcome = gnnrun("@constant.json --data @graph --dropout 0.5");
    EXPECT_EQ(outcome.code, 78);
    EXPECT_THAT(outcome.output, HasSubstr("--input-dropout 0"));
    EXPECT_EQ(gnnrun("@constant.json --data @graph --dropout 0.5 --input-dropout 0 --epochs 2").code, 0);
}

TEST_F(Gnnrun, TellsMissingAndMalformedInputApart) {
    EXPECT_EQ(gnnrun("@none.json --data @graph").code, 66);
    EXPECT_EQ(gnnrun("@plan1.json --data @nowhere").code, 66);
    const std::string plan = io::read_file(path("plan1.json"));
    io::write_file_atomically(path("cut.json"), plan.substr(0, plan.size() / 2));
    EXPECT_EQ(gnnrun("@cut.json --data @graph").code, 65);
}

TEST_F(Gnnrun, FindsOutBeforeTrainingThatOutputCannotBeWritten) {
    for (const std::string flag : {"--report", "--metrics"}) {
        const Outcome outcome = gnnrun("@plan1.json --data @nowhere " + flag + " @missing/run.json");
        EXPECT_EQ(outcome.code, 73) << flag;  // not 66: the data was not looked for yet
        EXPECT_EQ(gnnrun("@plan1.json --data @graph " + flag + " @graph").code, 73) << flag;
    }
    EXPECT_TRUE(leftovers().empty());
}

TEST_F(Gnnrun, LeavesNoOtherFilesWhenTrainingFails) {
    const Outcome outcome = gnnrun("@plan1.json --data @graph --lr 1e38 --report @run.json --metrics @m.jsonl");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.output, HasSubstr("finite"));
    EXPECT_THAT(leftovers(), ::testing::UnorderedElementsAre("run.json", "m.jsonl"));
}

// A run does what the plan was asked for, unless its own flags say otherwise.
TEST_F(Gnnrun, TakesFromThePlanWhatItsFlagsDoNotSay) {
    Plan plan = train::testing::make_plan(dataset_, 4, true, 1, {{1, 10}});
    plan.problem.run = {7, std::nullopt, std::nullopt, 0, 3};
    save(plan, "asked.json");
    ASSERT_EQ(gnnrun("@asked.json --data @graph --report @run.json").code, 0);
    EXPECT_EQ(report("run.json").epochs.size(), 7U);
    EXPECT_EQ(report("run.json").eval_every, 3);
    EXPECT_EQ(report("run.json").wall.value().evaluations, 3);
    ASSERT_EQ(gnnrun("@asked.json --data @graph --epochs 4 --eval-every 0 --report @run.json").code, 0);
    EXPECT_EQ(report("run.json").epochs.size(), 4U);
    EXPECT_EQ(report("run.json").wall.value().evaluations, 0);
    EXPECT_EQ(report("run.json").settings.value().feature_norm, "none");
    plan.problem.run.feature_norm = FeatureNorm::row;
    save(plan, "asked.json");
    ASSERT_EQ(gnnrun("@asked.json --data @graph --report @run.json").code, 0);
    EXPECT_EQ(report("run.json").settings.value().feature_norm, "row");
    ASSERT_EQ(gnnrun("@asked.json --data @graph --feature-norm none --report @run.json").code, 0);
    EXPECT_EQ(report("run.json").settings.value().feature_norm, "none");
}

TEST_F(Gnnrun, SettingsAreInTheReport) {
    Plan plan = train::testing::make_plan(dataset_, 4, true, 1, {{1, 10}});
    plan.problem.run.dropout = 0.25;
    save(plan, "dropping.json");
    const std::string run = "--data @graph --epochs 2 --report @run.json ";
    ASSERT_EQ(gnnrun("@dropping.json " + run).code, 0);
    RunSettings settings = report("run.json").settings.value();
    EXPECT_EQ(settings.epochs, 2);
    EXPECT_EQ(settings.learning_rate, 0.01);
    EXPECT_EQ(settings.weight_decay, 5e-4);
    EXPECT_EQ(settings.dropout, 0.25) << "the plan's";
    EXPECT_EQ(settings.input_dropout, 0.25);
    EXPECT_EQ(settings.feature_norm, "none");
    EXPECT_EQ(settings.patience, std::nullopt);
    EXPECT_EQ(gnnrun("@dropping.json " + run +
                     "--lr 0.5 --lr-schedule step:2:0.5 --weight-decay 0 --decay-all --dropout 0.5 --input-dropout 0 "
                     "--feature-norm row --keep-best --patience 7")
                  .code,
              0);
    settings = report("run.json").settings.value();
    EXPECT_EQ(settings.learning_rate, 0.5);
    EXPECT_EQ(settings.lr_schedule, "step:2:0.5");
    EXPECT_EQ(settings.weight_decay, 0);
    EXPECT_TRUE(settings.decay_all && settings.keep_best);
    EXPECT_EQ(settings.decay, "weights");
    EXPECT_EQ(gnnrun("@dropping.json " + run + "--decay weight=0.5,2.weight=1e-4").code, 0);
    EXPECT_EQ(report("run.json").settings.value().decay, "weight=0.5,2.weight=1e-04");
    for (const auto& [flags, message] :
         {std::pair("--decay weight", "--decay: 'weight' does not say what decays"),
          {"--decay gamma=1", "the model has layers.1.weight, "},
          {"--decay weight=1 --weight-decay 1", "each name of --decay has its strength"}}) {
        const Outcome refused = gnnrun("@dropping.json " + run + flags);
        EXPECT_EQ(refused.code, 64) << flags;
        EXPECT_THAT(refused.output, HasSubstr(message));
    }
    EXPECT_EQ(settings.dropout, 0.5);
    EXPECT_EQ(settings.input_dropout, 0);
    EXPECT_EQ(settings.feature_norm, "row");
    EXPECT_EQ(settings.patience, 7);
}

// The optimiser's moments of every weight are in the plan, so the plan names the optimiser.
TEST_F(Gnnrun, TheOptimiserIsThePlans) {
    save(train::testing::make_plan(dataset_, 4, true, 1, {{1, 10}}, Optimiser::momentum), "sgd.json");
    const std::string run = "@sgd.json --data @graph --epochs 3 --report @run.json ";
    ASSERT_EQ(gnnrun(run).code, 0);
    EXPECT_EQ(report("run.json").settings.value().optimiser, Optimiser::momentum);
    EXPECT_EQ(report("run.json").settings.value().momentum, 0.5);
    const double loss = report("run.json").epochs.back().loss;
    ASSERT_EQ(gnnrun(run + "--momentum 0.9").code, 0);
    EXPECT_EQ(report("run.json").settings.value().momentum, 0.9);
    EXPECT_NE(report("run.json").epochs.back().loss, loss);
    for (const char* other : {"--optimizer adam", "--momentum 0"}) {
        const Outcome refused = gnnrun(run + other);
        EXPECT_EQ(refused.code, 78) << other;
        EXPECT_THAT(refused.output, HasSubstr("the plan was made for momentum"));
        EXPECT_THAT(refused.output, HasSubstr("plan again with --optimizer"));
    }
    EXPECT_EQ(gnnrun(run + "--optimizer adam --momentum 0.5").code, 64);
    // The buffer is in checkpoints, so a run that is resumed ends with the loss of one that was not.
    const std::string resumed = "@sgd.json --data @graph --checkpoint @kept --checkpoint-every 1 --report @run.json ";
    ASSERT_EQ(gnnrun(resumed + "--epochs 2").code, 0);
    ASSERT_EQ(gnnrun(resumed + "--epochs 3 --resume auto").code, 0);
    EXPECT_EQ(report("run.json").epochs.back().loss, loss);
    EXPECT_EQ(gnnrun(run + "--optimizer adagrad").code, 64);
}

TEST_F(Gnnrun, SaysWhichCandidatesDropoutLeavesOut) {
    save(train::testing::make_plan(dataset_, 4, false, 1, {{1, 10, true}, {1, 6, true}, {1, 9}}), "mixed.json");
    const std::string run = "@mixed.json --data @graph --epochs 2 --autotune 0 ";
    const Outcome dropped = gnnrun(run + "--dropout 0.5");
    EXPECT_EQ(dropped.code, 0);
    EXPECT_THAT(dropped.output, HasSubstr("candidates 1 and 2 of 3 cannot be used"));
    EXPECT_THAT(dropped.output, HasSubstr("probability 0.5"));
    EXPECT_THAT(dropped.output, HasSubstr("--input-dropout 0 keeps them"));
    EXPECT_THAT(dropped.output, HasSubstr("candidate 3: "));
    const Outcome kept = gnnrun(run + "--dropout 0.5 --input-dropout 0");
    EXPECT_THAT(kept.output, Not(HasSubstr("cannot be used")));
}

TEST_F(Gnnrun, SaysWhereItsDropoutIsThePlansAndWhereNot) {
    const auto said = [&](const std::optional<double>& planned, const std::string& flags) {
        Plan plan = train::testing::make_plan(dataset_, 4, true, 1, {{1, 10}});
        plan.problem.run.dropout = planned;
        save(plan, "dropping.json");
        const Outcome outcome = gnnrun("@dropping.json --data @graph --epochs 2 " + flags);
        EXPECT_EQ(outcome.code, 0) << outcome.output;
        return outcome.output;
    };
    EXPECT_THAT(said({}, ""), Not(HasSubstr("note: ")));
    EXPECT_THAT(said({}, "--dropout 0"), Not(HasSubstr("note: ")));
    EXPECT_THAT(said(0.5, "--dropout 0.5"), Not(HasSubstr("note: ")));
    EXPECT_THAT(said(0.5, "--dropout 0.3"), Not(HasSubstr("note: "))) << "costs the same";
    EXPECT_THAT(said(0.5, "-q"), Not(HasSubstr("note: ")));
    EXPECT_THAT(said(0.5, ""),
                HasSubstr("note: this run drops inputs of layers at random, as the plan says (--dropout 0.5)"));
    EXPECT_THAT(said(0.5, ""), HasSubstr("; --dropout 0 turns it off\n"));
    const std::string without = said(0.5, "--dropout 0");
    EXPECT_THAT(without,
                HasSubstr("made with --dropout 0.5, and this run has --dropout 0: none of its candidates keeps"));
    EXPECT_THAT(without, HasSubstr("; gnnplan plan --dropout 0 plans for it, --dropout 0.5 trains as planned\n"));
    EXPECT_THAT(said({}, "--dropout 0.5"), HasSubstr("made without dropout, and this run has --dropout 0.5: other"));
    EXPECT_THAT(said(0, "--dropout 0.5"), HasSubstr("no time is predicted for dropping features"));
    EXPECT_THAT(
        said({}, "--dropout 0.5 --input-dropout 0"),
        HasSubstr("; gnnplan plan --dropout 0.5 --input-dropout 0 plans for it, --dropout 0 trains as planned\n"));
}

TEST_F(Gnnrun, SaysWhereTheTimeWent) {
    const Outcome outcome = gnnrun("@plan1.json --data @graph --epochs 5 --eval-every 2");
    EXPECT_THAT(outcome.output, HasSubstr("time        load "));
    EXPECT_THAT(outcome.output, HasSubstr("\n            evaluation 3 x "));
    EXPECT_THAT(outcome.output, HasSubstr("total "));
    EXPECT_THAT(outcome.output, HasSubstr("equal to the byte"));
}

// A run of a billion epochs is stopped as soon as its first metrics are there, which is while it runs.
TEST_F(Gnnrun, ASignalEndsTheRunAfterAnEpochWithAllFilesWritten) {
    for (const std::string signal : {"INT", "TERM", "USR1"}) {
        const std::string command =
            std::string("sh -c '") + program + " --threads 1 @plan4.json --data @graph " +
            "--in-process --epochs 1000000000 --report @run.json --metrics @m.jsonl & pid=$!; " +
            "until test -s @m.jsonl; do :; done; kill -" + signal + " $pid; wait $pid'";
        const Outcome outcome = run(command);
        EXPECT_EQ(outcome.code, 75) << signal << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr("interrupted by SIG" + signal));
        const RunReport ended = report("run.json");
        EXPECT_EQ(ended.ended, "interrupted by SIG" + signal);
        const std::string metrics = io::read_file(path("m.jsonl"));
        EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), std::ssize(ended.epochs));
        EXPECT_EQ(ended.epochs.back().judgement.accuracy.test.has_value(),
                  std::ssize(ended.epochs) % ended.eval_every.value() == 0);
        std::filesystem::remove(path("m.jsonl"));
    }
}

// Whatever becomes of what is said, and of other files.
TEST_F(Gnnrun, EveryFileThatCanBeWrittenIs) {
    const std::string run = "@plan1.json --data @graph --epochs 3 ";
    for (const std::string closed : {" 2>/dev/full", " 2>&-"}) {
        EXPECT_EQ(gnnrun(fmt::format("{}--report @run.json{}", run, closed)).code, 0) << closed;
        EXPECT_EQ(report("run.json").epochs.size(), 3U);
        std::filesystem::remove(path("run.json"));
    }
    const Outcome no_report = gnnrun(run + "--report /dev/full --metrics @m.jsonl --trace @trace.json");
    EXPECT_EQ(no_report.code, 74);
    EXPECT_THAT(no_report.output, HasSubstr("error: /dev/full: cannot write"));
    EXPECT_THAT(no_report.output, HasSubstr("total "));
    EXPECT_NE(io::read_file(path("m.jsonl")), "");
    EXPECT_NE(io::read_file(path("trace.json")), "");
    const Outcome no_metrics = gnnrun(run + "--report @run.json --metrics /dev/full");
    EXPECT_EQ(no_metrics.code, 74);
    EXPECT_EQ(report("run.json").epochs.size(), 3U);
}

TEST_F(Gnnrun, OverwritesNothingThatItReads) {
    const auto expect_refused = [&](const std::string& flags, const std::string& why) {
        const Outcome outcome = gnnrun("@plan1.json --data @graph --epochs 3 " + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.output, HasSubstr(why)) << flags;
    };
    expect_refused("--report @plan1.json", "would overwrite what is read: the plan");
    expect_refused("--trace @graph/raw/edge.csv.gz", "would overwrite what is read: --data");
    expect_refused("--report @out --metrics @out", "names the same file as --report");
    EXPECT_TRUE(leftovers().empty());
    EXPECT_EQ(gnnrun("@plan1.json --data @graph --epochs 3 --report @graph/run.json").code, 0);
    EXPECT_EQ(gnnrun("@plan1.json --data @graph --epochs 3 --report @graph/run.json").code, 0) << "and again";
}

TEST_F(Gnnrun, ASecondSignalEndsTheRunAtOnce) {
    // The process is stopped in between, so that no epoch ends between the signals.
    const std::string command =
        std::string("sh -c '") + program + " --threads 1 @plan4.json --data @graph " +
        "--in-process --epochs 1000000000 --report @run.json --metrics @m.jsonl & pid=$!; " +
        "until test -s @m.jsonl; do :; done; kill -STOP $pid; kill -INT $pid; kill -TERM $pid; " +
        "kill -CONT $pid; wait $pid'";
    EXPECT_GT(run(command).code, 128) << "killed by a signal, as the shell says it";
    EXPECT_FALSE(std::filesystem::exists(path("run.json")));
}

TEST_F(Gnnrun, RefusesFlagsThatMakeNoSense) {
    for (const std::string flags :
         {"--epochs 0", "--epochs x", "--dropout 1", "--dropout -0.1", "--input-dropout nan", "--lr 0", "--lr inf",
          "--weight-decay -1", "--seed -1", "--autotune -1", "--threads 0", "--bind maybe", "--backend gpu",
          "--feature-norm column", "--checkpoint-every 0", "--time-limit 3", "extra", "-q -v"}) {
        const Outcome outcome = run(std::string(program) + " @plan1.json --data @graph " + flags);
        EXPECT_EQ(outcome.code, 64) << flags;
        EXPECT_THAT(outcome.output, HasSubstr("error: ")) << flags;
    }
    for (const std::string flag :
         {"--checkpoint", "--resume", "--load-weights", "--save-weights", "--report", "--metrics", "--trace"}) {
        for (const std::string empty : {" ''", "="}) {
            const Outcome outcome = gnnrun(fmt::format("@plan1.json --data @graph {}{}", flag, empty));
            EXPECT_EQ(outcome.code, 64) << flag << empty;
            EXPECT_THAT(outcome.output, HasSubstr("error: " + flag + ": its value is ")) << empty;
        }
    }
    EXPECT_EQ(gnnrun("@plan1.json").code, 64);
    EXPECT_EQ(gnnrun("--help").code, 0);
    EXPECT_EQ(gnnrun("--version").code, 0);
}

TEST_F(Gnnrun, DryRunChecksAndTrainsNothing) {
    const Outcome outcome = gnnrun("@plan4.json --data @graph --in-process --dry-run");
    EXPECT_EQ(gnnrun("@plan4.json --data @graph --in-process --dry-run --report @run.json").code, 64);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("peak"));
    EXPECT_THAT(outcome.output, HasSubstr("forward.1.gemm"));
    EXPECT_THAT(gnnrun("@plan4.json --data @graph --in-process --dry-run --json -q").output,
                HasSubstr("gnnplan.dry-run/1"));
    EXPECT_TRUE(leftovers().empty());
    EXPECT_EQ(gnnrun("@plan4.json --data @nowhere --in-process --dry-run").code, 66);
}

#ifdef MPIRUN

class UnderMpi : public Gnnrun {
protected:
    Outcome mpirun(int ranks, const std::string& arguments) const {
        return run(std::string(MPIRUN) + " " + std::to_string(ranks) + " " + program + " --threads 1 " + arguments);
    }
    static std::size_t errors_in(const std::string& output) {
        std::size_t count = 0;
        for (std::size_t at = output.find("error: "); at != std::string::npos; at = output.find("error: ", at + 1))
            ++count;
        return count;
    }
};

TEST_F(UnderMpi, TrainsLikeTheRanksOfOneProcess) {
    const Outcome outcome = mpirun(4, "@plan4.json --data @graph --epochs 6 --dropout 0.3 --report @mpi.json");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    ASSERT_EQ(gnnrun("@plan4.json --data @graph --epochs 6 --dropout 0.3 --in-process --report @threads.json").code, 0);
    const RunReport mpi = report("mpi.json");
    const RunReport threads = report("threads.json");
    EXPECT_EQ(mpi.communicator, "mpi");
    EXPECT_EQ(deploy::byte_mismatch(mpi), std::nullopt);
    EXPECT_EQ(mpi.measured.peak_bytes_per_rank, threads.measured.peak_bytes_per_rank);
    EXPECT_EQ(mpi.measured.total_bytes, threads.measured.total_bytes);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(mpi.epochs[i].loss, threads.epochs[i].loss, 1e-5);
}

// Features whose rows name their vertices, in files of which ranks read a share each.
TEST_F(UnderMpi, ReadsFeaturesInShares) {
    const auto write = [&](const std::string& more) {
        std::string parts[2];
        for (int i = 0; i < 31; ++i)
            parts[i % 2] += std::to_string(i * 5 % 31) + "," + std::to_string(i % 7) + ".5,-1,0.25,2,1e-3," +
                            std::to_string(i) + "\n";
        std::filesystem::create_directories(path("graph/raw/node-feat"));
        io::write_file_atomically(path("graph/raw/node-feat/0.csv"), parts[0]);
        io::write_file_atomically(path("graph/raw/node-feat/1.csv"), parts[1] + more);
    };
    for (const char* end : {".csv", ".csv.gz"}) std::filesystem::remove(path("graph/raw/node-feat" + std::string(end)));
    write("");
    for (int ranks = 1; ranks <= 6; ++ranks) {
        Plan plan = train::testing::make_plan(dataset_, 4, true, ranks, {{1, 10}});
        plan.problem.loading = Loading::sharded;
        for (Candidate& candidate : plan.candidates) candidate.schedule.loading = Loading::sharded;
        save(plan, "shares.json");
        write("");
        const std::string arguments = "@shares.json --data @graph --epochs 2 --autotune 0 --report ";
        const Outcome outcome = mpirun(ranks, arguments + "@mpi.json");
        ASSERT_EQ(outcome.code, 0) << outcome.output;
        ASSERT_EQ(gnnrun(arguments + "@threads.json --in-process").code, 0);
        const RunReport mpi = report("mpi.json"), threads = report("threads.json");
        EXPECT_EQ(deploy::byte_mismatch(mpi), std::nullopt);
        const auto features = [](const RunReport& report) {
            const auto step = std::ranges::find(report.setup, "setup.load.features", &StepRecord::name);
            return step == report.setup.end() ? std::vector<std::int64_t>() : step->counted_bytes_by_rank;
        };
        EXPECT_EQ(std::ssize(features(mpi)), ranks);
        EXPECT_EQ(features(mpi), features(threads));
        EXPECT_NEAR(mpi.epochs[1].loss, threads.epochs[1].loss, 1e-5);
        write("31,0,0,0,0,0,0\n");
        const Outcome refused = mpirun(ranks, arguments + "@mpi.json");
        EXPECT_EQ(refused.code, 65) << refused.output;
        EXPECT_THAT(refused.output, HasSubstr("1.csv:16: vertex id '31' is out of range"));
        EXPECT_EQ(errors_in(refused.output), 1U) << refused.output;
    }
}

TEST_F(UnderMpi, RankZeroAloneSpeaksOfWhatAllRefuse) {
    for (const auto& [ranks, arguments, code] :
         {std::tuple{2, "@plan4.json --data @graph", 78}, std::tuple{4, "@plan4.json --data @graph --in-process", 64},
          std::tuple{4, "@plan4.json --data @nowhere", 66},
          std::tuple{4, "@plan4.json --data @graph --report @no/r", 73}, std::tuple{2, "--no-such-flag", 64}}) {
        const Outcome outcome = mpirun(ranks, arguments);
        EXPECT_EQ(outcome.code, code) << arguments << outcome.output;
        EXPECT_EQ(errors_in(outcome.output), 1U) << arguments << outcome.output;
    }
    EXPECT_TRUE(leftovers().empty());
}

// Others wait in a collective for the rank that failed; `timeout` gives 124 if they do so for good.
TEST_F(UnderMpi, OneRankThatFailsEndsAll) {
    const std::string start = std::string("timeout -k 5 60 ") + MPIRUN + " 3 " + ONE_RANK_FAILS + " ";
    EXPECT_EQ(run(start + "none").code, 0);
    for (const auto& [error, code] :
         {std::pair{"data", 65}, std::pair{"mismatch", 78}, std::pair{"infeasible", 3}, std::pair{"memory", 3}}) {
        const Outcome outcome = run(start + error);
        EXPECT_EQ(outcome.code, code) << error << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr("error: rank 1: ")) << error;
    }
}

// Wrapper scripts, copies of data on each node and old installations make ranks that disagree. All end, and say why.
TEST_F(UnderMpi, RanksThatDisagreeEndAndSayInWhat) {
    save(train::testing::make_plan(dataset_, 4, true, 2, {{2, 10}, {2, 6}}), "plan2.json");
    save(train::testing::make_plan(dataset_, 4, true, 2, {{2, 6}}), "other2.json");
    gnnplan::testing::TinyGraph other = gnnplan::testing::random_symmetric(31, 3, 6, 3, 2);
    other.labels[5] = (other.labels[5] + 1) % 3;
    write_ogb(other, path("labels"));
    other = gnnplan::testing::random_symmetric(31, 3, 6, 3, 2);
    std::swap(*std::find(other.subset.begin(), other.subset.end(), 0),
              *std::find(other.subset.begin(), other.subset.end(), 2));
    write_ogb(other, path("split"));
    const std::string same = "@plan2.json --data @graph";
    struct Case {
        std::string first, second;
        int code;
        std::string says;
    };
    for (const Case& c : std::vector<Case>{
             {same, same + " --epochs 6", 78, "--epochs is not the same on every rank: 200 on rank 0, 6 on rank 1"},
             {same, same + " --seed 2", 78, "--seed is not the same on every rank: 1 on rank 0, 2 on rank 1"},
             {same + " --lr 0.5", same, 78, "--lr is not the same"},
             {same, same + " --lr-schedule warmup:5", 78,
              "--lr-schedule is not the same on every rank: not given on rank 0, warmup:5 on rank 1"},
             {same, same + " --weight-decay 0.5", 78, "--weight-decay is not the same"},
             {same, same + " --decay-all", 78, "--decay is not the same"},
             {same, same + " --feature-norm row", 78, "--feature-norm is not the same"},
             {same, same + " --dropout 0.5", 78, "--dropout is not the same"},
             {same + " --dropout 0.5", same + " --dropout 0.5 --input-dropout 0", 78,
              "--input-dropout is not the same"},
             {same, same + " --eval-every 3", 78, "--eval-every is not the same"},
             {same, same + " --autotune 2", 78, "--autotune is not the same"},
             {same, same + " --bind off", 78, "--bind is not the same"},
             {same, same + " --trace @t.json", 78, "--trace is not the same"},
             {same, same + " --report @r.json", 78, "--report is not the same on every rank: not given on rank 0"},
             {same, same + " --backend reference", 78, "--backend is not the same"},
             {same + " --dry-run", same, 78, "--dry-run is not the same"},
             {same, "@other2.json --data @graph", 78, "the plan is not the same"},
             {same, "@plan2.json --data @labels", 78, "the labels is not the same"},
             {same, "@plan2.json --data @split", 78, "the split is not the same"},
             {same, "@plan2.json --data @nowhere", 66, "nowhere: no such file or folder"},
             {same, "@nowhere.json --data @graph", 66, "nowhere.json"},
             {same, "@plan4.json --data @graph", 78, "the plan is for 4 ranks"},
             {same, same + " --in-process", 64, "--in-process and mpirun exclude each other"},
             {same, same + " --no-such-flag", 64, "rank 1: "},
             {same + " --no-such-flag", same, 64, "rank 0: "},
             {same, same + " --epochs", 64, "rank 1: --epochs"},
             {same, same + " --help", 64, "rank 1 was asked for help"},
             {same, "--version", 64, "rank 1 was asked for help"},
             {same + " --epochs 2", same + " --epochs 2 --threads 2 -q", 0, "one epoch"}}) {
        const Outcome outcome = run(std::string("timeout -k 5 60 ") + MPIRUN + " 1 " + program + " " + c.first +
                                    " : -n 1 " + program + " " + c.second);
        EXPECT_EQ(outcome.code, c.code) << c.second << outcome.output;
        EXPECT_THAT(outcome.output, HasSubstr(c.says)) << c.second;
    }
}

TEST_F(UnderMpi, AnMpiThatCannotStartIsAnError) {
    const Outcome outcome =
        run(std::string("OMPI_COMM_WORLD_SIZE=1 ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD=") +
            MPI_INIT_FAILS + " " + program + " @plan1.json --data @graph");
    EXPECT_EQ(outcome.code, 69) << outcome.output;
    EXPECT_EQ(errors_in(outcome.output), 1U) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("error: MPI: MPI_Init_thread failed"));
}

TEST_F(UnderMpi, AllRanksStopWhenTheLossIsNoLongerFinite) {
    const Outcome outcome = mpirun(4, "@plan4.json --data @graph --lr 1e38 --report @run.json");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(errors_in(outcome.output), 1U) << outcome.output;
    EXPECT_EQ(report("run.json").ending, Ending::diverged);
    EXPECT_THAT(leftovers(), ::testing::ElementsAre("run.json"));
}

#endif

}  // namespace
}  // namespace gnnplan::tools
