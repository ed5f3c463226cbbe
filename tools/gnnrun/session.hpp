// One process's part in a run: the plan and the data, shared by the ranks that are its threads.
#pragma once

#include "planner/io/trace.hpp"
#include "runtime/comm/communicator.hpp"
#include "tools/gnnrun/agreement.hpp"
#include "tools/gnnrun/artifacts.hpp"
#include "tools/gnnrun/flags.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <memory>
#include <optional>
#include <string>

namespace gnnplan::tools {

// Reads the plan and checks it. Throws what io::read_file, io::read_plan and check_predicted_bytes throw.
Plan load_plan(const RunFlags& flags);

class Session {
public:
    // `speaks`: this process holds rank 0, which is the one to talk.
    Session(const RunFlags& flags, Plan plan, bool speaks);

    // What all ranks have to have in common, see agreement.hpp: before and after the data is read.
    std::vector<Fact> facts_of_run() const { return tools::facts_of_run(flags_, options_, plan_); }
    std::vector<Fact> facts_of_data() const { return tools::facts_of_data(*dataset_); }

    // Throws Error{infeasible} when the plan is known to need more for `ranks_here`, those on this machine, than the
    // machine has.
    void check_memory(int ranks_here) const;

    // Reads the data and checks that it is the plan's. Not collective.
    void open_data();
    // Prints what a run would do, when this process speaks.
    void show_dry_run() const;

    // Trains on one rank. Collective over `comm`; with `shared`, its ranks are threads that share this object. The
    // report is kept when this rank is 0, and the trace if one is asked for.
    void train(comm::Communicator& comm, bool shared);

    // Writes and prints the results, when this process speaks; else does nothing. Returns the exit code: 74 when a file
    // could not be written, else 75 when the run was interrupted. Throws Error{internal} when the bytes counted are not
    // those predicted.
    int finish(const std::string& communicator);

private:
    const RunFlags& flags_;
    Plan plan_;
    bool speaks_;
    train::TrainOptions options_;
    std::optional<data::Dataset> dataset_;
    std::optional<RunReport> report_;
    std::optional<io::Trace> trace_;
    std::unique_ptr<Metrics> metrics_;  // of rank 0
};

}  // namespace gnnplan::tools
