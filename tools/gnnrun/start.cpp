#include "tools/gnnrun/start.hpp"

#include "planner/io/files.hpp"
#include "runtime/train/model_values.hpp"
#include "tools/common/main.hpp"
#include "tools/common/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace gnnplan::tools {
namespace {

constexpr const char* automatic = "auto";
// Two runs that differ in these are not one; of the other options the flags of today decide.
constexpr std::array<std::string_view, 1> same_options{"--seed"};

// The path that --resume means; nothing when a run starts afresh.
std::optional<std::string> resumed_path(const RunFlags& flags) {
    if (flags.resume != automatic) return flags.resume;
    const std::string folder = checkpoint_folder(flags);
    if (!checkpoints_in(folder).empty()) return folder;
    if (!flags.quiet) say("{}: holds no checkpoints: training starts with the first epoch\n", folder);
    return std::nullopt;
}

}  // namespace

void Start::read(const RunFlags& flags) {
    if (flags.load_weights) {
        path_ = *flags.load_weights;
        bytes_ = io::read_file(path_);
        return;
    }
    const std::optional<std::string> path = resumed_path(flags);
    if (!path) return;
    StartFile file = read_start(*path);
    if (!flags.quiet) {
        for (const std::string& note : file.notes) say("{}\n", note);
    }
    resumes_ = true;
    path_ = std::move(file.path);
    bytes_ = std::move(file.bytes);
}

void Start::share(comm::Communicator& comm) {
    const bool mine = comm.rank() == 0;
    path_ = comm.control_all_gather(mine ? path_ : "").front();
    resumes_ = !comm.control_all_gather(mine && resumes_ ? "resumes" : "").front().empty();
    if (!path_.empty()) bytes_ = comm.control_all_gather(mine ? bytes_ : "").front();
}

void Start::take(const Plan& plan) {
    if (path_.empty()) return;
    const Schedule& schedule = plan.candidates.front().schedule;
    if (resumes_) {
        checkpoint_ = io::read_checkpoint(bytes_, path_);
        train::check_values(checkpoint_->state.tensors, schedule, true, path_);
    } else {
        weights_ = io::read_weights(bytes_, path_);
        train::check_values(*weights_, schedule, false, path_);
    }
    bytes_ = {};
}

std::vector<std::string> Start::compare(const std::vector<Fact>& facts) const {
    std::vector<std::string> differing;
    if (!checkpoint_) return differing;
    for (const auto& fact : checkpoint_->facts) {
        const std::string& name = fact.first;
        const std::string& then = fact.second;
        const auto now = std::find_if(facts.begin(), facts.end(), [&](const Fact& f) { return f.name == name; });
        if (now == facts.end() || now->value == then) continue;
        const bool option = name.starts_with("--");
        if (!option || std::find(same_options.begin(), same_options.end(), name) != same_options.end()) {
            throw Error(ErrorCode::mismatch,
                        fmt::format("{} was {} when the checkpoint was written, and is {} now", name, then, now->value),
                        path_, option ? fmt::format("use {} {}", name, then) : "resume with the same data");
        }
        differing.push_back(fmt::format("{} was {} up to epoch {}, and is {} from here on", name, then,
                                        checkpoint_->state.epoch, now->value));
    }
    return differing;
}

std::vector<KeptCheckpoint> Start::earlier_in(const std::string& folder) const {
    namespace fs = std::filesystem;
    std::vector<KeptCheckpoint> earlier;
    std::error_code none;
    const fs::path own = fs::path(path_).parent_path();
    if (!checkpoint_ || !fs::equivalent(own.empty() ? fs::path(".") : own, folder, none)) return earlier;
    for (KeptCheckpoint& kept : checkpoints_in(folder)) {
        if (kept.epoch <= checkpoint_->state.epoch) earlier.push_back(std::move(kept));
    }
    return earlier;
}

std::string resuming_command(const RunFlags& flags, int processes, const std::string& checkpoint) {
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < flags.arguments.size(); ++i) {
        const std::string& argument = flags.arguments[i];
        if (argument == "--resume" || argument == "--load-weights") {
            ++i;  // and its value
        } else if (!argument.starts_with("--resume=") && !argument.starts_with("--load-weights=")) {
            arguments.push_back(argument);
        }
    }
    arguments.insert(arguments.end(), {"--resume", checkpoint});
    return (processes > 1 ? fmt::format("mpirun -n {} ", processes) : "") + command_line(arguments);
}

}  // namespace gnnplan::tools
