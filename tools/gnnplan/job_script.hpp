// Job scripts of batch systems that run a plan, and go on by themselves where their time ends before the run.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::tools {

enum class Scheduler { slurm, pbs, flux };

struct JobQuestion {
    Scheduler scheduler = Scheduler::slurm;
    std::string plan;  // file
    std::string data;
    std::string script;                    // file into which the script is written; what submits itself again names it
    std::string mpi_library;               // what MPI calls itself
    std::int64_t seconds = 0;              // of the job
    int threads = 1;                       // of a rank
    std::vector<std::string> arguments{};  // more of gnnrun's
};

// The part of the machine that a job takes, from its plan: nodes are filled one after the other, as plans assume.
struct JobSize {
    int ranks = 1, nodes = 1;
    int per_node = 1;  // most ranks on any
    int gpus_per_node = 0;
    std::int64_t node_bytes = 0;    // of host memory
    std::int64_t warn_seconds = 0;  // before the end: for an epoch and a checkpoint; 0: there is none
};
JobSize job_size(const Plan& plan, std::int64_t seconds);

// Throws Error{usage} where the job's time is too short to be warned.
std::string job_script(const Plan& plan, const JobQuestion& question);

}  // namespace gnnplan::tools
