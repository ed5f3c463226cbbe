// Sizes in, numbers out.
#include "tools/text/format.hpp"

#include "tools/common/main.hpp"
#include "tools/common/options.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/memory_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gnnplan::tools {
namespace {

TEST(Format, SizesAreRead) {
    EXPECT_EQ(parse_size("16GiB"), std::int64_t{16} << 30);
    EXPECT_EQ(parse_size("900MB"), 900'000'000);
    EXPECT_EQ(parse_size("1.5kB"), 1500);
    EXPECT_EQ(parse_size("2 mib"), 2 << 20);
    EXPECT_EQ(parse_size("1TiB"), std::int64_t{1} << 40);
    EXPECT_EQ(parse_size("12345678"), 12345678);
    EXPECT_EQ(parse_size("7B"), 7);
}

TEST(Format, OtherSizesAreRefused) {
    for (const char* text :
         {"", "0", "GB", "-1GB", "1XB", "1G", "nan", "inf", "1e30", "1 GB x", "0.5", "4611686018427387905000"}) {
        EXPECT_THROW(parse_size(text), Error) << text;
    }
}

TEST(Format, AForgottenUnitIsSaid) {
    for (const char* text : {"16", "900", "1048575"}) {
        try {
            parse_size(text);
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            EXPECT_THAT(error.what(), ::testing::HasSubstr(std::string("would be ") + text + " bytes")) << text;
            EXPECT_THAT(error.what(), ::testing::HasSubstr(std::string("say ") + text + "GiB")) << text;
        }
    }
}

TEST(Format, Numbers) {
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(1'234'567), "1,234,567");
    EXPECT_EQ(format_count(-1234), "-1,234");
    EXPECT_EQ(format_number(512), "512");
    EXPECT_EQ(format_number(2.5), "2.5");
    EXPECT_EQ(format_number(1.5e12), "1.5e+12");
}

TEST(Format, BytesAndSeconds) {
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(999), "999 B");
    EXPECT_EQ(format_bytes(12'345'678), "12.3 MB");
    EXPECT_EQ(format_bytes(999'999), "1 MB");
    EXPECT_EQ(format_memory(std::int64_t{48} << 30), "48 GiB");
    EXPECT_EQ(format_memory((std::int64_t{21} << 30) / 10), "2.1 GiB");
    EXPECT_EQ(format_seconds(0.038), "38 ms");
    EXPECT_EQ(format_seconds(1.5e-6), "1.5 us");
    EXPECT_EQ(format_seconds(2.25), "2.25 s");
    EXPECT_EQ(format_seconds(100), "100 s");
    EXPECT_EQ(format_seconds(0), "0 ns");
}

TEST(Format, LossesStayShort) {
    EXPECT_EQ(format_loss(0.36994), "0.3699");
    EXPECT_EQ(format_loss(99999.5), "99999.5000");
    EXPECT_EQ(format_loss(1.5132392e24), "1.513e+24");
    EXPECT_EQ(format_loss(std::numeric_limits<double>::infinity()), "inf");
    for (const double sign : {-1.0, 1.0}) {
        EXPECT_EQ(format_loss(std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)), "nan");
    }
}

TEST(Format, MemoryIsInBinaryUnitsAndLimitsAsWritten) {
    for (const char* written : {"290 MiB", "16 GiB", "1.5 GiB", "512 KiB", "80 GiB"}) {
        EXPECT_EQ(limit_text(parse_size(written)), written);
    }
    EXPECT_EQ(limit_text(parse_size("16GB")), "16 GB (14.9 GiB)");
    EXPECT_EQ(limit_text(parse_size("450MB")), "450 MB (429 MiB)");
    EXPECT_EQ(limit_text(12'612'345'857), "11.7 GiB");
    // Rounded up, what is needed is enough.
    EXPECT_EQ(enough_memory_text(34'735'800'001), "32.4 GiB");
    EXPECT_EQ(enough_memory_text(std::int64_t{32} << 30), "32 GiB");
    EXPECT_EQ(enough_memory_text((std::int64_t{1} << 40) - 1), "1 TiB");
    for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 50; bytes = bytes * 17 / 13 + 1) {
        EXPECT_GE(parse_size(enough_memory_text(bytes)), bytes);
        EXPECT_LE(static_cast<double>(parse_size(enough_memory_text(bytes))), 1.011 * static_cast<double>(bytes) + 1);
    }
}

TEST(Format, OrdersOfLongNetworksCountRepetitions) {
    const auto repeated = [](const std::string& letters, int times) {
        std::string text;
        for (int i = 0; i < times; ++i) text += letters;
        return text;
    };
    EXPECT_EQ(format_orders("SDSDSDSDSDSD"), "SDSDSDSDSDSD");
    EXPECT_EQ(format_orders(repeated("S", 98) + "DD"), "S98D2");
    EXPECT_EQ(format_orders(repeated("SD", 50)), "(SD)50");
    EXPECT_EQ(format_orders("D" + repeated("SD", 20) + "SS-"), "(DS)21S-");
    EXPECT_EQ(format_orders(repeated("S", 12) + "-"), "S12-");
    EXPECT_EQ(format_orders_cell(repeated("S", 98) + "DD"), "S98D2");
    const std::string uneven = repeated("SSDSDD", 20);
    EXPECT_THAT(format_orders(uneven), ::testing::StartsWith("S2DSD2S2DSD2"));
    EXPECT_EQ(format_orders_cell(uneven), "S2DSD2S2DSD2S2DS…(120)");
    EXPECT_EQ(format_orders_cell(""), "");
}

TEST(Format, ColumnsAlignByCodePoints) {
    Table table({{"kept"}, {"n", Align::right}});
    table.add({"ÂH0", "1"});
    table.add({"-", "1000"}, true);
    EXPECT_EQ(table.text(false), "kept     n\nÂH0      1\n-     1000\n");
    EXPECT_EQ(table.text(true), "kept     n\nÂH0      1\n\033[1m-     1000\033[0m\n");
}

TEST(Format, LastColumnIsBrokenAtSpacesWhereALineIsTooLong) {
    Table table({{"n", Align::right}, {"choices"}});
    table.add({"1", "rows, overlap, permuted, ÂX once"}, true);
    table.add_title("a line");
    table.add({"10", "-"});
    EXPECT_EQ(table.text(false, 28), " n  choices\n 1  rows, overlap, permuted,\n    ÂX once\na line\n10  -\n");
    EXPECT_EQ(table.text(false), table.text(false, 100));
    EXPECT_THAT(table.text(false), ::testing::HasSubstr("permuted, ÂX once\n"));
    EXPECT_EQ(broken("one  two", 5), (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(broken("N=1  nnz=2  3 features", 18), (std::vector<std::string>{"N=1  nnz=2", "3 features"}));
    EXPECT_EQ(broken("one   two", 3), (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(broken("one   ", 3), (std::vector<std::string>{"one", ""}));
    EXPECT_EQ(broken("", 5), std::vector<std::string>{""});
    EXPECT_EQ(labelled("graph", "x"), "graph    x\n");
    EXPECT_EQ(labelled("time", "x", 12), "time        x\n");
}

TEST(Format, AColumnIsLeftOutWhereLinesWouldBeTooLong) {
    Table table({{"step"}, {"shape", Align::right}, {"time"}});
    table.add({"gemm", "1000x16", "1 ms"});
    table.add_title("a line");
    const std::string all = table.text(false);
    table.leave_out_if_wider("shape", 19);
    EXPECT_EQ(table.text(false), all);
    table.leave_out_if_wider("shape", 18);
    EXPECT_EQ(table.text(false), "step  time\ngemm  1 ms\na line\n");
}

TEST(Options, CountsAreDecimalDigitsWithinBounds) {
    EXPECT_EQ(parse_count("42", {1, 50}), 42);
    for (const char* text : {"", "0", "51", "-1", "4x", "0x4", "4.0", " 4", "+4", "99999999999999999999"}) {
        EXPECT_THROW(parse_count(text, {1, 50}), Error) << text;
    }
    EXPECT_EQ(parse_counts("2x3", 'x', {}), (std::vector<std::int64_t>{2, 3}));
    EXPECT_THROW(parse_counts("2x", 'x', {}), Error);
}

TEST(Main, CommandLineIsOneThatAShellReadsBack) {
    EXPECT_EQ(command_line({"gnnplan", "plan", "--graph", "my graph", "it's", ""}),
              "gnnplan plan --graph 'my graph' 'it'\\''s' ''");
    EXPECT_EQ(command_line({"a\nb", "\x1b[0m'"}), R"($'a\x0ab' $'\x1b[0m\x27')");
}

TEST(Main, TimesHaveUnits) {
    EXPECT_EQ(parse_duration("3h50m"), 3 * 3600 + 50 * 60);
    EXPECT_EQ(parse_duration("90s"), 90);
    EXPECT_EQ(parse_duration("1d12h"), 36 * 3600);
    for (const char* wrong : {"", "3", "0s", "h", "3h5", "50m3h", "3.5h", "-1h", "1h 5m", "99999999d"}) {
        EXPECT_THROW(parse_duration(wrong), Error) << wrong;
    }
}

TEST(Format, SaysTheTimeLeft) {
    EXPECT_EQ(left_text(0.4), "");
    EXPECT_EQ(left_text(40), "  about 40 s left");
    EXPECT_EQ(left_text(5 * 60), "  about 5 min left");
    EXPECT_EQ(left_text(3.5 * 3600), "  about 3.5 h left");
}

TEST(Main, ErrorsBecomeExitCodes) {
    EXPECT_EQ(run_guarded([] { return 3; }), 3);
    EXPECT_EQ(run_guarded([]() -> int { throw Error(ErrorCode::mismatch, "x"); }), 78);
    EXPECT_EQ(run_guarded([]() -> int { throw std::runtime_error("x"); }), 70);
    EXPECT_EQ(run_guarded([]() -> int { throw std::bad_alloc(); }), 3);
}

}  // namespace
}  // namespace gnnplan::tools
