// gnnplan sweep: what-if grids as a table, CSV, JSON and a picture, with break-even answers.
#include "planner/catalog/publications.hpp"
#include "planner/io/files.hpp"
#include "planner/io/outputs.hpp"
#include "tools/advise/json/sweep_json.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/sweep/sweep_break_even.hpp"
#include "tools/advise/sweep/sweep_csv.hpp"
#include "tools/advise/sweep/sweep_publication.hpp"
#include "tools/advise/sweep/sweep_question.hpp"
#include "tools/advise/sweep/sweep_sentences.hpp"
#include "tools/advise/sweep/sweep_variation.hpp"
#include "tools/ask/machine.hpp"
#include "tools/common/options.hpp"
#include "tools/common/run_question.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/gnnplan/plan_table.hpp"
#include "tools/gnnplan/problem_flags.hpp"
#include "tools/gnnplan/progress_line.hpp"
#include "tools/gnnplan/sweep_ask.hpp"
#include "tools/gnnplan/sweep_output.hpp"
#include "tools/gnnplan/sweep_plot.hpp"
#include "tools/gnnplan/sweep_report.hpp"
#include "tools/text/format.hpp"
#include "tools/text/model_text.hpp"
#include "tools/text/streams.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_link_panels = 6;

void check_files(const SweepOptions& options) {
    if (options.plot && !options.plot->ends_with(".svg") && !options.plot->ends_with(".html")) {
        throw Error(ErrorCode::usage, "'" + *options.plot + "' is neither .svg nor .html", "--plot");
    }
    io::check_outputs({{"--csv", options.csv}, {"--plot", options.plot}}, files_read(options.problem));
}

// "; nodes have 8 ranks: 16 ranks are on 2 nodes, 32 on 4" where the network between nodes matters, else "".
std::string nodes_text(const Machine& machine, const std::vector<std::int64_t>& ranks) {
    const std::int64_t node = machine.ranks_per_node;
    const auto nodes_of = [&](std::int64_t count) { return (count + node - 1) / node; };
    std::vector<std::string> parts;
    for (const std::int64_t count : std::set(ranks.begin(), ranks.end())) {
        if (count > node)
            parts.push_back(parts.empty() ? fmt::format("{} ranks are on {} nodes", count, nodes_of(count))
                                          : fmt::format("{} on {}", count, nodes_of(count)));
    }
    if (parts.empty()) return "";
    return fmt::format("; nodes have {} rank{}: {}", node, node == 1 ? "" : "s", fmt::join(parts, ", "));
}

SweepAnswers sweep_answers(Question question, std::vector<Variation> variations, SweepGraphs& graphs, bool links) {
    measure::SteadyClock clock;
    ProgressLine line(clock, is_quiet());
    std::string at;
    question.search.progress = [&](const std::string& what) { line.show(at + what); };
    const auto next_point = [&](std::size_t point, std::size_t points) {
        at = fmt::format("{} of {} points, ", format_count(static_cast<std::int64_t>(point) + 1),
                         format_count(static_cast<std::int64_t>(points)));
    };
    SweepAnswers answers{run_sweep(question, std::move(variations), graphs, next_point), {}, {}, {}};
    const Sweep& sweep = answers.sweep;
    answers.crossings = scheme_crossings(sweep);
    for (std::size_t i = 0; links && i < sweep.points.size(); ++i) {
        const SweepPoint& point = sweep.points[i];
        if (!point.best) continue;
        at = fmt::format("break-even of {} of {} points, ", i + 1, sweep.points.size());
        Question asked = with_settings(question, sweep.variations, point.at);
        asked.loaded = &graphs.of(asked);
        answers.links.push_back(link_break_even(asked, settings_text(sweep.variations, point.at, {})));
    }
    return answers;
}

// Break-even answers were asked for, so they come first.
std::vector<std::string> sentences_of(const SweepAnswers& answers, const Sweep& shown) {
    std::vector<std::string> sentences;
    for (const LinkBreakEven& link : answers.links) {
        for (std::string& line : link_lines(link, answers.sweep.machine)) sentences.push_back(std::move(line));
    }
    for (std::string& sentence : sweep_sentences(shown)) sentences.push_back(std::move(sentence));
    return sentences;
}

// "reddit, ogbn-arxiv: each in turn" of what varies; "" where this is not varied.
std::string each_text(const Sweep& sweep, const char* name) {
    const auto varied = std::ranges::find(sweep.variations, name, &Variation::name);
    if (varied == sweep.variations.end() || varied->settings.size() < 2) return "";
    std::vector<std::string> texts;
    for (const Setting& setting : varied->settings) texts.push_back(setting.text);
    return fmt::format("{}: each in turn", fmt::join(texts, ", "));
}

std::string graph_text(const ProblemRecord& problem, const Sweep& sweep) {
    for (const char* name : {"case", "graph"}) {
        std::string text = each_text(sweep, name);
        if (!text.empty()) return text;
    }
    return graph_line(problem);
}

std::string machine_text(const Machine& machine, const Sweep& sweep, const std::vector<std::int64_t>& ranks) {
    const std::string text = each_text(sweep, "machine");
    return text.empty() ? machine_line(machine) + nodes_text(machine, ranks) : text;
}

// The model and what is done with it; widths where they are the same everywhere.
std::string model_line(const ProblemRecord& problem, const Sweep& sweep) {
    const bool widths_vary = std::ranges::any_of(
        std::initializer_list<const char*>{"features", "hidden", "classes", "layers", "graph", "case"},
        [&](const char* name) { return sweep.varies(name); });
    const std::string models = each_text(sweep, "model");
    return fmt::format("{}{}, {}", models.empty() ? network_text(problem.model, !widths_vary) : models,
                       loss_text(problem.model),
                       problem.task == Task::infer                               ? "inference"
                       : problem.batches && problem.batches->sampling.has_pool() ? "training on batches"
                                                                                 : "training");
}

void write_files(const Context& context, const SweepOptions& options, const Question& question,
                 const SweepAnswers& answers, const SweepReport& report) {
    if (options.csv) {
        io::write_file_atomically(*options.csv, sweep_csv(answers.sweep));
        say_lines({"wrote " + *options.csv});
    }
    if (!options.plot) return;
    const ProblemRecord& record = question.loaded->problem.record;
    const std::string title =
        answers.sweep.published != nullptr
            ? answers.sweep.published->title
            : fmt::format("{} of {} on {}, {}", record.task == Task::infer ? "Inference" : "Training",
                          model_text(record.model), record.graph.name, question.machine.name);
    const bool page = options.plot->ends_with(".html");
    // A page says it all beside the picture.
    const std::vector<std::string> caption = page ? std::vector<std::string>{} : picture_caption(report);
    std::vector<PlotPanel> panels;
    for (const LinkBreakEven& link : answers.links) {
        if (panels.size() < most_link_panels) panels.push_back(link_panel(link, answers.sweep.machine));
    }
    for (PlotPanel& panel : sweep_panels(report.shown.sweep)) panels.push_back(std::move(panel));
    const std::string svg = draw_svg(page ? "" : title, context.command_line, panels, caption);
    io::write_file_atomically(*options.plot, page ? report_page(report, title, svg, context.command_line) : svg);
    say_lines({"wrote " + *options.plot});
}

int run_sweep_command(const Context& context, const SweepOptions& options) {
    check_files(options);
    std::vector<Variation> variations = variations_of(options);
    SweepGraphs graphs([&](const Question& asked) {
        LoadedProblem loaded = load_and_say(asked.shape, asked.reading, asked.network);
        loaded.problem.record.run = run_record(options.run);
        return loaded;
    });
    const std::vector<std::int64_t> ranks = ranks_of(options, variations);
    const Question question = question_of(options, variations, graphs);
    if (variations.empty() && !options.break_even)
        say_notes({"nothing varies; --vary ranks=1,2,4 compares numbers of ranks"});
    SweepAnswers answers = sweep_answers(question, std::move(variations), graphs, options.break_even.has_value());
    if (options.as) add_printed(answers.sweep, catalog::find_publication(*options.as));
    SweepReport report{graph_text(question.loaded->problem.record, answers.sweep),
                       model_line(question.loaded->problem.record, answers.sweep),
                       machine_text(question.machine, answers.sweep, ranks),
                       without_redundant_spaces(answers.sweep),
                       {}};
    answers.sentences = sentences_of(answers, report.shown.sweep);
    report.sentences = most_telling(answers.sentences);
    say_notes(node_notes(question.machine, ranks));
    write_files(context, options, question, answers, report);
    if (options.json) {
        print_json(encode(question, answers, context.command_line));
    } else {
        print(report_text(report, use_color(context.color)));
    }
    const auto& points = answers.sweep.points;
    const bool any = std::any_of(points.begin(), points.end(), [](const SweepPoint& p) { return p.best.has_value(); });
    if (!any) {
        const std::vector<std::string> lines = nothing_fits_sentences(answers.sweep);
        throw Error(ErrorCode::infeasible, "no point of the sweep has a plan that fits", {},
                    lines.empty() ? points.front().why : lines.back());
    }
    return 0;
}

// The flags whose values a publication says: all of the problem but those that change its machine.
std::vector<const CLI::Option*> said_by_publication(const CLI::App& command) {
    std::vector<const CLI::Option*> flags;
    for (const CLI::Option* flag : command.get_options()) {
        const std::string name = flag->get_name();
        if (name != "--machine" && name != "--memory" && name != "--help") flags.push_back(flag);
    }
    return flags;
}

}  // namespace

void add_sweep(CLI::App& root, Context& context) {
    const auto options = std::make_shared<SweepOptions>();
    CLI::App& command =
        add_command(root, "sweep", "Plan every combination of settings; say where the best choice changes",
                    "gnnplan sweep --graph reddit --machine a6000x8 --vary ranks=2,4,8 --vary scheme=1d,rdm,full "
                    "--plot reddit.svg\n"
                    "gnnplan sweep --graph reddit --machine a6000x8 --ranks 8 --break-even bandwidth");
    add_problem_flags(command, options->problem);
    options->said_by_as = said_by_publication(command);
    add_run_question(command, options->run, false);
    under_heading(command, training_heading);
    command
        .add_option("--as", options->as,
                    "Plan the runs of a paper's main figure again, on its machine, and show what is printed of them "
                    "beside what is predicted; --vary, --machine and --memory change it")
        ->check(CLI::IsMember(catalog::publication_names()))
        ->type_name(fmt::format("{}", fmt::join(catalog::publication_names(), "|")));
    command
        .add_option("--vary", options->vary,
                    fmt::format("Values of one of {}; again for another one. Bandwidth is of both links, bytes per "
                                "second (10GB). Schemes may also be full and paper: all of that space",
                                fmt::join(variation_names(), ", ")))
        ->allow_extra_args(false)
        ->type_name("NAME=V1,V2,...");
    command.add_flag("--compare-schemes", options->compare_schemes, "Vary scheme over all but cut, paper and full");
    command
        .add_option("--break-even", options->break_even,
                    "Search the bandwidths at which the choice of each point changes; of the link within a node, or "
                    "between nodes where the ranks are on several")
        ->check(CLI::IsMember({"bandwidth"}))
        ->type_name("bandwidth");
    under_heading(command, "Sweep");
    command.add_option("--csv", options->csv, "Write the points as CSV")->type_name("FILE");
    command
        .add_option("--plot", options->plot,
                    "Draw time along what varies (ranks before other numbers), or over the bandwidth with "
                    "--break-even, and the Pareto front of time and memory")
        ->type_name("FILE.svg|FILE.html");
    command.add_flag("--json", options->json, "Print one JSON object (gnnplan.sweep/1)");
    under_heading(command, output_heading);
    on_command(command, context, options, run_sweep_command);
}

}  // namespace gnnplan::tools
