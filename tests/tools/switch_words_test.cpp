// Words of switches: cells, legends, pins and docs/words.md agree.
#include "tools/advise/switch_words.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/gnnplan/plan_legend.hpp"
#include "tools/text/lines.hpp"

#include <gnnplan/base/words.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace gnnplan::tools {
namespace {

using ::testing::Contains;
using ::testing::UnorderedElementsAreArray;

Configuration plain() {
    Configuration configuration;
    configuration.grid = {4, 1, 1};
    configuration.forward = configuration.backward = {Order::sparse_first, Order::sparse_first};
    configuration.operands = {Operand::gradient, Operand::gradient};
    return configuration;
}

template <class Change>
Configuration with(const Change& change) {
    Configuration configuration = plain();
    change(configuration);
    return configuration;
}

struct Example {
    std::string word;
    Configuration configuration;
};

// A configuration for every word, whose cell has it.
std::vector<Example> examples() {
    const auto scores = [](Scores made) { return with([&](Configuration& c) { c.scores = made; }); };
    return {
        {"ÂX once", with([](Configuration& c) { c.constant_input = c.cached_aggregation = true; })},
        {"keep", with([](Configuration& c) { c.operands.back() = Operand::product; })},
        {"panels", with([](Configuration& c) { c.exchange = Exchange::panels; })},
        {"rows", with([](Configuration& c) { c.exchange = Exchange::rows; })},
        {"relay", with([](Configuration& c) { c.exchange = Exchange::relay; })},
        {"relayed rows", with([](Configuration& c) { c.exchange = Exchange::relayed_rows; })},
        {"overlap", with([](Configuration& c) { c.overlap = true; })},
        {"permuted", with([](Configuration& c) { c.permutation = true; })},
        {"parts", with([](Configuration& c) { c.parts = 4; })},
        {"libra cut", with([](Configuration& c) { c.cut_rule = CutRule::libra; })},
        {"seeded cut", with([](Configuration& c) { c.cut_rule = CutRule::seeded; })},
        {"cover cut", with([](Configuration& c) { c.cut_rule = CutRule::cover; })},
        {"0c", with([](Configuration& c) { c.clones = CloneLoss::shares; })},
        {"0c:owners", with([](Configuration& c) { c.clones = CloneLoss::owners; })},
        {"cd-0", with([](Configuration& c) { c.clones = CloneLoss::owners, c.delay = 0; })},
        {"cd-r", with([](Configuration& c) { c.clones = CloneLoss::owners, c.delay = 5; })},
        {"X replicated", with([](Configuration& c) { c.replicated_input = true; })},
        {"X constant", with([](Configuration& c) { c.constant_input = true; })},
        {"loss by columns", with([](Configuration& c) { c.column_loss = true; })},
        {"pruned", with([](Configuration& c) { c.loss_rows = true; })},
        {"factored", with([](Configuration& c) { c.factored_values = true; })},
        {"whole-row scores", scores(Scores::whole_rows)},
        {"dealt-row scores", scores(Scores::dealt_rows)},
        {"stored attention", with([](Configuration& c) { c.attention = AttentionScores::stored; })},
        {"ring", with([](Configuration& c) { c.ring = true; })},
        {"nodes along x", with([](Configuration& c) { c.node_axis = NodeAxis::x; })},
        {"nodes along z", with([](Configuration& c) { c.node_axis = NodeAxis::z; })},
        {"bf16 operands", with([](Configuration& c) { c.bf16 = true; })},
        {"bf16 messages", with([](Configuration& c) { c.wire = Wire::bfloat16; })},
        {"inexact", with([](Configuration& c) { c.bf16 = true; })},
        {"activations recomputed", with([](Configuration& c) { c.remade = remade_from_norms; })},
        {"layers recomputed at once", with([](Configuration& c) { c.remade = 2; })},
    };
}

// "4 parts" -> "parts", "keep ÂH1" -> "keep".
std::string word_of(const std::string& part) {
    if (part.starts_with("keep ")) return "keep";
    const std::size_t space = part.find(' ');
    const bool counts = space != std::string::npos && part.find_first_not_of("0123456789") == space;
    return counts ? part.substr(space + 1) : part;
}

// On one line, as broken lines hide words from a search.
std::string legend_of(const Configuration& configuration) {
    RankedConfiguration ranked;
    ranked.configuration = configuration;
    std::string line;
    for (const std::string& part : split(plan_legend({&ranked}, Task::train, {Objective::time}, 1), "\n"))
        line += " " + part.substr(std::min(part.size(), part.find_first_not_of(' ')));
    return line;
}

TEST(SwitchWords, ThereIsAnExampleOfEveryWord) {
    std::vector<std::string> known, shown;
    for (const CellWord& cell : cell_words()) known.push_back(cell.word);
    for (const Example& example : examples()) shown.push_back(example.word);
    EXPECT_THAT(shown, UnorderedElementsAreArray(known));
}

TEST(SwitchWords, TheLegendExplainsEveryWordOfACellAndNoOther) {
    EXPECT_EQ(choices_cell(plain()), "-");
    for (const Example& example : examples()) {
        std::vector<std::string> words;
        for (const std::string& part : split(choices_cell(example.configuration), ", ")) words.push_back(word_of(part));
        EXPECT_THAT(words, Contains(example.word));
        const std::string legend = legend_of(example.configuration);
        for (const CellWord& cell : cell_words()) {
            const bool said = std::find(words.begin(), words.end(), cell.word) != words.end();
            const std::string sentence = ". " + cell.word + ": " + cell.meaning;
            EXPECT_EQ(legend.find(sentence) != std::string::npos, said) << sentence << "\n" << legend;
        }
    }
}

TEST(SwitchWords, CellsCountParts) {
    EXPECT_EQ(choices_text(with([](Configuration& c) { c.parts = 4; })), "4 parts");
    EXPECT_EQ(choices_text(with([](Configuration& c) { c.parts = 1; })), "-");
}

// An inference reads its features once.
TEST(SwitchWords, ConstantFeaturesAreSaidWhereNothingElseSaysSo) {
    const auto cell = [](const Configuration& c) { return choices_cell(c); };
    EXPECT_EQ(cell(with([](Configuration& c) { c.constant_input = true; })), "X constant");
    EXPECT_EQ(cell(with([](Configuration& c) { c.constant_input = c.cached_aggregation = true; })), "ÂX once");
    EXPECT_EQ(cell(with([](Configuration& c) {
                  c.constant_input = true;
                  c.backward.clear();
                  c.operands.clear();
              })),
              "-");
}

// The words in the first columns of the page's tables: "orders" and "S" of "| S, D, in tables: orders | ... |".
std::vector<std::string> words_of_page() {
    std::ifstream page(GNNPLAN_WORDS_PAGE);
    std::vector<std::string> words;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| ")) continue;
        for (const std::string& word : split(line.substr(2, line.find(" |", 2) - 2), ", ")) {
            constexpr std::string_view in_tables = "in tables: ";
            words.push_back(word.starts_with(in_tables) ? word.substr(in_tables.size()) : word);
        }
    }
    return words;
}

TEST(SwitchWords, ThePageOfWordsHasThoseOfCellsAndLegends) {
    const std::vector<std::string> page = words_of_page();
    for (const CellWord& cell : cell_words()) EXPECT_THAT(page, Contains(cell.word));
    for (const char* word : {"S", "D", "load + pass", "Pareto front", "peak/rank", "volume", "ratio", "C", "R",
                             "C -> R", "paper", "full", "busiest", "runner-up", "card"})
        EXPECT_THAT(page, Contains(word));
}

TEST(SwitchWords, EveryFlagPinsEveryValueThatItTakes) {
    for (const SwitchWords* row : pinnable_switches()) {
        ASSERT_NE(row, nullptr);
        std::vector<FlagValue> values = row->pin.values;
        if (values.empty()) values = {{"", 1}};  // a flag that has no value says "on"
        for (const FlagValue& value : values) {
            SelectOptions options;
            if (value.spelling == "sddmm") {
                EXPECT_THROW(pin_switch(options, row->key, value.spelling), Error);
                continue;
            }
            EXPECT_EQ(row->pin.pinned(options), std::nullopt) << row->key;
            std::string spelling = value.spelling;
            if (value.numbered) spelling.back() = '7';
            pin_switch(options, row->key, spelling);
            EXPECT_EQ(row->pin.pinned(options), value.value) << row->key << " " << value.spelling;
            EXPECT_LT(value.value, row->values.size()) << row->key;
        }
    }
}

TEST(SwitchWords, AFlagTakesNumbersOfEpochs) {
    const PinWords& pin = find_switch_words("clones")->pin;
    for (const char* text : {"0c", "0c:owners", "cd:0", "cd:5", "cd:1000"}) EXPECT_TRUE(pin.takes(text)) << text;
    for (const char* text : {"", "cd", "cd:", "cd:R", "cd:-1", "cd:5x", "cd: 5", "cd:1001", "cd:99999999999", "1c"})
        EXPECT_FALSE(pin.takes(text)) << text;
    SelectOptions options;
    pin_switch(options, "clones", "cd:12");
    EXPECT_EQ(options.delay, 12);
    EXPECT_EQ(options.clones, CloneLoss::owners);
}

TEST(SwitchWords, HelpListsEverySwitchThatHasAFlagOnce) {
    std::vector<std::string> listed, known;
    for (const SwitchWords* row : pinnable_switches()) listed.push_back(row->key);
    for (const SwitchWords& row : switch_words()) {
        if (!row.pin.flag.empty()) known.push_back(row.key);
    }
    EXPECT_THAT(listed, UnorderedElementsAreArray(known));
}

TEST(SwitchWords, FlagsAreNamedWithTheirValues) {
    const auto named = [](const char* key, std::size_t value) { return find_switch_words(key)->flag_with(value); };
    EXPECT_EQ(named("scores", 1), "--scores whole-rows");
    EXPECT_EQ(named("overlap", 0), "--overlap off");
    EXPECT_EQ(named("factored_values", 1), "--values factored");
    EXPECT_EQ(named("bf16", 1), "--bf16");
    EXPECT_EQ(named("wire", 1), "--wire bf16");
}

struct Keys {
    std::vector<std::string> keys;
    template <class T>
    void value(const char* key, const T&, const FeltBy&) {
        keys.emplace_back(key);
    }
    template <class T>
    void optional(const char* key, const T&, const FeltBy&) {
        keys.emplace_back(key);
    }
};

TEST(SwitchWords, EverySwitchOfAConfigurationHasWords) {
    Keys switches;
    const Configuration configuration;
    Switches::fields(configuration.switches(), switches);
    for (const std::string& key : switches.keys) EXPECT_NE(find_switch_words(key), nullptr) << key;
}

}  // namespace
}  // namespace gnnplan::tools
