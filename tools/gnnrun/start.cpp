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
constexpr std::array<std::string_view, 2> same_options{"--seed", "--feature-norm"};

// The path that --resume means; nothing when a run starts afresh.
std::optional<std::string> resumed_path(const RunFlags& flags) {
    if (flags.resume != automatic) return flags.resume;
    const std::string folder = checkpoint_folder(flags);
    if (!checkpoints_in(folder).empty()) return folder;
    if (!flags.quiet) say("{}: holds no checkpoints: training starts with the first epoch\n", folder);
    return std::nullopt;
}

bool same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code none;
    return std::filesystem::equivalent(a.empty() ? std::filesystem::path(".") : a, b, none);
}

// New checkpoints go into a folder with those before the one that is resumed, if with any: of others, or of later
// epochs, nobody could tell afterwards which are of which run. Of a folder (not `by_name`) the newest whole one was
// taken, so that later ones are damaged.
void check_folder(const std::string& folder, const std::string& resumed, bool by_name) {
    const bool own = same_folder(std::filesystem::path(resumed).parent_path(), folder);
    const std::optional<std::int64_t> epoch = checkpoint_epoch(resumed);
    if (own && (!by_name || !epoch)) return;
    for (const KeptCheckpoint& kept : checkpoints_in(folder)) {
        if (own && kept.epoch <= *epoch) continue;
        throw Error(ErrorCode::usage, own ? "holds checkpoints of later epochs" : "holds checkpoints of another run",
                    folder, "remove them, or name another folder with --checkpoint");
    }
}

}  // namespace

void Start::read(const RunFlags& flags) {
    if (flags.load_weights) {
        path_ = *flags.load_weights;
        bytes_ = io::read_large_file(path_);
        return;
    }
    const std::optional<std::string> path = resumed_path(flags);
    if (!path) return;
    StartFile file = read_start(*path);
    if (!flags.quiet) {
        for (const std::string& note : file.notes) say("{}\n", note);
    }
    resumes_ = true;
    check_folder(checkpoint_folder(flags), file.path, *path == file.path);
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
            const std::string what =
                option
                    ? fmt::format("{} was {} when the checkpoint was written, and is {} now", name, then, now->value)
                    : fmt::format("the checkpoint is of other data: not the same {}", name.substr(name.find(' ') + 1));
            throw Error(ErrorCode::mismatch, what, path_,
                        option ? fmt::format("use {} {}", name, then) : "resume with the same data");
        }
        differing.push_back(fmt::format("{} was {} up to epoch {}, and is {} from here on", name, then,
                                        checkpoint_->state.epoch, now->value));
    }
    return differing;
}

std::vector<KeptCheckpoint> Start::earlier_in(const std::string& folder) const {
    std::vector<KeptCheckpoint> earlier;
    if (!checkpoint_ || !same_folder(std::filesystem::path(path_).parent_path(), folder)) return earlier;
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
