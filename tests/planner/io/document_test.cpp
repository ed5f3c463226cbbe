#include "planner/io/document.hpp"

#include "planner/io/parse.hpp"
#include "tests/planner/io/expect_error.hpp"

#include <limits>

namespace gnnplan::io {
namespace {

using test::expect_error;

Document parsed(std::string_view text) { return parse(text, "file"); }

TEST(Document, WholeNumbersAreIntegers) {
    EXPECT_EQ(dump(512.0), "512");
    EXPECT_EQ(dump(-3.0), "-3");
    EXPECT_EQ(dump(-0.0), "0");
    EXPECT_EQ(dump(9007199254740992.0), "9007199254740992");
    EXPECT_EQ(dump(1e300), "1e+300");
}

TEST(Document, OtherNumbersReadBackExactly) {
    for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.5e-7, 1e22}) {
        const Document read = parsed(dump(value));
        const double* back = read.get_if<double>();
        ASSERT_NE(back, nullptr) << dump(value);
        EXPECT_EQ(*back, value);
    }
}

TEST(Document, IntegersOf64Bits) {
    EXPECT_EQ(dump(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(dump(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
    EXPECT_EQ(dump(parsed("18446744073709551615")), "18446744073709551615");
}

TEST(Document, NumbersThatAreNotFiniteAreBugs) {
    expect_error([] { dump(std::numeric_limits<double>::quiet_NaN()); }, ErrorCode::internal, "not finite");
    expect_error([] { dump(-std::numeric_limits<double>::infinity()); }, ErrorCode::internal, "not finite");
}

TEST(Document, StringsAreEscapedAndUtf8) {
    EXPECT_EQ(dump("a\"b\\c\n\x01\xc3\xa9"), "\"a\\\"b\\\\c\\n\\u0001\xc3\xa9\"");
    EXPECT_EQ(dump("caf\xe9"), "\"caf\xef\xbf\xbd\"");  // Latin-1 becomes U+FFFD
}

TEST(Document, MembersKeepTheirOrderAndAreReplaced) {
    Document object = Document::object({{"b", 1}, {"a", Document()}});
    object.set("b", true).set("c", std::vector<int>{1, 2});
    EXPECT_EQ(dump(object), R"({"b": true, "a": null, "c": [1, 2]})");
    EXPECT_EQ(canonical(object), R"({"a":null,"b":true,"c":[1,2]})");
    object.erase("a");
    EXPECT_EQ(object.find("a"), nullptr);
    EXPECT_EQ(Document(3).find("a"), nullptr);
}

TEST(Document, IndentBreaksOnlyWhatDoesNotFitALine) {
    const Document small = Document::object({{"x", 1}});
    EXPECT_EQ(dump(small, 2), R"({"x": 1})");
    const Document large = Document::object({{"text", std::string(200, 'a')}, {"small", small}});
    EXPECT_EQ(dump(large, 2), "{\n  \"text\": \"" + std::string(200, 'a') + "\",\n  \"small\": {\"x\": 1}\n}");
    EXPECT_EQ(canonical(parsed(dump(large, 2))), canonical(large));
}

TEST(Parse, RefusesWhatIsNotJson) {
    for (const char* text : {"", " ", "{", "[1,]", "nul", "NaN", "Infinity", "{'a':1}", "{\"a\":1,}", "01", "1 2",
                             "[1]]", "\"\xff\"", "\"\n\"", "// c\n1"}) {
        expect_error([&] { parsed(text); }, ErrorCode::data, "file: not valid JSON");
    }
    expect_error([] { parsed("{\n  \"a\": x}"); }, ErrorCode::data, "line 2");
    expect_error([] { parsed(std::string("{}\0 more", 8)); }, ErrorCode::data, "file: a byte of value 0");
    for (const std::string numpy : {"PK\x03\x04", "\x93NUMPY"})
        expect_error([&] { parsed(numpy + '\0'); }, ErrorCode::data, ", and no JSON");
    expect_error([] { parsed("[1e400]"); }, ErrorCode::data, "1e400");
}

TEST(Parse, RefusesDuplicateKeys) {
    expect_error([] { parsed(R"({"a": [0, {"b": 1, "c": 2, "b": 3}]})"); }, ErrorCode::data,
                 "file: a[1]: duplicate key \"b\"");
}

// Duplicate keys are found in objects with many members, too, where keys are looked up in another way.
TEST(Parse, RefusesDuplicateKeysAmongMany) {
    const ParseLimits many{.members = 100'000};
    for (const int count : {31, 32, 33, 500}) {
        std::string members;
        for (int i = 0; i < count; ++i) members += "\"k" + std::to_string(i) + "\": 0, ";
        EXPECT_NO_THROW(parse("{" + members + "\"k\": {\"k1\": 1}}", "file", many));
        for (const int again : {0, 30, count - 1}) {
            const std::string key = "k" + std::to_string(again);
            expect_error([&] { parse("{" + members + "\"" + key + "\": 0}", "file", many); }, ErrorCode::data,
                         "duplicate key \"" + key + "\"");
        }
    }
}

TEST(Parse, RefusesMoreThanItsLimits) {
    expect_error([] { parsed(std::string(100000, '[')); }, ErrorCode::data, "nested deeper than 32");
    EXPECT_NO_THROW(parsed(std::string(32, '[') + std::string(32, ']')));
    const ParseLimits few{.depth = 4, .members = 2, .values = 6};
    expect_error([&] { parse("[1,2,3,4,5,6]", "file", few); }, ErrorCode::data, "more than 6 values");
    EXPECT_NO_THROW(parse("[1,2,3,4,5]", "file", few));
    expect_error([&] { parse(R"({"a":1,"b":2,"c":3})", "file", few); }, ErrorCode::data, "more than 2 keys");
}

TEST(Parse, LongTextsAreCutInMessages) {
    const std::string text = "[" + std::string(100000, 'x') + "]";
    try {
        parsed("{\"" + std::string(100000, 'k') + "\": " + text + "}");
        FAIL();
    } catch (const Error& error) {
        EXPECT_LT(std::string(error.what()).size(), 400U);
    }
    EXPECT_EQ(in_quotes(std::string(100, 'a')), "\"" + std::string(60, 'a') + "\"...");
}

}  // namespace
}  // namespace gnnplan::io
