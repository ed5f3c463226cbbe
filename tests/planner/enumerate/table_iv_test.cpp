// RDM Table IV, row by row, as linear forms in f_in, f_h, f_out and the two minima, with the errata of
// docs/cost-model.md.
#include "planner/enumerate/units.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::enumerate {
namespace {

// a f_in + b f_h + c f_out + d min(f_h, f_out) + e min(f_in, f_h)
struct Form {
    double in, hidden, out, min_hidden_out = 0, min_in_hidden = 0;

    double at(const std::vector<std::int64_t>& f) const {
        const auto [i, h, o] =
            std::tuple(static_cast<double>(f[0]), static_cast<double>(f[1]), static_cast<double>(f[2]));
        return in * i + hidden * h + out * o + min_hidden_out * std::min(h, o) + min_in_hidden * std::min(i, h);
    }
};

struct Row {
    std::int64_t id;
    const char* forward;   // layers 1, 2
    const char* backward;  // layers 2, 1
    Form communication, sparse;
};

const Row table_iv[] = {
    {0, "SS", "SS", {1, 4, 2}, {1, 2, 1}},
    {1, "SD", "SS", {1, 2, 4}, {1, 1, 2}},
    {2, "DS", "SS", {0, 4, 2}, {0, 3, 1}},
    {3, "DD", "SS", {0, 4, 4}, {0, 2, 2}},
    {4, "SS", "SD", {2, 2, 2}, {2, 1, 1}},
    {5, "SD", "SD", {2, 0, 4}, {2, 0, 2}},
    {6, "DS", "SD", {1, 2, 2, 0, 2}, {1, 2, 1, 0, 1}},
    {7, "DD", "SD", {1, 2, 4, 0, 2}, {1, 1, 2, 0, 1}},
    {8, "SS", "DS", {1, 4, 0}, {1, 3, 0}},
    {9, "SD", "DS", {1, 2, 2, 2, 0}, {1, 2, 1, 1, 0}},
    {10, "DS", "DS", {0, 4, 0}, {0, 4, 0}},
    {11, "DD", "DS", {0, 4, 2, 2, 0}, {0, 3, 1, 1, 0}},
    {12, "SS", "DD", {2, 4, 0}, {2, 2, 0}},
    // Printed f_in in the communication column; the rules of sections III and IV give 2 f_in.
    {13, "SD", "DD", {2, 2, 2, 2, 0}, {2, 1, 1, 1, 0}},
    {14, "DS", "DD", {1, 4, 0, 0, 2}, {1, 3, 0, 0, 1}},
    // Printed 3 f_out in the communication column, and 4 f_h + 3 f_out + ... in the sparse column.
    {15, "DD", "DD", {1, 4, 2, 2, 2}, {1, 2, 1, 1, 1}},
};

TEST(TableIV, EveryRowForWidthsOfEveryOrder) {
    // Widths whose small integer combinations are all different, in all six orders, and with ties.
    const std::vector<std::vector<std::int64_t>> widths = {{10007, 101, 1}, {10007, 1, 101}, {101, 10007, 1},
                                                           {101, 1, 10007}, {1, 10007, 101}, {1, 101, 10007},
                                                           {64, 64, 64}};
    const auto orders = all_orders(2);
    ASSERT_EQ(orders.size(), std::size(table_iv));
    for (const auto& f : widths) {
        for (const Row& row : table_iv) {
            const OrderPair& pair = orders[static_cast<std::size_t>(row.id)];
            EXPECT_EQ(text(pair.forward), row.forward);
            EXPECT_EQ(text(pair.backward), row.backward);
            EXPECT_EQ(paper_id(pair.forward, pair.backward), row.id);
            const Units units = paper_units(pair, f);
            EXPECT_EQ(units.redistribution, row.communication.at(f)) << "id " << row.id;
            EXPECT_EQ(units.sparse, row.sparse.at(f)) << "id " << row.id;
        }
    }
}

TEST(TableIV, IdsCountBackwardLettersFirst) {
    EXPECT_EQ(paper_id(parse_orders("DSS"), parse_orders("DSS")), 36);
    EXPECT_EQ(paper_id(parse_orders("S"), parse_orders("D")), 2);
    EXPECT_EQ(all_orders(3).size(), 64U);  // 4^L, not the 2^L of the paper's text
    EXPECT_EQ(all_orders(6).size(), 4096U);
    EXPECT_THROW(all_orders(7), Error);
    EXPECT_THROW(all_orders(0), Error);
    EXPECT_THROW(parse_orders("SX"), Error);
}

}  // namespace
}  // namespace gnnplan::enumerate
