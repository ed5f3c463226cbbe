#include <gnnplan/ir/config.hpp>

#include <gtest/gtest.h>

namespace gnnplan {
namespace {

// Every way to share nonzeros on every grid of up to 12 ranks: its name names it.
TEST(Scheme, NamesADistribution) {
    for (int x = 1; x <= 12; ++x) {
        for (int y = 1; x * y <= 12; ++y) {
            for (int z = 1; x * y * z <= 12; ++z) {
                for (const Sharing sharing : {Sharing::replicated, Sharing::sharded, Sharing::block_distributed}) {
                    const bool exists =
                        y == 1 ? sharing == Sharing::replicated : sharing != Sharing::block_distributed || z == 1;
                    if (!exists) continue;
                    const Distribution on{sharing, {x, y, z}};
                    EXPECT_EQ(distribution_of(scheme_of(on), on.grid), on) << scheme_of(on) << " " << on.grid.text();
                }
            }
        }
    }
}

TEST(Scheme, IsTheSimplestName) {
    EXPECT_EQ(scheme_of({Sharing::replicated, {4, 1, 1}}), "1d");
    EXPECT_EQ(distribution_of("rdm", {4, 1, 1}), distribution_of("1d", {4, 1, 1}));
    EXPECT_EQ(distribution_of("3d", {2, 2, 1}), distribution_of("2d", {2, 2, 1}));
    EXPECT_EQ(distribution_of("3d", {2, 1, 2}), distribution_of("1.5d", {2, 1, 2}));
    EXPECT_EQ(distribution_of("1d", {2, 2, 1}), std::nullopt);
    EXPECT_EQ(distribution_of("2d", {2, 1, 2}), std::nullopt);
    EXPECT_EQ(distribution_of("1.5d", {2, 2, 2}), std::nullopt);
    EXPECT_EQ(distribution_of("4d", {1, 1, 1}), std::nullopt);
}

TEST(Scheme, ReplicationIsThePapers) {
    EXPECT_EQ(replication_of(Distribution{Sharing::replicated, {2, 4, 1}}), 4);         // R_A
    EXPECT_EQ(replication_of(Distribution{Sharing::block_distributed, {2, 4, 1}}), 4);  // c
    EXPECT_EQ(replication_of(Distribution{Sharing::replicated, {2, 1, 4}}), 4);         // c, nothing replicated
    EXPECT_EQ(replication_of(Distribution{Sharing::sharded, {2, 4, 1}}), 1);
    EXPECT_EQ(replication_of(Distribution{Sharing::replicated, {8, 1, 1}}), 1);
}

TEST(Distribution, SaysWhatMoves) {
    const Distribution row{Sharing::replicated, {4, 1, 1}}, column{Sharing::replicated, {1, 4, 1}};
    const Distribution sharded{Sharing::sharded, {1, 4, 1}}, dealt{Sharing::block_distributed, {2, 2, 1}};
    EXPECT_TRUE(row.sends_rows() && row.can_overlap() && !row.sends_nonzeros() && !row.splits_columns());
    EXPECT_TRUE(!column.sends_rows() && !column.can_overlap() && column.splits_columns());
    EXPECT_TRUE(sharded.sends_nonzeros() && sharded.can_overlap() && sharded.splits_columns());
    EXPECT_TRUE(dealt.sends_rows() && !dealt.sends_nonzeros() && !dealt.splits_columns());
}

TEST(Configuration, KeepsWhatBothPassesUse) {
    Configuration c;
    c.forward = parse_orders("SSD");
    c.operands = parse_operands("TGT");
    EXPECT_EQ(kept_products(c), (std::vector<std::string>{"T1"}));
    c.cached_aggregation = true;
    EXPECT_EQ(kept_products(c), (std::vector<std::string>{"T1 across epochs"}));
}

}  // namespace
}  // namespace gnnplan
