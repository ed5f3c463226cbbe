#include "runtime/run/checkpoints.hpp"

#include "planner/io/files.hpp"
#include "runtime/deploy/model_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace gnnplan::run {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kept_files = 2;
constexpr double interval = 60;      // seconds
constexpr double cost_factor = 100;  // an interval is at least so many times what saving costs

}  // namespace

StartFile read_start(const std::string& path) {
    std::error_code none;
    if (!fs::is_directory(path, none)) return {path, io::read_large_file(path), {}};
    std::vector<KeptCheckpoint> found = checkpoints_in(path);
    if (found.empty()) throw Error(ErrorCode::missing_input, "holds no checkpoints", path);
    StartFile start;
    std::optional<Error> newest_failure;
    for (auto checkpoint = found.rbegin(); checkpoint != found.rend(); ++checkpoint) {
        try {
            start.path = checkpoint->path;
            start.bytes = io::read_large_file(checkpoint->path);
            io::read_checkpoint(start.bytes, checkpoint->path);
            return start;
        } catch (const Error& error) {
            start.notes.push_back(fmt::format("warning: {}; the one before it is used", error.what()));
            if (!newest_failure) newest_failure = error;
        }
    }
    throw *newest_failure;
}

Checkpoints::Checkpoints(CheckpointSettings settings, io::Checkpoint form, std::vector<KeptCheckpoint> earlier,
                         FolderLock& lock, measure::Clock& clock, Observer& observer)
    : settings_(std::move(settings)),
      form_(std::move(form)),
      lock_(lock),
      clock_(clock),
      observer_(observer),
      last_time_(clock.now()),
      kept_(std::move(earlier)) {}

bool Checkpoints::due(const train::EpochEnd& end) const {
    if (end.ending == Ending::interrupted) return true;
    if (!settings_.regularly) return false;
    if (end.last) return true;
    if (settings_.every) return end.epoch % *settings_.every == 0;
    // One that is still being written is not waited for.
    const bool busy = writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    return !busy && clock_.now() - last_time_ >= std::max(interval, cost_factor * last_cost_);
}

void Checkpoints::offer(const train::EpochEnd& end) {
    if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) finish();
    if (end.ending == Ending::diverged || !due(end)) return;
    const double start = clock_.now();
    finish();
    TrainingState state = end.state();
    // The loss of the next epoch will tell; what it cannot go on from is not kept.
    if (deploy::all_finite(state.tensors)) attempt([&] { start_writing(std::move(state)); });
    last_time_ = clock_.now();
    last_cost_ = last_time_ - start;
    totals_.seconds += last_cost_;
}

void Checkpoints::start_writing(TrainingState state) {
    const std::int64_t done = state.epochs_of_all_runs();
    written_now_ = {done, (fs::path(settings_.folder) / io::checkpoint_name(done)).string()};
    writing_ = std::async(std::launch::async, [this, state = std::move(state)]() mutable {
        std::error_code failure;
        fs::create_directories(settings_.folder, failure);
        if (failure)
            throw Error(ErrorCode::cannot_create, "cannot create the folder: " + failure.message(), settings_.folder);
        lock_.take(settings_.folder);
        io::Checkpoint checkpoint = form_;
        checkpoint.state = std::move(state);
        io::write_file_atomically(written_now_.path, io::write_checkpoint(checkpoint));
    });
}

void Checkpoints::finish() {
    if (!writing_.valid()) return;
    attempt([&] {
        writing_.get();
        ++totals_.written;
        newest_ = written_now_;
        std::erase_if(kept_, [&](const KeptCheckpoint& kept) { return kept.path == written_now_.path; });
        kept_.push_back(written_now_);
        remove_old();
    });
}

void Checkpoints::attempt(const std::function<void()>& work) {
    std::optional<Error> failure;
    try {
        return work();
    } catch (const Error& error) {
        failure = error;
    } catch (const std::exception& error) {  // no memory for a copy, or no thread
        failure = Error(ErrorCode::io, error.what(), written_now_.path);
    }
    ++totals_.failed;
    if (failure_) return;
    failure_ = failure;
    observer_.warn(fmt::format("warning: {}; training goes on without it", failure->what()));
}

void Checkpoints::remove_old() {
    for (; kept_.size() > kept_files; kept_.erase(kept_.begin())) {
        std::error_code none;
        fs::remove(kept_.front().path, none);
    }
}

void Checkpoints::check() const {
    if (failure_) throw *failure_;
}

}  // namespace gnnplan::run
