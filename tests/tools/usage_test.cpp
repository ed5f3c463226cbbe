// Every subcommand owes its user help, exit codes, one line per error.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Usage, BareToolPrintsTheShortHelp) {
    const Outcome outcome = gnnplan("");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, StartsWith("Examples:\n  gnnplan "));
    EXPECT_THAT(outcome.out, HasSubstr("enumerate"));
}

TEST(Usage, EveryHelpOpensWithTwoExamples) {
    for (const std::string command : {"enumerate",
                                      "plan",
                                      "explain",
                                      "sweep",
                                      "compare",
                                      "validate",
                                      "graph",
                                      "graph info",
                                      "graph generate",
                                      "graph generate rmat",
                                      "graph generate planted",
                                      "datasets",
                                      "datasets list",
                                      "datasets show",
                                      "machines",
                                      "machines list",
                                      "machines show",
                                      "machines detect",
                                      "calibrate",
                                      "completion",
                                      "launch",
                                      "help"}) {
        const Outcome outcome = gnnplan(command + " --help");
        EXPECT_EQ(outcome.code, 0) << command;
        EXPECT_THAT(outcome.out, ::testing::MatchesRegex(
                                     "Examples:\n  gnnplan [^\n]*\n(  (mpirun -n 2 )?gnnplan [^\n]*\n)+\n(.|\n)*"))
            << command;
        EXPECT_EQ(outcome.err, "") << command;
    }
}

TEST(Usage, HelpSaysWhatComesNextAndWhatExitCodesMean) {
    const std::string help = gnnplan("--help").out;
    for (const char* next :
         {"gnnplan plan ", "gnnrun plan.json", "gnnplan explain --analyze", "gnnplan calibrate", "gnnplan sweep "}) {
        EXPECT_THAT(help, HasSubstr(std::string("\n  ") + (next[3] == 'r' ? "mpirun -n 4 " : "") + next));
    }
    for (const char* code :
         {"   0  ", "   1  ", "   3  ", "  64  ", "65  ", "66  ", "69  ", "70  ", "73  ", "74  ", "75  ", "78  "}) {
        EXPECT_THAT(help, HasSubstr(code));
    }
    EXPECT_THAT(help,
                HasSubstr("69  MPI, or something else of the system or this build, is unavailable; a rank stopped"));
    for (const char* command : {"plan", "graph info", "machines"}) {
        EXPECT_THAT(gnnplan(std::string(command) + " --help").out, ::testing::EndsWith("see gnnplan --help\n"));
    }
}

TEST(Usage, HelpOfPlanIsGrouped) {
    const std::string brief = gnnplan("plan --help").out;
    EXPECT_THAT(brief, ::testing::ContainsRegex("\nPin a choice:\n  [0-9]+ options; --help-all lists them\n"));
    EXPECT_EQ(brief.find("--exchange"), std::string::npos);
    const std::string help = gnnplan("plan --help-all").out;
    std::size_t at = 0;
    for (const char* part :
         {"\nOptions:\n", "\nGraph:\n", "--symmetrise", "\nModel:\n", "--hidden", "\nMachine:\n", "--memory",
          "\nPin a choice:\n", "--exchange", "\nTraining:\n", "--dropout", "\nOutput:\n", "--json"}) {
        at = help.find(part, at);
        ASSERT_NE(at, std::string::npos) << part << " is missing, or in another place\n" << help;
    }
    EXPECT_LT(std::count(help.begin(), help.begin() + static_cast<std::ptrdiff_t>(help.find("\nGraph:\n")), '\n'), 14);
}

TEST(Usage, HelpOfGenerateListsTheOptionsOfItsForms) {
    const std::string help = gnnplan("graph generate --help").out;
    for (const char* option : {"--abcd", "--homophily", "--vertices"}) EXPECT_THAT(help, HasSubstr(option));
}

TEST(Usage, QuietLeavesWarningsAndErrors) {
    const std::string plan = "plan --graph reddit --features 10 --machine a6000x8";
    EXPECT_THAT(gnnplan(plan).err, HasSubstr("note: "));
    EXPECT_EQ(gnnplan(plan + " -q").err, "");
    EXPECT_EQ(gnnplan("--quiet " + plan).err, "");
    EXPECT_THAT(gnnplan("plan -q --graph redit").err, StartsWith("error: "));
}

TEST(Usage, VersionNamesWhatItWasBuiltWith) {
    const Outcome outcome = gnnplan("--version");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, StartsWith("gnnplan 0."));
    for (const char* part : {"compiler", "MPI", "BLAS", "CUDA"}) EXPECT_THAT(outcome.out, HasSubstr(part));
}

// In every command, --widths gives at most as many layers as --layers may.
TEST(Usage, WidthsAreAsFewAsLayersMayBe) {
    std::string widths = "4";
    for (int layer = 0; layer < 1001; ++layer) widths += ",2";
    for (const char* command : {"plan", "sweep --vary ranks=1,2", "enumerate"}) {
        const Outcome outcome = gnnplan(std::string(command) + " --graph cora --widths " + widths);
        EXPECT_EQ(outcome.code, 64) << command;
        EXPECT_THAT(outcome.err,
                    StartsWith("error: --widths: 1002 widths are too many: a network has at most 1000 layers"));
    }
}

TEST(Usage, WrongUsageIs64AndOneLine) {
    const std::string sizes = "enumerate --vertices 100 --nonzeros 500 --ranks 4 --widths ";
    const std::string widths = "enumerate --widths 4,3,2 ";
    const std::string plan = "plan --graph cora ";
    for (const std::string& arguments :
         {sizes + "4,0,2",
          sizes + "4,-3,2",
          sizes + "4,9223372036854775808,2",
          sizes + "4,NaN,2",
          sizes + "4,,2",
          sizes + "4,3,",
          sizes + "4",
          sizes + "''",
          sizes + "4.5,3",
          sizes + "4,3e-1,2",
          sizes + "0x10,3",
          sizes + "' 4,3'",
          sizes + "4,3,2 --space half",
          sizes + "4,3,2 --scheme 1d",
          sizes + "4,3,2 --replication 3",
          sizes + "4,3,2 --replication 0",
          sizes + "4,3,2 --replication 8",
          sizes + "4,3,2 --frobnicate",
          sizes + "4,3,2 --features 4",
          sizes + "4,3,2 extra",
          widths,
          widths + "--vertices 100 --ranks 4",
          widths + "--vertices 0 --nonzeros 5 --ranks 4",
          widths + "--vertices 5 --nonzeros 26 --ranks 4",
          widths + "--vertices 5 --nonzeros 18446744073709551616",
          widths + "--graph reddit --vertices 5",
          widths + "--graph reddit --ranks 0",
          widths + "--graph reddit --ranks inf",
          plan + "--ranks -1",
          plan + "--memory 0",
          plan + "--memory 16",
          plan + "--memory 5XB",
          plan + "--memory nan",
          plan + "--memory -1GB",
          plan + "--memory 1e30",
          plan + "--memory ''",
          plan + "--top 0",
          plan + "--layers 0",
          plan + "--ranks 4 --scheme rdm --replication 4 --exchange rows",
          plan + "--ranks 4 --grid 1x4 --scheme rdm --overlap on",
          plan + "--ranks 2 --scheme rdm --exchange panels",
          plan + "--ranks 4 --space paper --replication 4 --exchange rows",
          plan + "--hidden 0",
          plan + "--space paper --layers 7",
          plan + "--overlap maybe",
          plan + "--color sometimes",
          plan + "--normalisation left",
          plan + "--seed -1",
          std::string("plan"),
          std::string("plan --graph am:distgnn --widths 3"),
          std::string("plan --vertices 5 --nonzeros 9 --features 3"),
          std::string("plan --graph social-spammer"),
          std::string("sweep"),
          std::string("compare"),
          std::string("explain"),
          std::string("validate"),
          std::string("graph convert"),
          std::string("datasets sell"),
          std::string("machines sell"),
          std::string("help plann"),
          std::string("help graph plan"),
          std::string("completion tcsh"),
          std::string("--frobnicate"),
          std::string("plan --vertices 2147483647 --nonzeros 9 --ranks 1024 --widths 16777216,16777216")}) {
        const Outcome outcome = gnnplan(arguments);
        EXPECT_EQ(outcome.code, 64) << arguments << "\n" << outcome.out << outcome.err;
        EXPECT_THAT(outcome.err, StartsWith("error: ")) << arguments;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << arguments << "\n" << outcome.err;
        EXPECT_EQ(outcome.out, "") << arguments;
    }
}

TEST(Usage, WrongValuesAreSaidInWords) {
    const std::string plan = "plan --vertices 10 --nonzeros 30 --widths 4,4,2 ";
    EXPECT_THAT(gnnplan(plan + "--ranks 2 --ranks 4").err, HasSubstr("--ranks: given 2 times, and takes one value"));
    EXPECT_THAT(gnnplan(plan + "--ranks").err, HasSubstr("--ranks: its value is missing"));
    EXPECT_THAT(gnnplan(plan + "--scheme 4d").err, HasSubstr("--scheme: 4d is none of rdm, 1d, 1.5d, 2d, 3d"));
    EXPECT_THAT(gnnplan(plan + "--dropout abc").err, HasSubstr("--dropout: 'abc' is not a number"));
    EXPECT_THAT(gnnplan(plan + "--dropout 0.99999999999").err, HasSubstr("--dropout: must be at least 0 and below 1"));
}

// A terminal obeys what a file is called.
TEST(Usage, ControlCharactersOfNamesAreNotSaid) {
    for (const std::string command :
         {"plan --graph ", "explain ", "validate ", "graph info ", "machines show ", "plan --cora"}) {
        const Outcome outcome = gnnplan(command + "\"$(printf 'no\\033[31mthing\\nelse')\"");
        EXPECT_NE(outcome.code, 0) << command;
        EXPECT_EQ(outcome.err.find('\033'), std::string::npos) << command << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << command << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("no?[31mthing?else")) << command;
    }
}

TEST(Usage, UnknownFlagsAreNamedWithNearOnes) {
    EXPECT_THAT(gnnplan("plan --graph cora --rank 4").err,
                HasSubstr("'--rank', did you mean --ranks, --ranks-per-node?"));
    EXPECT_THAT(gnnplan("plan --versoin").err, HasSubstr("'--versoin', did you mean --version?"));
    EXPECT_THAT(gnnplan("plan --hiden=8").err, HasSubstr("did you mean --hidden?"));
}

TEST(Usage, UnknownSubcommandsAreNamedWhateverFollowsThem) {
    const auto said = [](const std::string& arguments) { return gnnplan(arguments).err; };
    EXPECT_THAT(said("enumarate"), StartsWith("error: unknown subcommand 'enumarate', did you mean enumerate?"));
    EXPECT_THAT(said("plann --graph reddit"), StartsWith("error: unknown subcommand 'plann', did you mean plan?"));
    EXPECT_THAT(said("graph inf x.txt --json"), StartsWith("error: unknown subcommand 'inf', did you mean info?"));
    EXPECT_THAT(said("--graph reddit plan"), HasSubstr("unknown argument '--graph'"));
}

TEST(Usage, HelpIsASubcommandToo) {
    EXPECT_EQ(gnnplan("help").out, gnnplan("--help").out);
    EXPECT_EQ(gnnplan("help plan").out, gnnplan("plan --help").out);
    EXPECT_EQ(gnnplan("help graph generate rmat").out, gnnplan("graph generate rmat --help").out);
    EXPECT_THAT(gnnplan("help plann").err, HasSubstr("unknown subcommand 'plann', did you mean plan?"));
}

TEST(Usage, CommandsOfSubcommandsDoSomethingAlone) {
    EXPECT_EQ(gnnplan("graph").out, gnnplan("graph --help").out);
    EXPECT_EQ(gnnplan("graph").code, 0);
    EXPECT_EQ(gnnplan("graph generate").out, gnnplan("graph generate --help").out);
    EXPECT_EQ(gnnplan("datasets").out, gnnplan("datasets list").out);
    EXPECT_EQ(gnnplan("datasets --json").out, gnnplan("datasets list --json").out);
    EXPECT_EQ(gnnplan("machines").code, 0);
}

TEST(Usage, ListsFitATerminal) {
    for (const char* list : {"datasets", "machines list"}) {
        const std::string out = gnnplan(list).out;
        EXPECT_LE(widest_line(out), 100U) << out;
    }
}

TEST(Usage, CardsAndFilesAreToldApart) {
    const Outcome info = gnnplan("graph info reddit");
    EXPECT_EQ(info.code, 66);
    EXPECT_THAT(info.err, HasSubstr("reddit is a card"));
    EXPECT_THAT(info.err, HasSubstr("gnnplan datasets show reddit"));
    const Folder folder;
    const std::string edges = folder / "edges.txt";
    write_text(edges, "0 1\n");
    const Outcome enumerate = gnnplan("enumerate --ranks 2 --graph " + edges);
    EXPECT_EQ(enumerate.code, 64);
    EXPECT_THAT(enumerate.err, HasSubstr("enumerate takes cards or sizes; plan takes files"));
}

TEST(Usage, MissingInputIs66) {
    for (const char* arguments :
         {"plan --graph redit", "plan --graph reddit:nobody", "plan --graph ./reddit",
          "plan --graph cora --machine a6000x9", "enumerate --graph ./nowhere --ranks 2", "explain nowhere.json"}) {
        const Outcome outcome = gnnplan(arguments);
        EXPECT_EQ(outcome.code, 66) << arguments << "\n" << outcome.err;
        EXPECT_THAT(outcome.err, StartsWith("error: ")) << arguments;
    }
    EXPECT_THAT(gnnplan("plan --graph redit").err, HasSubstr("reddit"));
}

TEST(Usage, NamesThatTheSystemDoesNotTakeAre66) {
    const std::string name(5000, 'n');
    for (const std::string& arguments :
         {"plan --graph " + name, "plan --graph cora --machine " + name,
          "sweep --graph ./" + name + " --vary ranks=1,2", "graph info " + name,
          "enumerate --graph ./" + name + " --ranks 2", "validate " + name, "explain " + name}) {
        const Outcome outcome = gnnplan(arguments);
        EXPECT_EQ(outcome.code, 66) << arguments.substr(0, 60) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("File name too long")) << arguments.substr(0, 60);
    }
}

// No program waits for a writer of a pipe, or for the events of a file of the system.
TEST(Usage, OnlyRegularFilesAreRead) {
    const testing::Folder folder;
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const auto run = [](const std::string& arguments) {  // 124: it waits
        return run_program("timeout", "-k 5 20 " GNNPLAN_TOOL " " + arguments);
    };
    const std::pair<const char*, const char*> commands[] = {{"validate ", "nobody writes"},
                                                            {"explain ", "nobody writes"},
                                                            {"graph info ", "not a regular file"},
                                                            {"plan --graph ", "not a regular file"}};
    for (const auto& [command, why] : commands) {
        const Outcome outcome = run(command + pipe);
        EXPECT_EQ(outcome.code, 66) << command << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(why)) << command;
    }
    for (const char* command : {"validate ", "graph info ", "explain "}) {
        const int code = run(command + std::string("/proc/kmsg")).code;
        EXPECT_TRUE(code == 1 || code == 65 || code == 66) << command << code;
    }
}

TEST(Usage, PlansComeThroughPipes) {
    const std::string plan = GNNPLAN_TOOL " plan --graph cora -o /dev/fd/3 3>&1 >/dev/null | ";
    EXPECT_EQ(run_program("sh", "-c '" + plan + GNNPLAN_TOOL " validate /dev/stdin'").code, 0);
    EXPECT_EQ(run_program("sh", "-c '" + plan + GNNPLAN_TOOL " explain /dev/stdin'").code, 0);
}

TEST(Usage, OutputThatCannotBeWritten) {
    EXPECT_EQ(gnnplan("plan --graph cora -o /nonexistent/plan.json").code, 73);
    EXPECT_EQ(gnnplan("plan --graph cora -o /").code, 73);
    EXPECT_EQ(gnnplan("plan --graph cora -o ''").code, 73);
    // SearchResult out before the graph is read.
    EXPECT_EQ(gnnplan("plan --graph /nonexistent/graph -o /nonexistent/plan.json").code, 73);
    for (const char* arguments : {"datasets list", "--help", "plan --help", "--version"}) {
        EXPECT_EQ(gnnplan(std::string(arguments) + " > /dev/full").code, 74) << arguments;
        EXPECT_EQ(gnnplan(std::string(arguments) + " >&-").code, 74) << arguments;
    }
}

// A message to a person ends nothing, whether it can be read or not.
TEST(Usage, StderrThatIsFullOrClosed) {
    const Folder folder;
    const std::string plan = folder / "plan.json";
    for (const char* stderr_is : {" 2>/dev/full", " 2>&-"}) {
        EXPECT_EQ(gnnplan(std::string("graph info /nonexistent") + stderr_is).code, 66);
        EXPECT_EQ(gnnplan(std::string("plan --graph redit") + stderr_is).code, 66);
        EXPECT_EQ(gnnplan(std::string("plan --no-such-flag") + stderr_is).code, 64);
        EXPECT_EQ(gnnplan("plan --graph cora --ranks 2 -o " + plan + stderr_is).code, 0);
        EXPECT_EQ(gnnplan("validate " + plan).code, 0) << "no message went into the plan";
        std::filesystem::remove(plan);
    }
}

TEST(Usage, AReaderThatGoesAwayIsNoMatterForWords) {
    const Folder folder;
    const std::string shell = "-c 'set -o pipefail; " + std::string(GNNPLAN_TOOL) + " machines list | true'";
    const Outcome outcome = run_program("bash", shell);
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 74) << outcome.code;
    EXPECT_EQ(outcome.err, "");
}

TEST(Usage, OutputsOverwriteNoInputAndNoOtherOutput) {
    const Folder folder;
    const std::string graph = folder / "graph.npz";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 50 --nonzeros 200 -o " + graph).code, 0);
    const std::string before = read_text(graph);
    const std::string plan = "plan --hidden 4 --graph " + graph;
    const auto expect_refused = [](const std::string& arguments, const std::string& why) {
        const Outcome outcome = gnnplan(arguments);
        EXPECT_EQ(outcome.code, 64) << arguments << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(why)) << arguments;
    };
    expect_refused(plan + " -o " + graph, "would overwrite what is read: --graph");
    std::filesystem::create_hard_link(graph, folder / "again.npz");
    expect_refused(plan + " -o " + (folder / "again.npz"), "would overwrite what is read: --graph");
    expect_refused(plan + " -o " + (folder / "p.json") + " --table " + (folder / "p.json"),
                   "names the same file as -o");
    expect_refused(plan + " -o " + (folder / "p.json") + " --table " + (folder / "./p.json"), "the same file as -o");
    expect_refused("sweep --vary ranks=1,2 --graph " + graph + " --csv " + graph, "would overwrite what is read");
    EXPECT_EQ(read_text(graph), before);
    EXPECT_FALSE(std::filesystem::exists(folder / "p.json"));
    EXPECT_EQ(gnnplan(plan + " -o /dev/null --table /dev/null").code, 0);
}

TEST(Usage, AGraphWithoutTrainingVerticesIsRefusedAtPlanning) {
    const Folder folder;
    const std::string graph = folder / "g";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 50 --nonzeros 200 -o " + graph).code, 0);
    std::string train;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(graph)) {
        if (entry.path().filename().string().starts_with("train.csv")) train = entry.path();
    }
    ASSERT_NE(train, "");
    write_text(train, "");
    const Outcome outcome = gnnplan("plan --hidden 4 --graph " + graph + " -o " + (folder / "p.json"));
    EXPECT_EQ(outcome.code, 65) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(graph + ": the split has no training vertices"));
    EXPECT_FALSE(std::filesystem::exists(folder / "p.json"));
}

TEST(Usage, ColourOnlyWhereAsked) {
    EXPECT_THAT(gnnplan("plan --graph cora --color always").out, HasSubstr("\033[1m"));
    EXPECT_THAT(gnnplan("--color always plan --graph cora").out, HasSubstr("\033[1m"));
    EXPECT_THAT(gnnplan("plan --graph cora --color never").out, ::testing::Not(HasSubstr("\033")));
    EXPECT_THAT(gnnplan("plan --graph cora").out, ::testing::Not(HasSubstr("\033")));
}

// The output of `gnnplan ARGUMENTS` on a terminal of so many columns.
std::string on_terminal(std::size_t columns, const std::string& arguments) {
    const Folder folder;
    const std::string command =
        "stty cols " + std::to_string(columns) + "; NO_COLOR=1 '" GNNPLAN_TOOL "' -q " + arguments;
    const Outcome outcome =
        run_program("script", "-q -e -E never -c \"" + command + "\" '" + (folder / "typescript") + "' </dev/null");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    std::string text = outcome.out;
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    return text;
}

TEST(Usage, LinesAreAsWideAsTheTerminal) {
    const Folder folder;
    const std::string asked = "plan --graph reddit --ranks 8 --machine a6000x8";
    const std::string plan = folder / "plan.json";
    ASSERT_EQ(gnnplan(asked + " -o " + plan).code, 0);
    const std::string sweep = "sweep --graph reddit --machine a6000x8 --vary ranks=2,4,8 --vary hidden=16,128";
    for (const std::string& command :
         {asked, "explain " + plan, sweep, std::string("datasets list"), std::string("machines show a6000x8")}) {
        EXPECT_LE(widest_line(on_terminal(80, command)), 80) << command;
    }
    const std::size_t wide = widest_line(on_terminal(130, asked));
    EXPECT_GT(wide, 110);
    EXPECT_LE(wide, 130);
    // A pipe or a file has no width, so that a script finds the same text everywhere.
    EXPECT_EQ(gnnplan(asked).out, gnnplan(asked + " | cat").out);
    EXPECT_LE(widest_line(gnnplan(asked).out), 100);
}

TEST(Usage, CompletionKnowsTheCommandTree) {
    const Folder folder;
    const std::string script = folder / "completion.bash";
    ASSERT_EQ(gnnplan("completion bash > " + script).code, 0);
    const std::string offered = folder / "offered";
    const std::string ask =
        "bash -c 'source " + script +
        "; COMP_WORDS=(gnnplan graph generate rmat --ver); COMP_CWORD=4; _gnnplan; echo \"${COMPREPLY[*]}\"; "
        "COMP_WORDS=(gnnplan mach); COMP_CWORD=1; _gnnplan; echo \"${COMPREPLY[*]}\"' > " +
        offered;
    ASSERT_EQ(std::system(ask.c_str()), 0);
    EXPECT_EQ(read_text(offered), "--vertices\nmachines\n");
    EXPECT_THAT(gnnplan("completion zsh").out, StartsWith("#compdef gnnplan"));
    EXPECT_THAT(gnnplan("completion fish").out, HasSubstr("-l replication"));
}

TEST(Usage, CompletionOffersTheValuesOfFlags) {
    const Folder folder;
    const std::string script = folder / "completion.bash";
    ASSERT_EQ(gnnplan("completion bash > " + script).code, 0);
    const auto offered = [&](const std::vector<std::string>& words) {
        std::string line;
        for (const std::string& word : words) line += "\"" + word + "\" ";
        const std::string ask = "bash -c 'source " + script + "; COMP_WORDS=(" + line +
                                "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _gnnplan; echo \"${COMPREPLY[*]}\"' > " +
                                (folder / "offered");
        EXPECT_EQ(std::system(ask.c_str()), 0);
        std::string text = read_text(folder / "offered");
        return text.substr(0, text.find('\n'));
    };
    EXPECT_EQ(offered({"gnnplan", "plan", "--scheme", "1"}), "1d 1.5d");
    EXPECT_EQ(offered({"gnnplan", "plan", "--exchange", ""}), "panels rows relay relayed-rows");
    EXPECT_EQ(offered({"gnnplan", "sweep", "--overlap", "o"}), "on off");
    EXPECT_EQ(offered({"gnnplan", "enumerate", "--space", ""}), "full paper");
    EXPECT_EQ(offered({"gnnplan", "plan", "--graph", "red"}), "reddit");
    EXPECT_EQ(offered({"gnnplan", "plan", "--ranks", "2", "--machine", "a60"}), "a6000x8");
    EXPECT_EQ(offered({"gnnplan", "machines", "show", "sum"}), "summit");
    EXPECT_EQ(offered({"gnnplan", "completion", "f"}), "fish");
    EXPECT_EQ(offered({"gnnplan", "plan", "--ranks", ""}), "");  // any number
    EXPECT_EQ(offered({"gnnplan", "help", "enum"}), "enumerate");
    EXPECT_EQ(offered({"gnnplan", "plan", "--json", "--exch"}), "--exchange");
    EXPECT_THAT(gnnplan("completion fish").out, HasSubstr("-l exchange -x -a 'panels rows relay relayed-rows'"));
}

}  // namespace
}  // namespace gnnplan::testing
