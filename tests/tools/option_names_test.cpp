// Options that messages of the library name by ids: what is read of them, and how the tools say them.
#include "tools/text/option_names.hpp"

#include <gnnplan/base/option.hpp>

#include <gtest/gtest.h>

namespace gnnplan::tools {
namespace {

TEST(OptionNames, GetTheirDashes) {
    EXPECT_EQ(with_dashes("`ring`: weight gradients need whole rows (use `task infer`)"),
              "--ring: weight gradients need whole rows (use --task infer)");
    EXPECT_EQ(with_dashes("use `bf16`, `split 0 .. 4`; or `loss-rows`."),
              "use --bf16, --split 0 .. 4; or --loss-rows.");
    EXPECT_EQ(with_dashes("`forward`"), "--forward");
    EXPECT_EQ(with_dashes(""), "");
    EXPECT_EQ(with_dashes("no option"), "no option");
}

TEST(OptionNames, OfOtherQuestionsGetTheirCommands) {
    EXPECT_EQ(with_dashes("run.json is a run report: `explain/analyze` run.json"),
              "run.json is a run report: gnnplan explain --analyze run.json");
    EXPECT_EQ(with_dashes("make the plan again with `plan/`"), "make the plan again with gnnplan plan");
    EXPECT_EQ(with_dashes("`run/dry-run` says what a plan needs"), "gnnrun --dry-run says what a plan needs");
}

TEST(OptionNames, NamesOfFilesStay) {
    for (const char* text :
         {"a`b`c.txt: no such file", "dir/`ring`: no such file", "`Ring`: no such file", "`ring: no such file",
          "``: no such file", "` `: no such file", "`/`: no such file", "'`ring`'", "`ring`x", "`"}) {
        EXPECT_EQ(with_dashes(text), text);
    }
    EXPECT_EQ(with_dashes("a`b is no `ring`"), "a`b is no --ring");
}

TEST(OptionNames, OfErrorsAreFound) {
    EXPECT_EQ(option_of(Error(ErrorCode::usage, "is not whole", "`grid 2x`")), "grid");
    EXPECT_EQ(option_of(Error(ErrorCode::usage, "is not whole", "`loss-rows`", "use `task infer`")), "loss-rows");
    EXPECT_EQ(option_of(Error(ErrorCode::usage, "is not whole", "data", "use `task infer`")), std::nullopt);
    EXPECT_EQ(option_of(Error(ErrorCode::usage, "use `task infer`")), std::nullopt);
    EXPECT_EQ(option_text("forward", "SDS"), "`forward SDS`");
}

}  // namespace
}  // namespace gnnplan::tools
