// A run tells an observer how it goes, and asks it whether to go on.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/train/options.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace gnnplan::run {

// Each process has one. It hears from the thread that called Run::go(), and from that of the process's first rank,
// never from both at a time. Lines for the user, begins(), run() and epoch() come in the process with rank 0 only.
class Observer {
public:
    Observer() = default;
    virtual ~Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    virtual void note(const std::string& /*line*/) {}    // for the user
    virtual void detail(const std::string& /*line*/) {}  // for a user who wants to know more
    virtual void warn(const std::string& /*line*/) {}    // something is lost, and the run goes on
    // A text of the library, which names options by their ids, as it stands in reports.
    virtual std::string in_words(const std::string& text) const { return text; }

    // The data is open and is the plan's, which predicts for these options.
    virtual void data_matches(const Plan&, const train::TrainOptions&) {}
    // All is checked that can be checked before anything is computed; a dry run ends here.
    virtual void checked(const Plan&, const data::Dataset&, const train::TrainOptions&) {}
    // Rank 0 begins, to load the graph first.
    virtual void begins(const train::TrainOptions&) {}
    // A probe found this machine in such a state before a long training began.
    virtual void probed(const Plan&, const ProbeFigures&) {}
    // From here on the process may be told to end the run, and stop() is asked.
    virtual void computes() {}
    // One of several runs, counted from 0, begins or goes on.
    virtual void run(int /*run*/, std::uint64_t /*seed*/) {}
    virtual void epoch(const EpochRecord&) {}
    // Whether this process was told to end the run, and why: asked on the first rank of each process after every epoch,
    // and after every step of an inference.
    virtual std::optional<std::string> stop() { return std::nullopt; }

    // Nothing has moved for settings.timeout_seconds: `where` says which rank was seen last, and is empty where another
    // process says it. Called on a thread of its own; has to end the process, as nothing else helps a rank that waits
    // inside MPI.
    virtual void stuck(const std::string& /*where*/) { std::_Exit(static_cast<int>(ErrorCode::unavailable)); }
};

}  // namespace gnnplan::run
