// Reading guide: the three batch systems get the same job in their words. SLURM warns ranks by a signal and queues a
// job again on request. PBS and Flux have gnnrun watch the time, and the script submits itself again.
#include "tools/gnnplan/job_script.hpp"

#include "runtime/comm/launcher.hpp"
#include "tools/text/shell.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

constexpr std::int64_t shortest_warning = 120;  // seconds; SLURM sends a signal up to a minute early
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

std::string clock_text(std::int64_t seconds) {
    return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

// Three epochs, and one for the checkpoint.
std::int64_t warning_seconds(const Plan& plan) {
    const double epoch = plan.candidates.front().predicted.epoch_seconds;
    return shortest_warning + static_cast<std::int64_t>(std::ceil(4 * epoch));
}

// The bytes that a rank needs on its host, loading included; job_size() adds what programs take besides.
std::int64_t host_bytes(const Plan& plan) {
    const Candidate& first = plan.candidates.front();
    if (!plan.machine.accelerators) return first.predicted.peak_bytes_per_rank;
    const auto sizes = sizes_of(plan, first.schedule.numbering);
    return first.predicted.host_peak_bytes + load_bytes(first.schedule, *sizes, 0);
}

// Queued again by the script only where a checkpoint lets the run go on.
bool goes_on(const Plan& plan) { return plan.problem.task == Task::train; }

bool names(const std::vector<std::string>& arguments, const std::string& option) {
    return std::ranges::any_of(arguments,
                               [&](const auto& word) { return word == option || word.starts_with(option + "="); });
}

// gnnrun refuses what is given twice, and each task of `in-process` would be a whole run.
void check_arguments(const Plan& plan, const JobQuestion& question) {
    std::vector<std::pair<std::string, std::string>> taken{{"--data", "say it in front of --"},
                                                           {"--threads", "say it in front of --"},
                                                           {"--in-process", "each task of the job is a rank"}};
    if (plan.machine.accelerators) taken.emplace_back("--backend", "the plan is for GPUs");
    if (goes_on(plan)) taken.emplace_back("--resume", "the script goes on from its own checkpoints");
    if (question.scheduler != Scheduler::slurm) taken.emplace_back("--time-limit", "it follows from --time");
    for (const auto& [option, why] : taken) {
        if (names(question.arguments, option))
            throw Error(ErrorCode::usage, "the script sets this itself", option, "leave it out: " + why);
    }
}

// The command of a rank, with what the job adds to it.
std::string gnnrun(const Plan& plan, const JobQuestion& question, const std::vector<std::string>& watching) {
    std::vector<std::string> words{"gnnrun",      question.plan, "--data",
                                   question.data, "--threads",   std::to_string(question.threads)};
    if (plan.machine.accelerators) words.insert(words.end(), {"--backend", "cuda"});
    if (goes_on(plan) && !names(question.arguments, "--checkpoint"))
        words.insert(words.end(), {"--checkpoint", "checkpoints"});
    if (goes_on(plan)) words.insert(words.end(), {"--resume", "auto"});
    words.insert(words.end(), watching.begin(), watching.end());
    words.insert(words.end(), question.arguments.begin(), question.arguments.end());
    return command_line(words);
}

// Runs `start`, and `again` where the run has ended early with a checkpoint.
std::string body(const Plan& plan, const std::string& start, const std::string& again) {
    if (!goes_on(plan)) return start + "\n";
    return fmt::format(
        "{}\ncode=$?\n# 75: the time is over, and a checkpoint is written.\nif [ $code -eq 75 ]; then {}; fi\nexit "
        "$code\n",
        start, again);
}

std::string slurm_script(const Plan& plan, const JobQuestion& question, const JobSize& size) {
    std::string text = "#!/bin/bash\n";
    const auto add = [&](const std::string& directive) { text += "#SBATCH --" + directive + "\n"; };
    add("job-name=gnnplan");
    add(fmt::format("nodes={}", size.nodes));
    add(fmt::format("ntasks={}", size.ranks));
    add(fmt::format("ntasks-per-node={}", size.per_node));
    add(fmt::format("cpus-per-task={}", question.threads));
    if (size.gpus_per_node > 0) add(fmt::format("gpus-per-node={}", size.gpus_per_node));
    add(fmt::format("mem={}G", size.node_bytes / gibibyte));
    add("time=" + clock_text(question.seconds));
    if (size.warn_seconds > 0) {
        add(fmt::format("signal=USR1@{}", size.warn_seconds));
        add("requeue");
        add("open-mode=append");
    }
    const std::string srun =
        comm::start_command(size.ranks, {.launcher = comm::Launcher::srun, .library = question.mpi_library});
    // Since SLURM 22.05 steps do not take the number of cores over from the job. Without planes ranks are dealt evenly.
    const std::string start = fmt::format("{} --nodes={} --cpus-per-task={} --distribution=plane={} {}", srun,
                                          size.nodes, question.threads, size.per_node, gnnrun(plan, question, {}));
    return text + "\n" + body(plan, start, "scontrol requeue \"$SLURM_JOB_ID\"");
}

std::vector<std::string> own_time_limit(const JobQuestion& question, const JobSize& size) {
    if (size.warn_seconds == 0) return {};
    return {"--time-limit", fmt::format("{}s", question.seconds - size.warn_seconds)};
}

// Nodes of PBS that have `ranks` each.
std::string pbs_chunk(int nodes, int ranks, const JobQuestion& question, const JobSize& size) {
    const std::string gpus = size.gpus_per_node > 0 ? fmt::format(":ngpus={}", ranks) : "";
    const std::int64_t bytes = (size.node_bytes * ranks + size.per_node - 1) / size.per_node;
    return fmt::format("{}:ncpus={}:mpiprocs={}:ompthreads={}{}:mem={}gb", nodes, ranks * question.threads, ranks,
                       question.threads, gpus, std::max<std::int64_t>(1, bytes / gibibyte));
}

std::string pbs_script(const Plan& plan, const JobQuestion& question, const JobSize& size) {
    const int full = size.ranks / size.per_node, left = size.ranks % size.per_node;
    std::string chunks = full > 0 ? pbs_chunk(full, size.per_node, question, size) : "";
    if (left > 0) chunks += (chunks.empty() ? "" : "+") + pbs_chunk(1, left, question, size);
    const std::string start =
        comm::start_command(size.ranks, {.launcher = comm::Launcher::mpiexec, .library = question.mpi_library});
    // Open MPI would bind a rank to one core. gnnrun binds threads to cores itself.
    const bool open_mpi = question.mpi_library.find("Open MPI") != std::string::npos;
    return fmt::format(
        "#!/bin/bash\n#PBS -N gnnplan\n#PBS -l select={}\n#PBS -l place=scatter\n"
        "#PBS -l walltime={}\n#PBS -j oe\n\ncd \"$PBS_O_WORKDIR\" || exit 1\n{}",
        chunks, clock_text(question.seconds),
        body(plan,
             start + (open_mpi ? " --bind-to none " : " ") + gnnrun(plan, question, own_time_limit(question, size)),
             command_line({"qsub", question.script})));
}

std::string flux_script(const Plan& plan, const JobQuestion& question, const JobSize& size) {
    std::string text = "#!/bin/bash\n";
    const auto add = [&](const std::string& directive) { text += "# flux: --" + directive + "\n"; };
    add("job-name=gnnplan");
    add(fmt::format("nodes={}", size.nodes));
    add(fmt::format("nslots={}", size.ranks));
    add(fmt::format("cores-per-slot={}", question.threads));
    if (size.gpus_per_node > 0) add("gpus-per-slot=1");
    add(fmt::format("time-limit={}s", question.seconds));
    const std::string run =
        comm::start_command(size.ranks, {.launcher = comm::Launcher::flux, .library = question.mpi_library});
    const std::string gpus = size.gpus_per_node > 0 ? " --gpus-per-task=1" : "";
    const std::string start = fmt::format("{} --nodes={} --cores-per-task={}{} {}", run, size.nodes, question.threads,
                                          gpus, gnnrun(plan, question, own_time_limit(question, size)));
    return text + "\n" + body(plan, start, command_line({"flux", "--parent", "batch", question.script}));
}

}  // namespace

JobSize job_size(const Plan& plan, std::int64_t seconds) {
    JobSize size;
    size.ranks = plan.problem.ranks;
    size.per_node = std::min(size.ranks, std::max(1, plan.machine.ranks_per_node));
    size.nodes = (size.ranks + size.per_node - 1) / size.per_node;
    if (plan.machine.accelerators) size.gpus_per_node = size.per_node;
    // A quarter more than is predicted, and half a gibibyte for each process and its MPI.
    const std::int64_t rank = host_bytes(plan) / 4 * 5 + gibibyte / 2;
    size.node_bytes = (rank * size.per_node + gibibyte - 1) / gibibyte * gibibyte;
    if (goes_on(plan)) size.warn_seconds = warning_seconds(plan);
    if (size.warn_seconds >= seconds) {
        throw Error(
            ErrorCode::usage,
            fmt::format("the job would be warned {} s before its end, and has {} s", size.warn_seconds, seconds),
            "--time",
            fmt::format("an epoch takes {:.3g} s: give it more", plan.candidates.front().predicted.epoch_seconds));
    }
    return size;
}

std::string job_script(const Plan& plan, const JobQuestion& question) {
    check_arguments(plan, question);
    const JobSize size = job_size(plan, question.seconds);
    switch (question.scheduler) {
        case Scheduler::pbs: return pbs_script(plan, question, size);
        case Scheduler::flux: return flux_script(plan, question, size);
        case Scheduler::slurm: break;
    }
    return slurm_script(plan, question, size);
}

}  // namespace gnnplan::tools
