#include "planner/catalog/publications.hpp"

#include "planner/catalog/cards.hpp"
#include "planner/catalog/machines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::catalog {
namespace {

using ::testing::ElementsAre;

// The value of "key=value" in a line of settings; "" where there is none.
std::string value_of(const std::string& settings, const std::string& key) {
    const std::size_t begin = (" " + settings).find(" " + key + "=");
    if (begin == std::string::npos) return "";
    const std::size_t value = begin + key.size() + 1;
    return settings.substr(value, settings.find(' ', value) - value);
}

TEST(PaperFigures, AreThoseOfTheFivePapers) {
    EXPECT_THAT(publication_names(), ElementsAre("rdm", "cagnet", "mg-gcn", "distgnn", "deal"));
    EXPECT_THROW(find_publication("gnn-rdm"), Error);
    EXPECT_EQ(find_publication("deal").task, Task::infer);
}

TEST(PaperFigures, HaveMachinesAndCardsOfTheCatalogAndAFigureForEachRun) {
    for (const PaperFigure& publication : publications()) {
        EXPECT_NO_THROW(find_machine(value_of(publication.settings, "machine"))) << publication.name;
        const auto columns = std::ranges::count(publication.along, ',') + 1;
        EXPECT_EQ(publication.competitors.empty(), publication.printed_of.empty()) << publication.name;
        for (const PublishedCase& each : publication.cases) {
            EXPECT_NO_THROW(find_card(value_of(each.settings, "graph"))) << each.name;
            EXPECT_EQ(static_cast<std::ptrdiff_t>(each.printed.size()), columns) << publication.name << each.name;
        }
    }
}

}  // namespace
}  // namespace gnnplan::catalog
