// gnnplan report: one page that has its data, loads nothing and takes no name for HTML.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <numeric>

namespace gnnplan::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Page = nlohmann::ordered_json;

// The data in a page's element of JSON.
Page data_of(const std::string& page) {
    const std::string tag = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = page.find(tag) + tag.size();
    return Page::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

class Report : public ::testing::Test {
protected:
    // The page of a plan, and of a run.
    std::string page_of(const std::string& files) {
        const Outcome outcome = gnnplan("report " + files + " -o " + page_);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("wrote " + page_));
        return read_text(page_);
    }
    void plan_reddit() { ASSERT_EQ(gnnplan("plan --graph reddit --ranks 8 --machine a6000x8 -o " + plan_).code, 0); }
    void train() {
        ASSERT_EQ(
            gnnplan("graph generate planted --vertices 300 --nonzeros 3000 --classes 3 --features 4 -o " + graph_).code,
            0);
        ASSERT_EQ(
            gnnplan("plan --machine cpu-node --ranks 2 --epochs 6 --dropout 0 --graph " + graph_ + " -o " + plan_).code,
            0);
        const Outcome run = run_program(GNNRUN_TOOL, plan_ + " --data " + graph_ +
                                                         " --in-process --threads 1 --autotune 0 --eval-every 2 "
                                                         "--report " +
                                                         run_);
        ASSERT_EQ(run.code, 0) << run.err;
    }
    int code_of(const std::string& arguments) { return gnnplan("report " + arguments).code; }

    Folder folder_;
    std::string graph_ = folder_ / "graph.npz";
    std::string plan_ = folder_ / "plan.json";
    std::string run_ = folder_ / "run.json";
    std::string page_ = folder_ / "page.html";
};

TEST_F(Report, OfAPlanHasItsFigures) {
    plan_reddit();
    const std::string page = page_of(plan_);
    EXPECT_LE(page.size(), 400'000U);
    EXPECT_THAT(page, ::testing::StartsWith("<!DOCTYPE html>"));
    EXPECT_THAT(page, HasSubstr("Chart.js v"));
    EXPECT_THAT(page, Not(ContainsRegex("(src|href)=[\"']http")));
    EXPECT_THAT(page, Not(HasSubstr("{{")));
    const Page data = data_of(page);
    const Page plan = Page::parse(read_text(plan_));
    EXPECT_EQ(data["schema"], "gnnplan.page/1");
    EXPECT_EQ(data["answer"]["command_line"], plan["command_line"]);
    EXPECT_EQ(data["answer"]["seconds"], plan["predicted"]["epoch_seconds"]);
    EXPECT_EQ(data["answer"]["peak_bytes_per_rank"], plan["predicted"]["peak_bytes_per_rank"]);
    EXPECT_EQ(data["plan"]["schedule"], plan["schedule"]);
    EXPECT_EQ(data["plan"]["fingerprints"], plan["fingerprints"]);
    EXPECT_FALSE(data["plan"]["candidates"][0].contains("schedule"));
    EXPECT_EQ(data["worth"].size(), plan["alternatives"].size());
    EXPECT_EQ(data["bytes_by_rank"]["sent"].size(), 8U);
    EXPECT_TRUE(data["run"].is_null());
}

TEST_F(Report, RacersComeOnceAndTheFastestFirst) {
    plan_reddit();
    const Page data = data_of(page_of(plan_));
    double last = 0;
    std::map<std::string, int> kinds;
    for (const Page& racer : data["race"]) {
        EXPECT_GE(racer["ratio"].get<double>(), last);
        last = racer["ratio"];
        ++kinds[racer["kind"]];
    }
    EXPECT_EQ(kinds["chosen"], 1);
    EXPECT_EQ(kinds["framework"], 1);
    EXPECT_GE(kinds["scheme"], 2);
}

// The page stacks what `explain --json` says, and its highest point is close to the peak.
TEST_F(Report, MemoryOverTheStepsReachesThePeak) {
    plan_reddit();
    const Page memory = data_of(page_of(plan_))["memory_over_steps"];
    const Page explained = gnnplan("explain --json " + plan_).json();
    EXPECT_EQ(memory, explained["memory_over_steps"]);
    std::int64_t most = 0;
    for (std::size_t at = 0; at < memory["steps"].size(); ++at) {
        std::int64_t bytes = memory["fixed_bytes"].get<std::int64_t>() + memory["other_bytes"][at].get<std::int64_t>() +
                             memory["staging_bytes"][at].get<std::int64_t>();
        for (const Page& tensor : memory["tensors"]) {
            if (tensor["first"] <= at && at <= tensor["last"]) bytes += tensor["bytes"].get<std::int64_t>();
        }
        most = std::max(most, bytes);
    }
    const auto peak = explained["memory"]["peak_bytes_per_rank"].get<std::int64_t>();
    EXPECT_LE(most, peak);
    EXPECT_GE(most, peak * 9 / 10);
}

// Long columns have each value once.
TEST_F(Report, OfADeepNetworkStaysSmall) {
    ASSERT_EQ(gnnplan("plan --graph reddit --model gcnii --layers 64 --ranks 8 --machine a6000x8 -o " + plan_).code, 0);
    const std::string page = page_of(plan_);
    EXPECT_LE(page.size(), 400'000U);
    const Page data = data_of(page);
    const Page explained = gnnplan("explain --json " + plan_).json();
    const auto listed = [](const Page& column) {
        Page values = Page::array();
        for (const Page& at : column["at"]) values.push_back(column["values"][at.get<std::size_t>()]);
        return values;
    };
    for (const char* key : {"section", "rows", "layout", "predicted_seconds"}) {
        Page expected = Page::array();
        for (const Page& step : explained["steps"]) expected.push_back(step[key]);
        EXPECT_EQ(listed(data["steps"][key]), expected) << key;
    }
    const Page& memory = data["memory_over_steps"];
    EXPECT_TRUE(memory["steps"].is_null());
    EXPECT_EQ(data["steps"]["name"], explained["memory_over_steps"]["steps"]);
    EXPECT_EQ(listed(memory["other_bytes"]), explained["memory_over_steps"]["other_bytes"]);
}

TEST_F(Report, OfARunHasWhatWasMeasured) {
    train();
    const Page data = data_of(page_of(plan_ + " " + run_));
    const Page run = Page::parse(read_text(run_));
    EXPECT_EQ(data["answer"]["measured_seconds"], run["measured"]["epoch_seconds"]);
    const Page& course = data["run"]["course"];
    ASSERT_EQ(course["epoch"].size(), 6U);
    EXPECT_EQ(course["loss"][5], run["epochs"][5]["loss"]);
    EXPECT_TRUE(course["valid_accuracy"][0].is_null());
    EXPECT_EQ(course["valid_accuracy"][5], run["epochs"][5]["valid_accuracy"]);
    EXPECT_EQ(data["bytes_by_rank"]["sent"], data["bytes_by_rank"]["counted"]);
    for (const Page& step : run["steps"]) {
        const auto& names = data["steps"]["name"];
        const auto found = std::find(names.begin(), names.end(), step["name"]);
        ASSERT_NE(found, names.end()) << step["name"];
        const auto at = static_cast<std::size_t>(found - names.begin());
        EXPECT_EQ(data["steps"]["measured_seconds"][at], step["measured_seconds"]);
    }
}

TEST_F(Report, TakesNoNameForHtml) {
    const std::string data_folder = folder_ / "a<script>alert(1)<";
    std::filesystem::create_directory(data_folder);
    const std::string graph = data_folder + "/script>{{chart}}.npz";
    ASSERT_EQ(
        gnnplan("graph generate planted --vertices 300 --nonzeros 3000 --classes 3 --features 4 -o '" + graph + "'")
            .code,
        0);
    ASSERT_EQ(gnnplan("plan --machine cpu-node --ranks 2 --graph '" + graph + "' -o " + plan_).code, 0);
    const std::string page = page_of(plan_);
    EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;"));
    EXPECT_THAT(page, HasSubstr("\\u003cscript>alert(1)\\u003c/script>{{chart}}"));
    EXPECT_EQ(data_of(page)["plan"]["problem"]["graph"]["name"], graph);
}

TEST_F(Report, ErrorsLeaveNoPage) {
    plan_reddit();
    const std::string other = folder_ / "other.json";
    write_text(other, "{}");
    EXPECT_EQ(code_of(plan_), 64);
    EXPECT_EQ(code_of("-o " + page_), 64);
    EXPECT_EQ(code_of(plan_ + " -o " + plan_), 64);
    EXPECT_EQ(code_of(other + " -o " + page_), 65);
    EXPECT_EQ(code_of(plan_ + " " + plan_ + " -o " + page_), 65);
    EXPECT_EQ(code_of(folder_ / "none.json" + " -o " + page_), 66);
    EXPECT_EQ(code_of(plan_ + " " + (folder_ / "none.json") + " -o " + page_), 66);
    EXPECT_EQ(code_of(plan_ + " -o " + (folder_ / "none/page.html")), 73);
    EXPECT_FALSE(std::filesystem::exists(page_));
    EXPECT_EQ(Page::parse(read_text(plan_))["schema"], "gnnplan.plan/4");
}

TEST_F(Report, RefusesTheRunOfAnotherPlan) {
    train();
    plan_reddit();
    const Outcome outcome = gnnplan("report " + plan_ + " " + run_ + " -o " + page_);
    EXPECT_EQ(outcome.code, 78);
    EXPECT_THAT(outcome.err, HasSubstr("the run is of another plan"));
}

TEST_F(Report, SaysWhereChartJsWouldBe) {
    plan_reddit();
    const std::string command = GNNPLAN_TOOL + (" report " + plan_ + " -o " + page_);
    const Outcome outcome = run_program("env", "GNNPLAN_SHARE=" + (folder_ / "none") + " " + command);
    EXPECT_EQ(outcome.code, 69);
    EXPECT_THAT(on_one_line(outcome.err), HasSubstr("Chart.js, which draws the page, is not there"));
    EXPECT_FALSE(std::filesystem::exists(page_));
}

}  // namespace
}  // namespace gnnplan::testing
