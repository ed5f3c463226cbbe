// The fuzz target on its stored inputs. The valid ones also show that files of this version can still be read.
#include "planner/io/files.hpp"
#include "planner/io/machine.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/report.hpp"

#include <gtest/gtest.h>

#include <filesystem>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gnnplan::io {
namespace {

const std::filesystem::path corpus = GNNPLAN_JSON_CORPUS;

TEST(JsonCorpus, EveryInputIsReadOrRefused) {
    int inputs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
        SCOPED_TRACE(entry.path().string());
        const std::string text = read_file(entry.path().string());
        EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), 0);
        ++inputs;
    }
    EXPECT_GE(inputs, 8);
}

TEST(JsonCorpus, StoredFilesOfThisVersionAreReadAndRewritten) {
    const auto stored = [](const char* name) { return read_file((corpus / name).string()); };
    EXPECT_EQ(write_plan(read_plan(stored("plan.json"), "plan.json")), stored("plan.json"));
    EXPECT_EQ(write_plan(read_plan(stored("small_plan.json"), "small_plan.json")), stored("small_plan.json"));
    EXPECT_EQ(write_report(read_report(stored("run.json"), "run.json")), stored("run.json"));
    EXPECT_EQ(write_machine(read_machine(stored("machine.json"), "machine.json")), stored("machine.json"));
}

// Version 1 did not say where steps come from, and called 1D RDM in the paper's space; all else is kept.
TEST(JsonCorpus, APlanOfVersion1IsReadAndRewrittenAsTheNewest) {
    const std::string old = read_file((corpus / "plan_version_1.json").string());
    ASSERT_NE(old.find("\"gnnplan.plan/1\""), std::string::npos);
    ASSERT_NE(old.find("\"scheme\": \"rdm\""), std::string::npos);
    const Plan plan = read_plan(old, "plan.json");
    EXPECT_EQ(scheme_of(plan.candidates[0].configuration), "1d");
    for (const Step& step : plan.candidates[0].schedule.steps) EXPECT_EQ(step.origin, Origin());
    const std::string now = write_plan(plan);
    EXPECT_NE(now.find("\"gnnplan.plan/4\""), std::string::npos);
    EXPECT_EQ(write_plan(read_plan(now, "plan.json")), now);
}

// Version 2 did not say what rows are, nor which parameters there are. Everything that it leaves out of this version's
// sample follows from the rest.
TEST(JsonCorpus, APlanOfVersion2IsReadAsTheNewest) {
    const Plan plan = read_plan(read_file((corpus / "plan_version_2.json").string()), "plan.json");
    EXPECT_EQ(write_plan(plan), read_file((corpus / "plan.json").string()));
}

}  // namespace
}  // namespace gnnplan::io
