// The messages of gnnrun while a plan runs, and the summary at the end.
#pragma once

#include "runtime/measure/clock.hpp"
#include "runtime/run/observer.hpp"
#include "runtime/run/run.hpp"
#include "tools/gnnrun/flags.hpp"
#include "tools/gnnrun/progress.hpp"

#include <gnnplan/ir/plan.hpp>

#include <optional>
#include <string>

namespace gnnplan::tools {

class Words : public run::Observer {
public:
    // `speaks`: the process has rank 0; others say nothing. The flags outlive the object.
    Words(const RunFlags& flags, bool speaks) : flags_(flags), speaks_(speaks) {}

    void note(const std::string& line) override;
    void detail(const std::string& line) override;
    void warn(const std::string& line) override;
    std::string in_words(const std::string& text) const override;
    void data_matches(const Plan& plan, const train::TrainOptions& options) override;
    void checked(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options) override;
    void begins(const train::TrainOptions& options) override;
    void computes() override;
    void probed(const Plan& plan, const ProbeFigures& now) override;
    void run(int run, std::uint64_t seed) override;
    void epoch(const EpochRecord& epoch) override;
    std::optional<std::string> stop() override;
    void stuck(const std::string& where) override;

    // Says which files could not be written, prints report or summary, and says how an interrupted run of so many
    // processes goes on. Returns the exit code: 74 when a file could not be written, else 75 when the run was
    // interrupted. Throws Error{internal} when the bytes counted are not those predicted, Error{answer_no} when results
    // are not finite.
    int conclude(const Plan& plan, const run::Outcome& outcome, int processes);

private:
    void say_whether_loss_rose(const RunReport& report);
    std::string hint_of_divergence(const Plan& plan) const;
    void say_how_to_go_on(const std::optional<std::string>& resume_from, int processes) const;

    const RunFlags& flags_;
    bool speaks_;
    bool infers_ = false;
    measure::SteadyClock clock_;
    std::optional<Progress> progress_;
};

}  // namespace gnnplan::tools
