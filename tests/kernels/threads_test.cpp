// Large enough for the work to be split: the same bits whatever the number of threads, and from ranks that are threads
// of one process at the same time.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

// Enough for every kernel to split its work, copy_bits (which counts bytes) included.
constexpr std::int64_t vertices = 9000;

struct Results {
    Owned product{vertices, 41};
    Owned activated{vertices, 41};
    Owned gradient{vertices, 41};
    Owned sum{1, 41};
    Owned weight_gradient{41, 41};
    std::vector<std::uint8_t> mask = std::vector<std::uint8_t>((vertices * 41 + 7) / 8);
    std::vector<std::uint8_t> moved = std::vector<std::uint8_t>((vertices * 43 + 7) / 8, 0x55);
    double loss = 0;
};

class Problem {
public:
    Problem() {
        for (std::int64_t i = 0; i < vertices; ++i) label_.push_back(static_cast<std::int32_t>(i % 41));
        // Thirds are inexact, so that another order of a sum would show.
        for (std::int64_t i = 0; i < 500; ++i) {
            for (std::int64_t j = 0; j < 41; ++j) b_.at(i, j) /= 3;
        }
    }

    Results run(const Table& table) const {
        Results r;
        table.spmm(a_.view(), b_.view(), r.product.view(), false, {});
        r.activated = r.product;
        DropoutKey key;
        const PassValues pass = pass_values(1);
        key.pass = &pass;
        key.probability = 0.5F;
        table.activate(r.activated.view(), nullptr, Activation::relu, key, r.mask.data());
        table.copy_bits(r.mask.data(), 41, 0, 0, r.moved.data(), 43, 0, 1, vertices, 41);
        r.gradient = r.product;
        table.gemm(Transpose::yes, Transpose::no, r.product.view(), r.activated.view(), r.weight_gradient.view(),
                   false);
        table.apply_mask(r.gradient.view(), r.mask.data(), 2);
        table.column_sum(r.gradient.view(), r.sum.view().data);
        r.loss = loss_of(table, r.gradient.view(), {label_.data(), split_.data(), 1.0 / static_cast<double>(vertices)});
        return r;
    }

private:
    std::mt19937 random_{1};
    OwnedCsr a_ = random_csr(random_, vertices, 500);
    Owned b_ = Owned(500, 41).fill(random_, 3);
    std::vector<std::int32_t> label_;
    std::vector<std::uint8_t> split_ = std::vector<std::uint8_t>(vertices, training_split);
};

void expect_same(const Results& got, const Results& want) {
    EXPECT_EQ(difference(got.product, want.product), "");
    EXPECT_EQ(difference(got.activated, want.activated), "");
    EXPECT_EQ(difference(got.gradient, want.gradient), "");
    EXPECT_EQ(difference(got.sum, want.sum), "");
    EXPECT_EQ(got.mask, want.mask);
    EXPECT_EQ(got.moved, want.moved);
    EXPECT_EQ(got.loss, want.loss);
}

TEST(Threads, SameBitsForEveryCount) {
    const Problem problem;
    set_threads(1);
    const Results one = problem.run(cpu_table());
    for (const int threads : {2, 3, 5}) {
        set_threads(threads);
        expect_same(problem.run(cpu_table()), one);
    }
    set_threads(1);
    std::vector<std::uint8_t> moved(one.moved.size(), 0x55);
    reference_table().copy_bits(one.mask.data(), 41, 0, 0, moved.data(), 43, 0, 1, vertices, 41);
    EXPECT_EQ(one.moved, moved);
}

// A weight gradient is a sum over the threads' sums, so its bits are promised for equal counts only.
TEST(Threads, GemmRepeatsItsBits) {
    const Problem problem;
    set_threads(3);
    const Results first = problem.run(cpu_table());
    for (int repeat = 0; repeat < 3; ++repeat) {
        EXPECT_EQ(difference(problem.run(cpu_table()).weight_gradient, first.weight_gradient), "");
    }
    set_threads(1);
}

TEST(Threads, RanksOfOneProcessCallAtTheSameTime) {
    const Problem problem;
    set_threads(1);
    const Results alone = problem.run(cpu_table());
    std::mt19937 random(2);
    const Owned a = Owned(200, 300).fill(random, 3);
    const Owned b = Owned(300, 50).fill(random, 3);
    Owned product(200, 50);
    reference_table().gemm(Transpose::no, Transpose::no, a.view(), b.view(), product.view(), false);

    constexpr std::size_t ranks = 4;
    std::vector<Results> results(ranks);
    std::vector<Owned> products(ranks, Owned(200, 50));
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            set_threads(2);
            results[rank] = problem.run(cpu_table());
            for (int repeat = 0; repeat < 5; ++repeat) {
                cpu_table().gemm(Transpose::no, Transpose::no, a.view(), b.view(), products[rank].view(), false);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        expect_same(results[rank], alone);
        EXPECT_EQ(difference(products[rank], product), "");
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
