// Products that look after messages: the same results, and looks by the calling thread alone.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "kernels/look.hpp"
#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {
namespace {

constexpr std::int64_t rows = 3000, columns = 500, width = 33;

struct Products {
    std::mt19937 random{5};
    OwnedCsr matrix = random_csr(random, rows, columns);
    Owned b = Owned(columns, width).fill(random, 3);
    Owned y = Owned(rows, width).fill(random, 3);
    Owned sum{rows, width}, maxima{rows, width}, ties{rows, width}, back{rows, width};
    std::vector<float> scores = std::vector<float>(matrix.column.size());

    void run(Look* look) {
        Csr a = matrix.view();
        a.look = look;
        const Table& table = cpu_table();
        table.spmm(a, b.view(), sum.view(), false, {});
        table.spmm_max(a, b.view(), maxima.view(), ties.view(), false, {});
        table.spmm_max_back(a, b.view(), b.view(), y.view(), back.view(), false);
        table.edge_dot(a, b.view(), y.view(), scores.data());
    }
};

TEST(Look, ChangesNoResult) {
    Products plain, looking;
    plain.run(nullptr);
    for (const int threads : {1, 3}) {
        set_threads(threads);
        for (const std::int64_t flops : {1, 5'000, 100'000}) {
            Look look(flops, [] {});
            looking.run(&look);
            EXPECT_EQ(difference(looking.sum, plain.sum), "");
            EXPECT_EQ(difference(looking.maxima, plain.maxima), "");
            EXPECT_EQ(difference(looking.ties, plain.ties), "");
            EXPECT_EQ(difference(looking.back, plain.back), "");
            EXPECT_EQ(looking.scores, plain.scores);
        }
    }
    set_threads(1);
}

// Rows count as nonzeros do, and each look comes with a chunk of rows.
TEST(Look, ComesAfterItsFlops) {
    Products products;
    set_threads(1);
    const Csr a = products.matrix.view();
    const std::int64_t flops = 2 * (rows + a.nonzeros()) * width;
    for (const std::int64_t every : {flops / 2, flops / 7, flops / 90}) {
        Look look(every, [] {});
        Csr looking = a;
        looking.look = &look;
        cpu_table().spmm(looking, products.b.view(), products.sum.view(), false, {});
        EXPECT_LE(look.count(), flops / every);
        EXPECT_GE(look.count(), flops / every - 1);
    }
}

TEST(Look, IsByTheCallingThread) {
    Products products;
    set_threads(3);
    int others = 0;
    Look look(1000, [&, caller = std::this_thread::get_id()] { others += std::this_thread::get_id() != caller; });
    // On busy cores the caller may come late to all chunks of a product.
    constexpr int least = 20, most = 5000;
    for (int repeat = 0; repeat < least || (look.count() == 0 && repeat < most); ++repeat) products.run(&look);
    set_threads(1);
    EXPECT_GT(look.count(), 0);
    EXPECT_EQ(others, 0);
}

TEST(Look, KeepsWhatIsThrownAndLooksNoMore) {
    Products plain, looking;
    plain.run(nullptr);
    Look look(1000, [] { throw std::runtime_error("lost"); });
    looking.run(&look);
    EXPECT_EQ(look.count(), 1);
    EXPECT_EQ(difference(looking.sum, plain.sum), "") << "the product ends all the same";
    EXPECT_THROW(look.rethrow(), std::runtime_error);
    EXPECT_NO_THROW(Look(1, [] {}).rethrow());
}

}  // namespace
}  // namespace gnnplan::kernels::testing
