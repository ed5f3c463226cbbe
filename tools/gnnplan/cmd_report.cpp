// gnnplan report: a plan, and a run of it, as one page that works offline.
#include "planner/io/files.hpp"
#include "planner/io/outputs.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/report.hpp"
#include "tools/advise/json/page_json.hpp"
#include "tools/common/plan_file.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/gnnplan/report_page.hpp"

#include <memory>
#include <optional>

namespace gnnplan::tools {
namespace {

struct ReportOptions {
    std::string plan;
    std::optional<std::string> run;
    std::string output;
};

int run_report_command(const Context& context, const ReportOptions& options) {
    io::check_outputs({{"-o", options.output}}, {{"the plan", options.plan}, {"the run", options.run}});
    const std::string text = io::read_file(options.plan);
    Plan plan = io::read_plan(text, options.plan);
    add_origins(plan);
    std::optional<RunReport> run;
    if (options.run) run = io::read_report(io::read_file(*options.run), *options.run);
    const std::string chart = chart_script();
    const PageQuestion question{plan, text, run ? &*run : nullptr, context.command_line};
    io::write_file_atomically(options.output, plan_page(page_document(question), page_title(plan), chart));
    say_lines({"wrote " + options.output});
    return 0;
}

}  // namespace

void add_report(CLI::App& root, Context& context) {
    const auto options = std::make_shared<ReportOptions>();
    CLI::App& command =
        add_command(root, "report", "Draw a plan, and a run of it, as one page that works offline",
                    "gnnplan report plan.json -o report.html\ngnnplan report plan.json run.json -o report.html");
    command.add_option("plan", options->plan, "The plan")->required()->type_name("PLAN");
    command.add_option("run", options->run, "What gnnrun --report wrote of a run of this plan")->type_name("RUN");
    command.add_option("-o,--output", options->output, "Where to write the page")->required()->type_name("FILE.html");
    on_command(command, context, options, run_report_command);
}

}  // namespace gnnplan::tools
