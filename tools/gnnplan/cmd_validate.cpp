// gnnplan validate: is a file what it says it is, and whole, and does a plan fit a machine.
#include "planner/io/checkpoint.hpp"
#include "planner/io/checkpoint_folder.hpp"
#include "planner/io/files.hpp"
#include "planner/io/machine.hpp"
#include "planner/io/parse.hpp"
#include "planner/io/report.hpp"
#include "planner/io/safetensors.hpp"
#include "planner/io/schema.hpp"
#include "tools/advise/json/validation_json.hpp"
#include "tools/common/main.hpp"
#include "tools/common/plan_file.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/text/format.hpp"
#include "tools/text/option_names.hpp"
#include "tools/text/streams.hpp"

#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/question.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace gnnplan::tools {
namespace {

struct ValidateOptions {
    std::vector<std::string> files;
    std::string machine;
    bool json = false;
};

// The memory that a rank of the machine needs: the plan says it for the kind of machine it was made for; for others,
// sizes give an estimate.
std::int64_t peak_on(const Machine& machine, const Plan& plan, const Candidate& candidate) {
    if (machine.accelerators == plan.machine.accelerators) return candidate.predicted.peak_bytes_per_rank;
    const auto sizes = sizes_of(plan, candidate.schedule.numbering);
    return peak_bytes_per_rank(candidate.schedule, *sizes, machine.tensor_memory());
}

void check_memory(const Plan& plan, const Machine& machine, const std::string& file) {
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
        const std::int64_t peak = peak_on(machine, plan, plan.candidates[i]);
        if (peak <= machine.usable_memory()) continue;
        throw Error(ErrorCode::answer_no,
                    fmt::format("needs {} per rank, {} has {}", enough_memory_text(peak), machine.name,
                                limit_text(machine.usable_memory())),
                    fmt::format("{}: candidates[{}]", file, i));
    }
}

void check(const std::string& schema, const std::string& text, const std::string& file,
           const std::optional<Machine>& machine) {
    if (schema.starts_with("gnnplan.plan/")) {
        const Plan plan = read_plan_text(text, file);
        if (machine) check_memory(plan, *machine, file);
    } else if (schema.starts_with("gnnplan.run/")) {
        io::read_report(text, file);
    } else if (schema.starts_with("gnnplan.machine/")) {
        io::read_machine(text, file);
    } else {
        io::refuse_kind(file, schema, "gnnplan.plan, gnnplan.run and gnnplan.machine");
    }
}

bool is_folder(const std::string& name) {
    std::error_code none;
    return std::filesystem::is_directory(name, none);
}

// A folder of checkpoints stands for these, the oldest first.
std::vector<std::string> with_folders(const std::vector<std::string>& names) {
    std::vector<std::string> files;
    for (const std::string& name : names) {
        const std::vector<io::KeptCheckpoint> found = io::checkpoints_in(name);
        for (const io::KeptCheckpoint& checkpoint : found) files.push_back(checkpoint.path);
        if (found.empty()) files.push_back(name);
    }
    return files;
}

// The seed of a checkpoint's run.
std::string seed_text(const io::WeightFacts& facts) {
    const auto seed = std::ranges::find(facts, "--seed", &io::WeightFacts::value_type::first);
    return seed == facts.end() ? "" : ", --seed " + io::key_text(seed->second);
}

Verdict judge(const std::string& file, const std::optional<Machine>& machine) {
    Verdict verdict;
    verdict.file = file;
    try {
        if (is_folder(file)) throw Error(ErrorCode::missing_input, "is a folder without checkpoints", file);
        const bool tensors = file.ends_with(".safetensors");  // of any size, and also when it was cut
        const std::string text = tensors ? io::read_large_file(file) : io::read_file(file);
        if (tensors || io::is_safetensors(text)) {
            const io::TensorsContent content = io::read_content(text, file);
            verdict.schema = content.schema;
            verdict.content = content.text + seed_text(content.facts);
            return verdict;
        }
        verdict.schema = io::schema_of(text, file);
        check(verdict.schema, text, file, machine);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::internal) throw;
        verdict.error = io::shortened(with_dashes(error.what()));
        verdict.code = error.code() == ErrorCode::data ? ErrorCode::answer_no : error.code();
    }
    return verdict;
}

void show(const std::vector<Verdict>& verdicts, bool json) {
    if (!json) {
        for (const Verdict& verdict : verdicts) {
            const std::string kind = verdict.schema.empty() ? "weights" : verdict.schema;
            const std::string content = verdict.content.empty() ? "" : ": " + verdict.content;
            if (verdict.error.empty()) print(fmt::format("{}: ok ({}{})\n", verdict.file, kind, content));
            if (!verdict.error.empty() && verdict.code == ErrorCode::answer_no)
                print(fmt::format("invalid: {}\n", io::printable(verdict.error)));
        }
        return;
    }
    print_json(encode(verdicts));
}

int run_validate(const Context&, const ValidateOptions& options) {
    std::optional<Machine> machine;
    if (!options.machine.empty()) machine = find_machine(options.machine);
    std::vector<Verdict> verdicts;
    for (const std::string& file : with_folders(options.files)) verdicts.push_back(judge(file, machine));
    show(verdicts, options.json);
    // A file that could not be read weighs more than an invalid one.
    int code = 0;
    for (const Verdict& verdict : verdicts) {
        if (verdict.error.empty()) continue;
        if (verdict.code != ErrorCode::answer_no) say_error(verdict.error);
        code = std::max(code, static_cast<int>(verdict.code));
    }
    return code;
}

}  // namespace

void add_validate(CLI::App& root, Context& context) {
    const auto options = std::make_shared<ValidateOptions>();
    CLI::App& command =
        add_command(root, "validate", "Check plans, run reports, machine profiles, checkpoints and weights",
                    "gnnplan validate plan.json run.json\ngnnplan validate plan.json --machine a6000x8\n"
                    "gnnplan validate plan.checkpoints");
    command.add_option("files", options->files, "The files; a folder stands for the checkpoints in it")
        ->required()
        ->type_name("FILE...");
    command
        .add_option("--machine", options->machine, "Whether plans fit its memory: a preset or the file of a profile")
        ->type_name("NAME|FILE");
    command.add_flag("--json", options->json, "Print one JSON object (gnnplan.validation/1)");
    on_command(command, context, options, run_validate);
}

}  // namespace gnnplan::tools
