#include "planner/catalog/cards.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/catalog.hpp>

#include <set>

namespace gnnplan::catalog {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Printed {
    const char* selector;
    std::int64_t vertices, edges, features, classes, nonzeros;
};

// The rows of the publications' tables, read again from the texts; 0 where a table has no such column.
// Nonzeros: as printed for GNN-RDM, CAGNET and MG-GCN's dense graphs, else edges + vertices.
const Printed printed[] = {
    // GNN-RDM Table V: OGB-Arxiv 169,343 1,166,243 128 40
    {"ogbn-arxiv:rdm", 169343, 1166243, 128, 40, 1166243},
    // OGB-MAG 1,939,743 21,111,007 128 349
    {"ogbn-mag:rdm", 1939743, 21111007, 128, 349, 21111007},
    // OGB-Products 2,449,029 61,859,140 100 47
    {"ogbn-products:rdm", 2449029, 61859140, 100, 47, 61859140},
    // Reddit 232,965 114,848,857 602 41
    {"reddit:rdm", 232965, 114848857, 602, 41, 114848857},
    // Web-Google 875,713 5,105,039 256 100
    {"web-google:rdm", 875713, 5105039, 256, 100, 5105039},
    // Com-Orkut 3,072,441 117,185,083 128 100
    {"com-orkut:rdm", 3072441, 117185083, 128, 100, 117185083},
    // CAMI Airways 1,000,000 22,901,745 256 25
    {"cami-airways", 1000000, 22901745, 256, 25, 22901745},
    // CAMI Oral 1,000,000 20,734,972 256 32
    {"cami-oral", 1000000, 20734972, 256, 32, 20734972},
    // CAGNET Table III: Reddit 232,965 114,848,857 602 41
    {"reddit:cagnet", 232965, 114848857, 602, 41, 114848857},
    // Amazon 14,249,639 230,788,269 300 24
    {"amazon", 14249639, 230788269, 300, 24, 230788269},
    // Protein 8,745,542 2,116,240,124 128 256
    {"protein", 8745542, 2116240124, 128, 256, 2116240124},
    // MG-GCN Table 1: Cora 3.3K 9.2K 3.7K 6
    {"cora:mg-gcn", 3300, 9200, 3700, 6, 12500},
    // Arxiv 169K 1.16M 128 40
    {"ogbn-arxiv:mg-gcn", 169000, 1160000, 128, 40, 1329000},
    // Papers 111M 1.61B 128 172
    {"ogbn-papers100m:mg-gcn", 111000000, 1610000000, 128, 172, 1721000000},
    // Products 2.5M 126M 104 47
    {"ogbn-products:mg-gcn", 2500000, 126000000, 104, 47, 126000000},
    // Proteins 8.74M 1.3B 128 256
    {"protein:mg-gcn", 8740000, 1300000000, 128, 256, 1308740000},
    // Reddit 233K 115M 602 41
    {"reddit:mg-gcn", 233000, 115000000, 602, 41, 115000000},
    // DistGNN Table 2: AM 881,680 5,668,682 1 11
    {"am", 881680, 5668682, 1, 11, 6550362},
    // Reddit 232,965 114,615,892 602 41: with loops the count that GNN-RDM and CAGNET print
    {"reddit:distgnn", 232965, 114615892, 602, 41, 114848857},
    // OGBN-Products 2,449,029 123,718,280 100 47
    {"ogbn-products:distgnn", 2449029, 123718280, 100, 47, 126167309},
    // Proteins 8,745,542 1,309,240,502 128 256
    {"protein:distgnn", 8745542, 1309240502, 128, 256, 1317986044},
    // OGBN-Papers 111,059,956 1,615,685,872 128 172
    {"ogbn-papers100m:distgnn", 111059956, 1615685872, 128, 172, 1726745828},
    // DEAL Table 4: ogbn-products 2.4M 123M; text: feature dimension 100, 128 for the others
    {"ogbn-products:deal", 2400000, 123000000, 100, 0, 125400000},
    // social-spammer 5.6M 858M
    {"social-spammer", 5600000, 858000000, 128, 0, 863600000},
    // ogbn-papers100M 111M 1.6B
    {"ogbn-papers100m:deal", 111000000, 1600000000, 128, 0, 1711000000},
    // Not in the papers: the graphs that people download, and OGB's arxiv with reverse edges.
    {"cora", 2708, 10556, 1433, 7, 13264},
    {"ogbn-arxiv", 169343, 1166243, 128, 40, 1335586},
    {"ogbn-mag", 736389, 5416271, 128, 349, 6152660},
    // OGB lists 123,718,280 edges, 256 of them self loops.
    {"ogbn-products", 2449029, 123718024, 100, 47, 126167053},
    {"ogbn-papers100m", 111059956, 1615685872, 128, 172, 1726745828},
    {"reddit", 232965, 114615892, 602, 41, 114848857},
    {"web-google", 875713, 5105039, 256, 100, 5980752},
    {"com-orkut", 3072441, 234370166, 128, 100, 237442607},
    {"ogbn-arxiv:undirected", 169343, 2315598, 128, 40, 2484941},
    // OGB lists 39,561,252 edges once; PyG's pages of Flickr, Yelp and AmazonProducts.
    {"ogbn-proteins", 132534, 79122504, 8, 112, 79255038},
    {"flickr", 89250, 899756, 500, 7, 989006},
    {"yelp", 716847, 13954819, 300, 100, 14671666},
    {"amazon-products", 1569960, 264339468, 200, 107, 265909428},
};

TEST(Cards, FiguresAreThePublications) {
    for (const Printed& row : printed) {
        SCOPED_TRACE(row.selector);
        const Card& card = find_card(row.selector);
        EXPECT_EQ(card.vertices, row.vertices);
        EXPECT_EQ(card.edges, row.edges);
        EXPECT_EQ(card.features, row.features);
        EXPECT_EQ(card.classes, row.classes);
        EXPECT_EQ(card.nonzeros, row.nonzeros);
        EXPECT_EQ(selector_of(card), row.selector);
    }
    EXPECT_EQ(cards().size(), std::size(printed)) << "a card without a row in this test";
}

TEST(Cards, SeveralLabelsAreSaid) {
    for (const char* name : {"ogbn-proteins", "yelp", "amazon-products"}) {
        EXPECT_TRUE(find_card(name).several_labels) << name;
        EXPECT_TRUE(gnnplan::card(name).several_labels) << name;
    }
    EXPECT_FALSE(find_card("flickr").several_labels);
}

TEST(Cards, EveryDataSetOfThePapersIsThere) {
    EXPECT_THAT(card_names(),
                UnorderedElementsAre("ogbn-proteins", "flickr", "yelp", "amazon-products", "cora", "ogbn-arxiv",
                                     "ogbn-mag", "ogbn-products", "reddit", "web-google", "com-orkut", "cami-airways",
                                     "cami-oral", "amazon", "protein", "ogbn-papers100m", "am", "social-spammer"));
}

TEST(Cards, AreUniqueNameTheirSourceAndSayWhenRounded) {
    std::set<std::string> selectors;
    for (const Card& card : cards()) {
        SCOPED_TRACE(selector_of(card));
        EXPECT_TRUE(selectors.insert(selector_of(card)).second);
        EXPECT_FALSE(card.source.empty());
        EXPECT_EQ(card.rounded, card.vertices % 100 == 0 && card.edges % 100 == 0);
        EXPECT_LE(card.training_vertices.value_or(0), card.vertices);
    }
    // DistGNN, section 6.3: 196,615 of Products' and 1,207,179 of Papers' vertices are training vertices.
    EXPECT_EQ(find_card("ogbn-products:distgnn").training_vertices, 196615);
    EXPECT_EQ(find_card("ogbn-papers100m").training_vertices, 1207179);
    EXPECT_EQ(find_card("reddit:rdm").training_vertices, std::nullopt);
    // The splits of OGB and of Hamilton et al.
    EXPECT_EQ(find_card("ogbn-arxiv").training_vertices, 90941);
    EXPECT_EQ(find_card("reddit").training_vertices, 153431);
}

TEST(Cards, DirectedDataSetsAreNotSymmetric) {
    for (const char* name : {"ogbn-arxiv", "ogbn-mag", "web-google", "ogbn-papers100m", "am", "social-spammer"}) {
        EXPECT_FALSE(find_card(name).symmetric) << name;
    }
    for (const char* name : {"cora", "reddit", "ogbn-products", "com-orkut", "protein", "ogbn-arxiv:undirected"}) {
        EXPECT_TRUE(find_card(name).symmetric) << name;
    }
}

TEST(Cards, VariantsStandTogetherDefaultFirst) {
    EXPECT_EQ(variants_of("reddit").size(), 5U);
    EXPECT_EQ(variants_of("reddit").front().variant, "pyg");
    EXPECT_EQ(&find_card("reddit:pyg"), &find_card("reddit"));
    EXPECT_EQ(find_card("reddit:rdm").source, "GNN-RDM Table V");
    EXPECT_THAT(variants_of("no-such-data-set"), IsEmpty());
}

std::string refusal(const char* selector) {
    try {
        find_card(selector);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::missing_input);
        return error.what();
    }
    return "found";
}

TEST(FindCard, SuggestsNearNames) {
    EXPECT_THAT(refusal("redit"), AllOf(HasSubstr("redit:"), HasSubstr("did you mean reddit?")));
    EXPECT_THAT(refusal("papers100M"), HasSubstr("did you mean ogbn-papers100m?"));
    EXPECT_THAT(refusal("redit:rdm"), HasSubstr("did you mean reddit?"));
    EXPECT_THAT(refusal("reddit:cagnat"), HasSubstr("did you mean reddit:cagnet"));
    EXPECT_THAT(refusal("reddit:"), HasSubstr("reddit:cagnet"));
    EXPECT_THAT(refusal("zzzzzzzz"), HasSubstr("known: cora, ogbn-arxiv"));
    EXPECT_THAT(refusal(""), HasSubstr("known: cora"));
}

// DistGNN's Table 4.
TEST(Cards, KnowHowTheyCutWhereItIsPublished) {
    EXPECT_EQ(find_card("reddit").replication, (std::vector<double>{1.75, 2.94, 4.66, 6.93}));
    EXPECT_EQ(find_card("ogbn-products:distgnn").replication.back(), 5.74);
    EXPECT_EQ(gnnplan::card("ogbn-papers100m").replication[4], 4.63);
    EXPECT_TRUE(find_card("com-orkut").replication.empty());
}

}  // namespace
}  // namespace gnnplan::catalog
