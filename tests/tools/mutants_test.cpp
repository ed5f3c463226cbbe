// Plans that somebody altered and sealed again are refused, or train and evaluate as before.
#include "planner/io/fingerprint.hpp"
#include "planner/io/parse.hpp"
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace gnnplan::testing {
namespace {

using nlohmann::ordered_json;

struct Kind {
    const char* name;
    const char* flags;
    int ranks;
};

constexpr Kind kinds[] = {
    {"one rank", "--hidden 8", 1},
    {"rdm", "--hidden 8 --scheme rdm --replication 2", 2},
    {"rdm of four", "--hidden 8 --scheme rdm --replication 4", 4},
    {"1d", "--hidden 8 --scheme 1d", 3},
    {"1d, needed rows", "--hidden 8 --scheme 1d --exchange rows", 2},
    {"1.5d", "--hidden 8 --scheme 1.5d", 4},
    {"2d", "--hidden 8 --scheme 2d", 4},
    {"3d", "--hidden 8 --scheme 3d", 8},
    {"the paper's space", "--hidden 8 --space paper --replication 2", 4},
    {"loss rows", "--hidden 8 --loss-rows on", 2},
    {"permuted", "--hidden 8 --scheme 1d --permute on", 2},
    {"three layers with bias", "--hidden 8 --layers 3 --bias --scheme rdm", 2},
    {"factored values", "--hidden 8 --values factored", 2},
};

class Mutants : public ::testing::TestWithParam<Kind> {
protected:
    struct Trained {
        int code = -1;
        std::string output;
        std::vector<double> values;  // losses and accuracies
    };

    Trained train(const std::string& plan) const {
        const std::string report = folder_ / "run.json";
        const Outcome outcome =
            run_program(GNNRUN_TOOL, plan + " --data " + graph_ +
                                         " --in-process --threads 1 --autotune 0 --epochs 6 --dropout 0.5 "
                                         "--eval-every 2 -q --report " +
                                         report);
        Trained trained{outcome.code, outcome.out + outcome.err, {}};
        if (outcome.code != 0) return trained;
        const ordered_json reported = ordered_json::parse(read_text(report));
        for (const auto& epoch : reported["epochs"]) {
            trained.values.push_back(epoch["loss"]);
            for (const char* key : {"train_accuracy", "valid_accuracy", "test_accuracy"}) {
                if (!epoch[key].is_null()) trained.values.push_back(epoch[key]);
            }
        }
        return trained;
    }
    void write(ordered_json plan) const {
        plan["fingerprints"]["content"] = io::content_fingerprint(io::parse(plan.dump(), "mutant"));
        write_text(mutant_, plan.dump());
    }

    Folder folder_;
    std::string graph_ = folder_ / "graph.npz";
    std::string plan_ = folder_ / "plan.json";
    std::string mutant_ = folder_ / "mutant.json";
};

// All values below `root`, the containers among them.
void collect(ordered_json& root, std::vector<ordered_json*>& found) {
    found.push_back(&root);
    if (!root.is_structured()) return;
    for (auto& child : root) collect(child, found);
}

template <class Random>
std::size_t below(std::size_t limit, Random& random) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

// One change somewhere in `part`, in words.
template <class Random>
std::string mutate(ordered_json& part, Random& random) {
    std::vector<ordered_json*> values;
    collect(part, values);
    ordered_json& value = *values[below(values.size(), random)];
    const std::string before = value.dump().substr(0, 80);
    if (value.is_array() && !value.empty()) {
        const std::size_t at = below(value.size(), random);
        switch (below(3, random)) {
            case 0: value.erase(at); return "element removed of " + before;
            case 1:
                value.insert(value.begin() + static_cast<std::ptrdiff_t>(at), ordered_json(value[at]));
                return "element doubled of " + before;
            default: std::swap(value[at], value[below(value.size(), random)]); return "elements swapped of " + before;
        }
    }
    if (value.is_boolean()) {
        value = !value.get<bool>();
    } else if (value.is_number_integer()) {
        constexpr std::int64_t changes[] = {-1, 1, 2, 64};
        value = value.get<std::int64_t>() + changes[below(4, random)];
    } else {  // another value of its kind: another tensor, another operation, another layout
        const ordered_json& other = *values[below(values.size(), random)];
        if (other.type() != value.type()) return "";
        value = ordered_json(other);
    }
    return before + " -> " + value.dump().substr(0, 80);
}

TEST_P(Mutants, AreRefusedOrTrainTheSame) {
    ASSERT_EQ(
        gnnplan("graph generate planted --vertices 200 --nonzeros 1600 --features 12 --classes 4 -o " + graph_).code,
        0);
    const Outcome planned = gnnplan("plan --graph " + graph_ + " --machine cpu-node --ranks " +
                                    std::to_string(GetParam().ranks) + " " + GetParam().flags + " -o " + plan_);
    ASSERT_EQ(planned.code, 0) << planned.err;
    const ordered_json plan = ordered_json::parse(read_text(plan_));
    const Trained untouched = train(plan_);
    ASSERT_EQ(untouched.code, 0) << untouched.output;

    const char* chosen = std::getenv("GNNPLAN_MUTANTS_SEED");
    const auto seed = chosen != nullptr ? static_cast<unsigned>(std::atoi(chosen)) : std::random_device()();
    SCOPED_TRACE("GNNPLAN_MUTANTS_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    int accepted = 0;
    for (int i = 0; i < 40; ++i) {
        ordered_json mutant = plan;
        // The first candidate stands in the file twice; it is changed in both places alike.
        const std::string key = below(4, random) == 0 ? "configuration" : "schedule";
        std::string change = mutate(mutant["candidates"][0][key], random);
        if (change.empty() || mutant == plan) continue;
        mutant[key] = mutant["candidates"][0][key];
        write(mutant);
        const Outcome verdict = gnnplan("validate " + mutant_);
        if (verdict.code == 1) {
            const Trained refused = train(mutant_);
            EXPECT_TRUE(refused.code == 65 || refused.code == 78) << change << "\n" << refused.code << refused.output;
            continue;
        }
        ASSERT_EQ(verdict.code, 0) << change << verdict.err;
        ++accepted;
        const Trained trained = train(mutant_);
        if (trained.code == 78) continue;  // another number of ranks, or of another graph
        ASSERT_EQ(trained.code, 0) << change << "\n" << trained.output;
        ASSERT_EQ(trained.values.size(), untouched.values.size()) << change;
        for (std::size_t v = 0; v < trained.values.size(); ++v) {
            EXPECT_NEAR(trained.values[v], untouched.values[v], 2e-3) << change;
        }
    }
    RecordProperty("accepted", accepted);
}

std::string name_of(const ::testing::TestParamInfo<Kind>& kind) {
    std::string name;
    for (const char c : std::string(kind.param.name))
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Mutants, ::testing::ValuesIn(kinds), name_of);

// These were accepted once, and trained something else.
TEST(NamedMutants, AreRefusedWithWhatTheyLackOrChange) {
    const Folder folder;
    const std::string file = folder / "plan.json";
    const std::string mutant = folder / "mutant.json";
    ASSERT_EQ(
        gnnplan("plan --vertices 200 --nonzeros 1600 --widths 12,8,4 --ranks 2 --scheme rdm --machine cpu-node -o " +
                file)
            .code,
        0);
    const ordered_json plan = ordered_json::parse(read_text(file));

    // Changes the steps of the first candidate, and their predicted times with them, where they stand.
    using Steps = std::vector<std::pair<ordered_json, ordered_json>>;
    const auto expect_refused = [&](const char* what, const auto& change) {
        ordered_json altered = plan;
        ordered_json& candidate = altered["candidates"][0];
        Steps steps;
        for (std::size_t i = 0; i < candidate["schedule"]["steps"].size(); ++i) {
            steps.emplace_back(candidate["schedule"]["steps"][i], candidate["predicted"]["step_seconds"][i]);
        }
        change(steps);
        candidate["schedule"]["steps"] = candidate["predicted"]["step_seconds"] = ordered_json::array();
        for (const auto& [step, seconds] : steps) {
            candidate["schedule"]["steps"].push_back(step);
            candidate["predicted"]["step_seconds"].push_back(seconds);
        }
        ASSERT_NE(altered, plan) << what;
        altered["schedule"] = candidate["schedule"];
        altered["predicted"] = candidate["predicted"];
        altered["fingerprints"]["content"] = io::content_fingerprint(io::parse(altered.dump(), "mutant"));
        write_text(mutant, altered.dump());
        const Outcome verdict = gnnplan("validate " + mutant);
        EXPECT_EQ(verdict.code, 1) << what << verdict.out;
        EXPECT_THAT(verdict.out, ::testing::StartsWith("invalid: ")) << what;
    };
    const auto find = [](Steps& steps, const std::string& name) {
        return std::find_if(steps.begin(), steps.end(), [&](const auto& step) { return step.first["name"] == name; });
    };
    const auto twice = [&](Steps& steps, const std::string& name) {
        auto copy = *find(steps, name);
        copy.first["name"] = "again";
        steps.insert(find(steps, name), copy);
    };
    expect_refused("an update removed", [&](Steps& steps) { steps.erase(find(steps, "update.W2")); });
    expect_refused("an update doubled", [&](Steps& steps) { twice(steps, "update.W1"); });
    expect_refused("the mask removed", [&](Steps& steps) { steps.erase(find(steps, "backward.1.mask")); });
    expect_refused("the loss doubled", [&](Steps& steps) { twice(steps, "loss"); });
    expect_refused("no ReLU", [&](Steps& steps) { find(steps, "forward.1.activate")->first["relu"] = false; });
    expect_refused("steps swapped",
                   [&](Steps& steps) { std::swap(*find(steps, "update.W2"), *find(steps, "all_reduce.W2")); });
    expect_refused("other keys of dropout",
                   [&](Steps& steps) { find(steps, "forward.1.activate")->first["layer"] = 1; });
    expect_refused("no evaluation", [&](Steps& steps) {
        std::erase_if(steps, [](const auto& step) { return step.first["phase"] == "evaluation"; });
    });
    expect_refused("an evaluation without ReLU",
                   [&](Steps& steps) { find(steps, "evaluation.forward.1.activate")->first["relu"] = false; });
    expect_refused("a map of another tensor", [&](Steps& steps) {
        const auto mask = find(steps, "backward.1.mask");
        mask->first["operand"] = nullptr;
    });
}

}  // namespace
}  // namespace gnnplan::testing
