#include "runtime/run/start.hpp"

#include "planner/io/facts.hpp"
#include "planner/io/files.hpp"
#include "planner/io/parse.hpp"
#include "runtime/deploy/model_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace gnnplan::run {
namespace {

// Two runs that differ in these are not one; the other options may change when a run is resumed.
const std::array<std::string, 2> same_options{io::option_fact("seed"), io::option_fact("feature-norm")};

// The path that settings.resume means; nothing when a run starts afresh.
std::optional<std::string> resumed_path(const Settings& settings, Observer& observer) {
    if (settings.resume != resume_if_there) return settings.resume;
    const std::string folder = checkpoint_folder(settings);
    if (!checkpoints_in(folder).empty()) return folder;
    observer.note(folder + ": holds no checkpoints: training starts with the first epoch");
    return std::nullopt;
}

std::filesystem::path folder_of(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    return folder.empty() ? std::filesystem::path(".") : folder;
}

bool is_same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code none;
    return std::filesystem::equivalent(a, b, none);
}

// A checkpoint has the weights of the epoch that was the best by the score of then.
constexpr const char* best_from_here = "; the weights that `keep-best` keeps are the best of later epochs";

// An option or a fingerprint in which the checkpoint's run and this one differ.
struct Difference {
    std::string name;
    std::string then;
    std::string now;
    bool of_another_run = false;
};

bool is_of_model(const std::string& fact) { return fact == "the model" || fact == "the weighing of edges"; }
bool is_of_batches(const std::string& fact) { return fact.starts_with("the batches'"); }

// Options that a checkpoint does not know came with a later build; what else it does not say may be another's.
std::vector<Difference> differences(const io::Checkpoint& checkpoint, const std::vector<Fact>& facts) {
    std::vector<Difference> found;
    for (const Fact& fact : facts) {
        const auto then = std::ranges::find(checkpoint.facts, fact.name, &io::WeightFacts::value_type::first);
        const bool said = then != checkpoint.facts.end();
        const bool same = std::ranges::find(same_options, fact.name) != same_options.end();
        const bool of_another_run = same || !io::is_option_fact(fact.name);
        if (said ? then->second == fact.value : !of_another_run) continue;
        found.push_back({fact.name, said ? then->second : "not said", fact.value, of_another_run});
    }
    for (const auto& [name, then] : checkpoint.facts) {  // such as features, where they are generated now
        if (io::is_option_fact(name) || std::ranges::find(facts, name, &Fact::name) != facts.end()) continue;
        found.push_back({name, then, "not said", true});
    }
    return found;
}

// New checkpoints may share a folder with older ones only if the run resumes one of these and it is the newest there:
// otherwise nobody could tell afterwards which checkpoint belongs to which run. If a folder was named (not `by_name`),
// its newest whole checkpoint was taken, so later ones are damaged.
void check_folder(const std::string& folder, const std::string& resumed, bool by_name) {
    const bool own = is_same_folder(folder_of(resumed), folder);
    const std::optional<std::int64_t> epoch = checkpoint_epoch(resumed);
    if (own && (!by_name || !epoch)) return;
    for (const KeptCheckpoint& kept : checkpoints_in(folder)) {
        if (own && kept.epoch <= *epoch) continue;
        throw Error(ErrorCode::usage, own ? "holds checkpoints of later epochs" : "holds checkpoints of another run",
                    folder, "remove them, or name another folder with `checkpoint`");
    }
}

}  // namespace

void Start::read(const Settings& settings, Observer& observer) {
    if (settings.load_weights) {
        path_ = *settings.load_weights;
        bytes_ = io::read_large_file(path_);
        return;
    }
    const std::optional<std::string> path = resumed_path(settings, observer);
    if (!path) return;
    StartFile file = read_start(*path);
    for (const std::string& note : file.notes) observer.note(note);
    resumes_ = true;
    afresh_ = fmt::format("to start afresh, {}name another folder with `checkpoint`",
                          settings.resume == resume_if_there ? "" : "leave out `resume` and ");
    check_folder(checkpoint_folder(settings), file.path, *path == file.path);
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
    plan_ = &plan;
    if (path_.empty()) return;
    const Schedule& schedule = plan.candidates.front().schedule;
    if (resumes_) {
        checkpoint_ = io::read_checkpoint(bytes_, path_);
        try {
            deploy::check_values(checkpoint_->state.tensors, schedule, true, path_);
        } catch (const Error& error) {
            throw Error(error.code(), fmt::format("{} ({})", error.what(), ways_on("")));
        }
    } else {
        weights_ = io::read_weights(bytes_, path_);
        weight_facts_ = io::facts_of_weights(bytes_, path_);
        deploy::check_values(*weights_, schedule, false, path_);
    }
    bytes_ = {};
}

std::vector<std::string> Start::compare_weights(const std::vector<Fact>& facts) const {
    std::vector<std::string> texts;
    for (const auto& [name, then] : weight_facts_) {
        const auto now = std::ranges::find(facts, name, &Fact::name);
        if (now == facts.end() || now->value == then) continue;
        const std::string text = fmt::format("{} was {} when the weights were trained, and is {} now",
                                             io::fact_text(name), io::key_text(then), now->value);
        if (plan_->problem.task == Task::infer) {
            throw Error(ErrorCode::mismatch, text, path_,
                        io::is_option_fact(name) ? "use " + io::fact_text(name, io::key_text(then))
                                                 : "plan for the model that the weights are of");
        }
        texts.push_back(text);
    }
    return texts;
}

std::vector<std::string> Start::compare(const std::vector<Fact>& facts) const {
    std::vector<std::string> texts;
    if (!checkpoint_) return compare_weights(facts);
    for (const Difference& d : differences(*checkpoint_, facts)) {
        if (!d.of_another_run) {
            texts.push_back(fmt::format("{} was {} up to epoch {}, and is {} from here on", io::fact_text(d.name),
                                        io::key_text(d.then), checkpoint_->state.epoch, d.now) +
                            (d.name == io::option_fact("best-by") ? best_from_here : ""));
            continue;
        }
        const bool option = io::is_option_fact(d.name);
        const bool batches = is_of_batches(d.name);
        const bool data = !option && !batches && !is_of_model(d.name);
        std::string hint = ways_on(option    ? "use " + io::fact_text(d.name, io::key_text(d.then))
                                   : data    ? "resume with the same data"
                                   : batches ? "resume with a plan of the same batches"
                                             : "resume with a plan of the same model");
        if (const auto earlier = earlier_that_fits(facts)) {
            hint += fmt::format("; {} is of this run: `resume` with its name, and another folder in `checkpoint`",
                                *earlier);
        }
        throw Error(ErrorCode::mismatch,
                    !data ? fmt::format("{} was {} when the checkpoint was written, and is {} now",
                                        io::fact_text(d.name), io::key_text(d.then), d.now)
                          : fmt::format("the checkpoint is of other data: not the same {}",
                                        d.name.substr(d.name.find(' ') + 1)),
                    path_, hint);
    }
    return texts;
}

std::string Start::ways_on(const std::string& hint) const {
    return hint + (hint.empty() || afresh_.empty() ? "" : "; ") + afresh_;
}

// Only the process that has read the checkpoint looks for another: others may not see the folder, and do not speak.
std::optional<std::string> Start::earlier_that_fits(const std::vector<Fact>& facts) const {
    if (afresh_.empty()) return std::nullopt;
    const std::vector<KeptCheckpoint> all = checkpoints_in(folder_of(path_).string());
    for (auto kept = all.rbegin(); kept != all.rend(); ++kept) {
        if (kept->epoch >= checkpoint_->state.epochs_of_all_runs()) continue;
        try {
            const io::Checkpoint earlier = io::read_checkpoint(io::read_large_file(kept->path), kept->path);
            deploy::check_values(earlier.state.tensors, plan_->candidates.front().schedule, true, kept->path);
            const auto different = differences(earlier, facts);
            const bool fits =
                std::none_of(different.begin(), different.end(), [](const Difference& d) { return d.of_another_run; });
            if (fits) return kept->path;
        } catch (const Error&) {
            continue;  // damaged, or of another model
        }
    }
    return std::nullopt;
}

std::vector<KeptCheckpoint> Start::earlier_in(const std::string& folder) const {
    std::vector<KeptCheckpoint> earlier;
    if (!checkpoint_ || !is_same_folder(folder_of(path_), folder)) return earlier;
    for (KeptCheckpoint& kept : checkpoints_in(folder)) {
        if (kept.epoch <= checkpoint_->state.epochs_of_all_runs()) earlier.push_back(std::move(kept));
    }
    return earlier;
}

}  // namespace gnnplan::run
