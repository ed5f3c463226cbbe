// gnnplan launch: a plan as a job script of a batch system.
#include "planner/io/files.hpp"
#include "tools/ask/calibration.hpp"
#include "tools/common/options.hpp"
#include "tools/common/plan_file.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/job_script.hpp"
#include "tools/gnnplan/output.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

namespace gnnplan::tools {
namespace {

constexpr std::int64_t usual_job_seconds = 3600;
constexpr std::int64_t most_cores_of_rank = 4096;

struct LaunchOptions {
    std::string plan;
    bool slurm = false, pbs = false, flux = false;
    std::optional<std::string> data, output;
    std::int64_t seconds = usual_job_seconds;
    std::optional<std::int64_t> threads;
    std::vector<std::string> arguments;
};

// Those of the command line, else those of the graph that the plan was made from.
std::string data_of(const LaunchOptions& options, const Plan& plan) {
    if (options.data) return *options.data;
    const std::string& name = plan.problem.graph.name;
    if (plan.problem.graph.exact && std::filesystem::exists(name)) return name;
    if (plan.problem.graph.exact)
        throw Error(ErrorCode::missing_input, "the graph that the plan was made from is not here", name,
                    "name it with --data, as a file that gnnrun reads");
    throw Error(ErrorCode::usage, "the plan was made from sizes, and does not know the data", options.plan,
                "name them with --data");
}

int run_launch(const Context&, const LaunchOptions& options) {
    if (static_cast<int>(options.slurm) + static_cast<int>(options.pbs) + static_cast<int>(options.flux) != 1)
        throw Error(ErrorCode::usage, "for which batch system?", "launch", "add one of --slurm, --pbs and --flux");
    const Plan plan = read_plan_file(options.plan);
    const bool pbs = options.pbs;
    JobQuestion question;
    question.scheduler = options.slurm ? Scheduler::slurm : pbs ? Scheduler::pbs : Scheduler::flux;
    question.plan = options.plan;
    question.data = data_of(options, plan);
    question.script = options.output.value_or("job.sh");
    question.mpi_library = mpi_library();
    question.seconds = options.seconds;
    const auto& calibration = plan.machine.calibration;
    const int measured = calibration ? calibration->threads.value_or(1) : 1;
    question.threads = static_cast<int>(options.threads.value_or(measured));
    question.arguments = options.arguments;
    const std::string script = job_script(plan, question);
    if (!options.output) {
        print(script);
        return 0;
    }
    io::write_file_atomically(*options.output, script);
    const char* submit = options.slurm ? "sbatch" : pbs ? "qsub" : "flux batch";
    print(fmt::format("submit it:  {} {}\n", submit, command_line({*options.output})));
    return 0;
}

}  // namespace

void add_launch(CLI::App& root, Context& context) {
    const auto options = std::make_shared<LaunchOptions>();
    CLI::App& command =
        add_command(root, "launch", "Write the job script of a batch system that runs a plan, and goes on by itself",
                    "gnnplan launch plan.json --slurm --data graph.npz --time 2h -o job.sh\n"
                    "gnnplan launch plan.json --pbs --data graph.npz -- --epochs 500 --report run.json");
    command.add_option("plan", options->plan, "The plan")->required()->type_name("PLAN");
    command.add_option("arguments", options->arguments, "More arguments of gnnrun, behind --")->type_name("...");
    command.add_flag("--slurm", options->slurm, "For sbatch");
    command.add_flag("--pbs", options->pbs, "For qsub of PBS Professional and OpenPBS");
    command.add_flag("--flux", options->flux, "For flux batch");
    add_path(command, "--data", options->data, "PATH", "The data; default: the graph that the plan was made from");
    add_duration(command, "--time", options->seconds,
                 "How long the job may take, as 90m; default: 1h. Before its end the run writes a checkpoint, and the "
                 "job is queued again");
    add_count(command, "--threads", options->threads,
              "Cores of each rank; default: those with which the plan's times were measured, else 1",
              {1, most_cores_of_rank});
    add_path(command, "-o,--output", options->output, "FILE", "Write the script into this file");
    on_command(command, context, options, run_launch);
}

}  // namespace gnnplan::tools
