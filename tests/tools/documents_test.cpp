// docs/json-output.md names every key of what the tools print, and no other.
#include "tests/tools/tool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gnnplan::testing {
namespace {

using Json = nlohmann::ordered_json;
using Paths = std::set<std::string>;

// The spans of code in a line: "| `a.b`, `.c` | ..." has "a.b" and ".c" in its first cell.
std::vector<std::string> spans(const std::string& text) {
    std::vector<std::string> found;
    for (std::size_t begin = text.find('`'); begin != std::string::npos;) {
        const std::size_t end = text.find('`', begin + 1);
        if (end == std::string::npos) break;
        found.push_back(text.substr(begin + 1, end - begin - 1));
        begin = text.find('`', end + 1);
    }
    return found;
}

// The paths in the tables of each schema. A path that begins with a dot stands beside the one before it.
std::map<std::string, Paths> documented() {
    std::map<std::string, Paths> keys;
    std::vector<std::string> schemas;
    std::ifstream page(GNNPLAN_JSON_PAGE);
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) schemas = spans(line);
        if (!line.starts_with("| `")) continue;
        std::string last;
        for (std::string path : spans(line.substr(0, line.find(" |")))) {
            if (path.starts_with(".")) path = last.substr(0, last.rfind('.')) + path;
            last = path;
            for (const std::string& schema : schemas) keys[schema].insert(path);
        }
    }
    return keys;
}

bool has_below(const Paths& paths, const std::string& path) {
    return std::any_of(paths.begin(), paths.end(), [&](const std::string& other) {
        return other.starts_with(path + ".") || other.starts_with(path + "[]");
    });
}

// Collects the paths of a value, as deep as its page names keys.
void collect(const Json& value, const std::string& path, const Paths& page, Paths& found) {
    if (value.is_object()) {
        for (const auto& [key, member] : value.items()) {
            const std::string below = path.empty() ? key : path + "." + key;
            found.insert(below);
            if (has_below(page, below)) collect(member, below, page, found);
        }
    } else if (value.is_array()) {
        for (const Json& element : value) collect(element, path + "[]", page, found);
    }
}

class Documents : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(
            run("graph generate planted --vertices 300 --nonzeros 3000 --classes 3 --features 4 --json -o " + graph_),
            0);
        ASSERT_EQ(gnnplan("plan --machine cpu-node --ranks 2 --epochs 100 --graph " + graph_ + " -o " + plan_ +
                          " --table " + table_)
                      .code,
                  0);
        add(Json::parse(read_text(table_)));
    }

    // Runs the tool and notes what it prints.
    int run(const std::string& arguments) { return note(gnnplan(arguments)); }
    int note(const Outcome& outcome) {
        add(outcome.json());
        return outcome.code;
    }
    // Notes what is in the page of these files.
    void add_page(const std::string& files) {
        const std::string file = folder_ / "page.html";
        ASSERT_EQ(gnnplan("report " + files + " -o " + file).code, 0);
        const std::string page = read_text(file), tag = "id=\"data\">";
        const std::size_t begin = page.find(tag) + tag.size();
        add(Json::parse(page.substr(begin, page.find("</script>", begin) - begin)));
    }
    void add(const Json& document) {
        const std::string schema = document["schema"];
        ASSERT_TRUE(page_.contains(schema)) << schema;
        collect(document, "", page_[schema], found_[schema]);
        found_[schema].erase("schema");
    }

    // Every key that was printed is on the page; every one of the page was printed, but for those in `rare`.
    void expect_documented(const std::string& schema, const Paths& rare = {}) {
        for (const std::string& path : found_[schema]) {
            const bool named = page_[schema].contains(path) || has_below(page_[schema], path);
            EXPECT_TRUE(named) << schema << " has a key that the page does not name: " << path;
        }
        for (const std::string& path : page_[schema]) {
            EXPECT_TRUE(found_[schema].contains(path) || rare.contains(path))
                << schema << " has no such key as the page names: " << path;
        }
    }

    Folder folder_;
    std::string graph_ = folder_ / "graph.npz";
    std::string plan_ = folder_ / "plan.json";
    std::string table_ = folder_ / "table.json";
    std::string run_ = folder_ / "run.json";
    std::map<std::string, Paths> page_ = documented();
    std::map<std::string, Paths> found_;
};

TEST_F(Documents, OfGraphsAndPlans) {
    EXPECT_EQ(run("graph info --json " + graph_), 0);
    EXPECT_NE(run("plan --graph reddit --ranks 2 --machine cpu-node --memory 100MB --json"), 0);
    EXPECT_EQ(run("explain --json " + plan_), 0);
    const std::string paper = folder_ / "paper.json";
    EXPECT_EQ(gnnplan("plan --space paper --graph reddit --ranks 4 --machine cpu-node -o " + paper).code, 0);
    EXPECT_EQ(run("explain --json " + paper), 0);
    EXPECT_NE(run("validate --json " + plan_ + " " + graph_), 0);
    for (const char* schema : {"gnnplan.generated/1", "gnnplan.graph/1", "gnnplan.ranking/1", "gnnplan.infeasible/1"})
        expect_documented(schema);
    expect_documented("gnnplan.explanation/1");
    expect_documented("gnnplan.validation/1", {"files[].content"});
}

TEST_F(Documents, OfSweeps) {
    EXPECT_EQ(run("sweep --graph reddit --machine a6000x8 --vary ranks=2,4,8 --vary scheme=1d,rdm "
                  "--break-even bandwidth --json"),
              0);
    expect_documented(
        "gnnplan.sweep/1",
        {"bandwidth_break_even[].sure_when_faster.bytes_per_second", "bandwidth_break_even[].sure_when_faster.choice",
         "bandwidth_break_even[].sure_when_slower.bytes_per_second", "bandwidth_break_even[].sure_when_slower.choice"});
}

TEST_F(Documents, OfTheCatalog) {
    EXPECT_EQ(run("datasets --json"), 0);
    EXPECT_EQ(run("datasets show reddit --json"), 0);
    EXPECT_EQ(run("machines list --json"), 0);
    expect_documented("gnnplan.dataset/1");
    EXPECT_TRUE(found_["gnnplan.datasets/1"].contains("datasets"));
    expect_documented("gnnplan.machines/1");
}

TEST_F(Documents, OfRuns) {
    const std::string start = plan_ + " --data " + graph_ + " --in-process --threads 1 --dropout 0 --epochs 100";
    EXPECT_EQ(note(run_program(GNNRUN_TOOL, start + " --dry-run --json")), 0);
    ASSERT_EQ(run_program(GNNRUN_TOOL, start + " --report " + run_).code, 0);
    EXPECT_EQ(run("explain --json " + plan_ + " --analyze " + run_), 0);
    EXPECT_EQ(run("compare --json " + plan_ + " " + run_), 0);
    add_page(plan_ + " " + run_);
    const std::string infer = folder_ / "infer.json";
    ASSERT_EQ(gnnplan("plan --task infer --ranks 2 --graph " + graph_ + " -o " + infer).code, 0);
    ASSERT_EQ(run_program(GNNRUN_TOOL, infer + " --data " + graph_ + " --in-process --report " + run_).code, 0);
    EXPECT_EQ(run("explain --json --analyze " + run_), 0);
    const std::string batches = folder_ / "batches.json";
    ASSERT_EQ(gnnplan("plan --sampler node:5 --ranks 2 --hidden 8 --graph " + graph_ + " -o " + batches).code, 0);
    ASSERT_EQ(
        run_program(GNNRUN_TOOL, batches + " --data " + graph_ + " --in-process --epochs 3 --report " + run_).code, 0);
    EXPECT_EQ(run("explain --json --analyze " + run_), 0);
    expect_documented("gnnplan.dry-run/1", {"host_peak_bytes_per_rank", "tuning_peak_bytes_per_rank"});
    expect_documented("gnnplan.analysis/1", {"ending", "resumed_after"});
    expect_documented("gnnplan.comparison/1");
    expect_documented("gnnplan.page/1");
}

}  // namespace
}  // namespace gnnplan::testing
