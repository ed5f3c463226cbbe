// A trained model to infer with.
#pragma once

#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace gnnplan::testing {

// The numbers of an .npy of floats.
inline std::vector<float> read_npy(const std::string& path) {
    const std::string text = read_text(path);
    const std::size_t begin = text.find('\n') + 1;
    std::vector<float> values((text.size() - begin) / sizeof(float));
    std::memcpy(values.data(), text.data() + begin, values.size() * sizeof(float));
    return values;
}

// A planted graph, a model trained on it, and what inferring with it makes.
class Inference : public ::testing::Test {
protected:
    const Folder folder;
    const std::string graph = folder / "graph", weights = folder / "weights.safetensors";

    void SetUp() override {
        ASSERT_EQ(
            gnnplan("graph generate planted --classes 3 --vertices 300 --nonzeros 9000 --features 8 -o " + graph).code,
            0);
    }
    void train(const std::string& model) {
        const std::string plan = folder / "train.json";
        ASSERT_EQ(gnnplan("plan --graph " + graph + " --ranks 1 --hidden 12 " + model + " -o " + plan).code, 0);
        const Outcome run = run_program(GNNRUN_TOOL, plan + " --data " + graph + " --epochs 10 --save-weights " +
                                                         weights + " --save-embeddings " + (folder / "trained.npy"));
        ASSERT_EQ(run.code, 0) << run.err;
    }
    // The embeddings of a plan that infers.
    std::vector<float> embeddings(const std::string& flags) const {
        const std::string plan = folder / "infer.json", out = folder / "out.npy";
        const Outcome planned = gnnplan("plan --task infer --graph " + graph + " --hidden 12 " + flags + " -o " + plan);
        EXPECT_EQ(planned.code, 0) << planned.err;
        const Outcome run = run_program(GNNRUN_TOOL, plan + " --data " + graph + " --in-process --load-weights " +
                                                         weights + " --save-embeddings " + out);
        EXPECT_EQ(run.code, 0) << run.err;
        EXPECT_THAT(run.out, ::testing::AllOf(::testing::HasSubstr("inferred"), ::testing::HasSubstr("the pass"),
                                              ::testing::HasSubstr("equal to the byte")));
        return read_npy(out);
    }
};

inline ::testing::AssertionResult near(const std::vector<float>& a, const std::vector<float>& b,
                                       float relative = 1e-5F) {
    if (a.size() != b.size() || a.empty()) return ::testing::AssertionFailure() << a.size() << " and " << b.size();
    float largest = 0, apart = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(b[i])), apart = std::max(apart, std::abs(a[i] - b[i]));
    if (apart <= relative * largest) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << apart << " apart of " << largest;
}

}  // namespace gnnplan::testing
