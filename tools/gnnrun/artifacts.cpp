#include "tools/gnnrun/artifacts.hpp"

#include "planner/io/checkpoint.hpp"
#include "planner/io/files.hpp"
#include "planner/io/report.hpp"
#include "tools/common/main.hpp"
#include "tools/common/outputs.hpp"
#include "tools/text/streams.hpp"

#include <filesystem>
#include <system_error>

namespace gnnplan::tools {

bool saves_regularly(const RunFlags& flags) { return flags.checkpoint || flags.checkpoint_every || flags.resume; }

namespace {

void check_checkpoint_folder(const RunFlags& flags, FolderLock& lock) {
    if (!saves_regularly(flags)) return;
    const std::string folder = checkpoint_folder(flags);
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw Error(ErrorCode::cannot_create, "cannot create the folder: " + failure.message(), folder);
    const std::optional<std::string> note = lock.take(folder);
    if (note && !flags.quiet) say("note: {}\n", *note);
    if (!flags.resume && !checkpoints_in(folder).empty()) {
        throw Error(ErrorCode::usage, "holds checkpoints of an earlier run", folder,
                    "--resume auto goes on from them; else remove them, or name another folder with --checkpoint");
    }
    io::remove_abandoned(folder);
    io::check_can_create(folder + "/checkpoint");
}

}  // namespace

void check_artifacts(const RunFlags& flags, FolderLock& lock) {
    const bool writes = flags.report || flags.metrics || flags.trace || flags.save_weights || flags.save_embeddings ||
                        saves_regularly(flags);
    if (flags.dry_run && writes) {
        throw Error(ErrorCode::usage, "nothing is trained, so there is nothing to write", "--dry-run",
                    "leave out the files, or --dry-run");
    }
    check_outputs({{"--report", flags.report},
                   {"--metrics", flags.metrics},
                   {"--trace", flags.trace},
                   {"--save-weights", flags.save_weights},
                   {"--save-embeddings", flags.save_embeddings}},
                  {{"the plan", flags.plan},
                   {"--data", flags.data},
                   {"--load-weights", flags.load_weights},
                   {"--resume", flags.resume}});
    for (const auto& [flag, path] :
         {std::pair("--report", flags.report), std::pair("--metrics", flags.metrics), std::pair("--trace", flags.trace),
          std::pair("--save-weights", flags.save_weights), std::pair("--save-embeddings", flags.save_embeddings)}) {
        if (path && checkpoint_epoch(*path)) {
            throw Error(ErrorCode::usage, "is the name of a checkpoint", std::string(flag) + " " + *path,
                        "choose another name");
        }
    }
    check_checkpoint_folder(flags, lock);
}

void Metrics::add(const EpochRecord& epoch) {
    if (!path_ || failed_) return;
    if (!file_) file_.reset(std::fopen(path_->c_str(), "w"));
    const std::string line = io::metrics_line(epoch);
    failed_ =
        !file_ || std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0;
}

void Metrics::repeat(const std::vector<EpochRecord>& epochs) {
    for (const EpochRecord& epoch : epochs) add(epoch);
}

void Metrics::check() const {
    if (failed_) throw Error(ErrorCode::io, "not all lines could be written", *path_);
}

bool write_artifacts(const RunFlags& flags, const Artifacts& artifacts) {
    bool all = true;
    const auto attempt = [&](const auto& write) {
        all = run_guarded([&] {
                  write();
                  return 0;
              }) == 0 &&
              all;
    };
    if (flags.report) attempt([&] { io::write_file_atomically(*flags.report, io::write_report(artifacts.report)); });
    if (flags.trace && artifacts.trace)
        attempt([&] { io::write_file_atomically(*flags.trace, io::write_trace(*artifacts.trace)); });
    if (flags.save_weights && !artifacts.weights.empty()) {
        attempt([&] { io::write_file_atomically(*flags.save_weights, io::write_weights(artifacts.weights)); });
    }
    attempt([&] {
        if (artifacts.embeddings_failure) throw Error(*artifacts.embeddings_failure);
    });
    attempt([&] { artifacts.metrics.check(); });
    attempt([&] { artifacts.checkpoints.check(); });
    return all;
}

}  // namespace gnnplan::tools
