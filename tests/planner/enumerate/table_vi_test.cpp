// RDM Table VI: the Pareto-optimal ids of all eight data sets of Table V, 2 layers, 128 hidden features.
#include "planner/enumerate/units.hpp"

#include <gtest/gtest.h>

namespace gnnplan::enumerate {
namespace {

struct Row {
    const char* dataset;
    std::vector<std::int64_t> widths;
    std::vector<std::int64_t> ids;
    Units lowest;  // lowest redistribution units and lowest sparse units of the front
};

const Row table_vi[] = {
    {"OGB-Arxiv", {128, 128, 40}, {5}, {416, 336}},           {"OGB-MAG", {128, 128, 349}, {10}, {512, 512}},
    {"OGB-Products", {100, 128, 47}, {5}, {388, 294}},        {"Reddit", {602, 128, 41}, {2, 3, 10}, {512, 338}},
    {"Web-Google", {256, 128, 100}, {2, 3, 10}, {512, 456}},  {"Com-Orkut", {128, 128, 100}, {5, 10}, {512, 456}},
    {"CAMI Airways", {256, 128, 25}, {2, 3, 10}, {512, 306}}, {"CAMI Oral", {256, 128, 32}, {2, 3, 10}, {512, 320}},
};

TEST(TableVI, ParetoIdsOfEveryDataSet) {
    for (const Row& row : table_vi) {
        std::vector<Units> units;
        for (const OrderPair& pair : all_orders(2)) units.push_back(paper_units(pair, row.widths));
        const auto front = pareto_front(units);
        std::vector<std::int64_t> ids;
        Units lowest{1e18, 1e18};
        for (std::size_t id = 0; id < units.size(); ++id) {
            if (!front[id]) continue;
            ids.push_back(static_cast<std::int64_t>(id));
            lowest.redistribution = std::min(lowest.redistribution, units[id].redistribution);
            lowest.sparse = std::min(lowest.sparse, units[id].sparse);
        }
        EXPECT_EQ(ids, row.ids) << row.dataset;
        EXPECT_EQ(lowest, row.lowest) << row.dataset;
    }
}

}  // namespace
}  // namespace gnnplan::enumerate
