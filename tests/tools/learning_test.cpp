// A run learns the same whatever the plan: accuracies of vertices with labels, the degrees that weigh edges, and the
// same bits from the same seed.
#include "planner/io/checkpoint.hpp"
#include "tests/support/test_files.hpp"
#include "tests/tools/inference.hpp"

#include <limits>

namespace gnnplan::testing {
namespace {

class Learning : public ::testing::Test {
protected:
    using Array = data::files::Array;
    using I64 = std::int64_t;
    static constexpr I64 vertices = 40, features = 2;

    // Two rings of 20 vertices, each of a class of its own that the features tell. Vertices are trained, validated and
    // tested in turn; `hidden` are those whose labels are not known.
    std::string write(const std::string& name, const std::vector<I64>& hidden) const {
        std::vector<I64> ends;
        for (const I64 step : {1, 19}) {
            for (I64 v = 0; v < vertices; ++v) ends.push_back(v / 20 * 20 + (v + step) % 20);
        }
        std::vector<I64> from;
        for (I64 e = 0; e < 2 * vertices; ++e) from.push_back(e % vertices);
        from.insert(from.end(), ends.begin(), ends.end());
        std::vector<float> x;
        std::vector<double> y;
        std::string masks[3];
        for (I64 v = 0; v < vertices; ++v) {
            x.insert(x.end(), {v < 20 ? 1.0F : 0.0F, v < 20 ? 0.0F : 1.0F});
            const bool unknown = std::ranges::find(hidden, v) != hidden.end();
            y.push_back(unknown ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(v / 20));
            for (I64 s = 0; s < 3; ++s) masks[s] += v % 3 == s ? '\1' : '\0';
        }
        std::vector<Array> arrays{{"edge_index", "<i8", {2, 2 * vertices}, data::files::bytes_of(from)},
                                  {"x", "<f4", {vertices, features}, data::files::bytes_of(x)},
                                  {"y", "<f8", {vertices}, data::files::bytes_of(y)}};
        for (I64 s = 0; s < 3; ++s)
            arrays.push_back(
                {std::vector<std::string>{"train", "val", "test"}[s] + "_mask", "|b1", {vertices}, masks[s]});
        return save(name, arrays);
    }
    std::string save(const std::string& name, const std::vector<Array>& arrays) const {
        const std::filesystem::path path = folder.path() / name;
        std::filesystem::rename(data::files::write_npz(folder, arrays), path);
        return path;
    }
    void make_plan(const std::string& data, const std::string& flags) const {
        const Outcome planned = gnnplan("plan --graph " + data + " -o " + plan + " " + flags);
        ASSERT_EQ(planned.code, 0) << planned.err;
    }
    void run(const std::string& data, const std::string& flags) const {
        const Outcome ran = run_program(GNNRUN_TOOL, plan + " --in-process --data " + data + " " + flags);
        ASSERT_EQ(ran.code, 0) << ran.err;
    }
    nlohmann::json last_epoch(const std::string& data) const {
        run(data, "--threads 1 --epochs 60 --eval-every 60 --lr 0.1 --autotune 0 --report " + report);
        return nlohmann::json::parse(read_text(report))["epochs"].back();
    }
    std::string weights(const std::string& data, const std::string& flags) const {
        run(data, "--epochs 5 --autotune 0 --save-weights " + saved + " " + flags);
        std::string bytes;
        for (const NamedTensor& tensor : io::read_weights(read_text(saved), saved))
            bytes += data::files::bytes_of(tensor.values);
        return bytes;
    }

    const data::files::TempFolder folder;
    const std::string plan = folder / "plan.json", report = folder / "report.json", saved = folder / "w.safetensors";
};

// Public data sets and leaderboards hide labels of the validation or test set.
TEST_F(Learning, AccuraciesAreOverVerticesWithLabels) {
    const std::string full = write("full.npz", {}), half = write("half.npz", {1, 4, 7, 2, 5, 8, 11});
    std::vector<I64> tests;
    for (I64 v = 2; v < vertices; v += 3) tests.push_back(v);
    const std::string none = write("none.npz", tests);
    for (const std::string flags : {"--ranks 1", "--ranks 3", "--ranks 2 --grid 1x2"}) {
        nlohmann::json loss;
        for (const std::string& data : {full, half, none}) {
            make_plan(data, "--hidden 8 " + flags);
            const nlohmann::json epoch = last_epoch(data);
            if (loss.is_null()) loss = epoch["loss"];
            EXPECT_EQ(epoch["loss"], loss) << data << " " << flags;
            EXPECT_EQ(epoch["train_accuracy"], 1) << data << " " << flags;
            EXPECT_EQ(epoch["valid_accuracy"], 1) << data << " " << flags;
            if (data == none) {
                EXPECT_TRUE(epoch["test_accuracy"].is_null()) << flags;
            } else {
                EXPECT_EQ(epoch["test_accuracy"], 1) << data << " " << flags;
            }
        }
    }
}

// docs/models.md, "Degrees and self loops": the out-degree of the source and the in-degree of the target, with the loop
// of each vertex; loops of the data are dropped, and edges that are listed twice count once.
TEST_F(Learning, AnEdgeOfADirectedGraphIsDividedByTheDegreesOfItsEnds) {
    const std::vector<std::pair<I64, I64>> listed{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 1}, {3, 3}, {0, 1}};
    constexpr I64 count = 5;  // vertex 4 has no edges
    std::vector<I64> ends;
    for (const auto& edge : listed) ends.push_back(edge.first);
    for (const auto& edge : listed) ends.push_back(edge.second);
    const std::vector<float> x{1, 2, -3, 0.5F, 4};
    const std::string data =
        save("directed.npz", {{"edge_index", "<i8", {2, std::ssize(listed)}, data::files::bytes_of(ends)},
                              {"x", "<f4", {count, 1}, data::files::bytes_of(x)},
                              {"y", "<i8", {count}, data::files::bytes_of<I64>({0, 1, 0, 1, 0})},
                              {"train_idx", "<i8", {2}, data::files::bytes_of<I64>({0, 1})}});
    // Pairs of distinct edges with the loops: out-degrees 4, 2, 2, 1, 1 and in-degrees 1, 3, 3, 2, 1.
    const std::vector<double> out{4, 2, 2, 1, 1}, in{1, 3, 3, 2, 1};
    std::vector<double> sum;
    for (std::size_t v = 0; v < count; ++v) sum.push_back(x[v] / std::sqrt(out[v] * in[v]));
    for (const auto& [from, to] :
         std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 1}})
        sum[to] += x[from] / std::sqrt(out[from] * in[to]);
    for (const std::string ranks : {"1", "2"}) {
        make_plan(data, "--layers 1 --ranks " + ranks);
        run(data, "--epochs 1 --threads 1 --save-weights " + saved + " --save-embeddings " + (folder / "e.npy"));
        const auto weight = io::read_weights(read_text(saved), saved).front().values;
        const std::vector<float> made = read_npy(folder / "e.npy");
        ASSERT_EQ(weight.size(), 2U);
        ASSERT_EQ(made.size(), 2 * sum.size());
        for (std::size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(made[i], sum[i / 2] * weight[i % 2], 1e-5) << i;
    }
}

// docs/checkpoints.md, "The same bits again".
TEST_F(Learning, TheSameSeedGivesTheSameBitsWithoutTuning) {
    const std::string data = write("full.npz", {});
    for (const std::string ranks : {"1", "3"}) {
        make_plan(data, "--hidden 8 --dropout 0.5 --ranks " + ranks);
        const std::string first = weights(data, "--seed 7 --threads 1");
        EXPECT_EQ(weights(data, "--seed 7 --threads 1"), first) << ranks;
        EXPECT_EQ(weights(data, "--seed 7 --threads 2"), first) << ranks;
        EXPECT_NE(weights(data, "--seed 8 --threads 1"), first) << ranks;
    }
    make_plan(data, "--hidden 8 --dropout 0.5 --ranks 3 --loss-rows off");
    EXPECT_EQ(weights(data, "--seed 7 --load sharded"), weights(data, "--seed 7 --load whole"));
}

}  // namespace
}  // namespace gnnplan::testing
