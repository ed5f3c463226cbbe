#include "runtime/run/artifacts.hpp"

#include "planner/io/checkpoint.hpp"
#include "planner/io/draft.hpp"
#include "planner/io/files.hpp"
#include "planner/io/outputs.hpp"
#include "planner/io/report.hpp"
#include "runtime/run/vertex_matrix.hpp"
#include "runtime/run/vertex_parts.hpp"

#include <gnnplan/base/known_error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace gnnplan::run {

bool is_folder(const std::string& path) {
    std::error_code none;
    return path.ends_with('/') || std::filesystem::is_directory(path, none);
}

namespace {

// Whether this folder is the leftover of a killed run: it has parts, and no index of them.
bool holds_leftovers(const std::string& folder) {
    bool all_parts = true;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        all_parts = all_parts && (name == ".lock" || (is_part(name) && entry.is_regular_file()));
    }
    return all_parts;
}

void take(FolderLock& lock, const std::string& folder, Observer& observer) {
    if (const std::optional<std::string> note = lock.make_and_take(folder)) observer.note("note: " + *note);
}

// Files that are there already would lie among the new ones, or be lost.
void check_empty_folder(const std::string& folder, FolderLock& lock, Observer& observer) {
    take(lock, folder, observer);
    io::remove_leftovers(folder, [](std::string_view file) { return is_part(std::string(file)); });
    const bool leftovers = holds_leftovers(folder);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().filename() == ".lock") continue;
        if (!leftovers) {
            throw Error(ErrorCode::usage, "holds " + entry.path().filename().string() + " already",
                        "`save-logits` " + folder, "name another folder, or empty this one");
        }
        std::error_code none;
        std::filesystem::remove(entry.path(), none);
    }
}

// Refuses a folder for logits that is used for other files, too.
void check_folders_apart(const Settings& settings, const std::optional<LayerFolder>& layers, bool infers) {
    const std::string& logits = *settings.save_logits;
    const std::string other = layers ? layers->path : infers ? "" : checkpoint_folder(settings);
    if (other.empty() || !same_folder(logits, other)) return;
    throw Error(ErrorCode::usage, layers ? "is the folder of the layers" : "is the folder of the checkpoints",
                "`save-logits` " + logits, "name another folder, or a file: DIR/logits.npy");
}

// Outputs may not be named as the files of a folder of layers are.
void check_apart(const Settings& settings, const LayerFolder& layers) {
    std::error_code none;
    const auto in_folder = [&](const std::string& file) {
        const std::filesystem::path folder = std::filesystem::path(file).parent_path();
        return std::filesystem::equivalent(folder.empty() ? "." : folder, layers.path, none);
    };
    for (const auto& [flag, path] : {std::pair("`report`", settings.report), std::pair("`trace`", settings.trace),
                                     std::pair("`save-logits`", settings.save_logits)}) {
        if (!path || !std::filesystem::path(*path).filename().string().starts_with("layer") || !in_folder(*path))
            continue;
        throw Error(ErrorCode::usage, "may be the name of a layer", std::string(flag) + " " + *path,
                    "choose another name");
    }
    if (std::filesystem::equivalent(layers.path, settings.data, none)) {
        throw Error(ErrorCode::usage, "is the folder of the data", "`save-layers` " + layers.path,
                    "choose another folder");
    }
}

// Outputs of every vertex are large, and written after the work.
void check_room(const Settings& settings, const Plan& plan, const std::optional<std::string>& logits,
                const std::optional<LayerFolder>& layers) {
    if (settings.dry_run) return;
    std::vector<io::ExpectedFile> files;
    const std::int64_t vertices = plan.problem.graph.vertices;
    if (logits) {
        const std::int64_t columns = deploy::outputs_of(plan.candidates.front().schedule).columns;
        const std::int64_t whose = is_folder(*settings.save_logits) ? 8 * vertices : 0;
        files.push_back({*logits, vertex_matrix_bytes(vertices, columns) + whose});
    }
    for (int layer = 1; layers && layer <= std::ssize(layers->columns); ++layer) {
        const std::string path = layers->file(layer);
        std::error_code none;
        if (std::filesystem::exists(path, none)) continue;
        files.push_back({path, vertex_matrix_bytes(vertices, layers->columns[static_cast<std::size_t>(layer - 1)])});
    }
    io::check_free_space(files);
}

void check_checkpoint_folder(const Settings& settings, FolderLock& lock, Observer& observer) {
    if (!saves_regularly(settings)) return;
    const std::string folder = checkpoint_folder(settings);
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    take(lock, folder, observer);
    if (!settings.resume && !checkpoints_in(folder).empty()) {
        throw Error(ErrorCode::usage, "holds checkpoints of an earlier run", folder,
                    "`resume auto` goes on from them; else remove them, or name another folder with `checkpoint`");
    }
    io::remove_abandoned(folder);
    io::check_can_create(folder + "/checkpoint");
}

void refuse_names_of_checkpoints(const Settings& settings) {
    for (const auto& [flag, path] :
         {std::pair("`report`", settings.report), std::pair("`metrics`", settings.metrics),
          std::pair("`trace`", settings.trace), std::pair("`save-weights`", settings.save_weights),
          std::pair("`save-logits`", settings.save_logits)}) {
        if (path && checkpoint_epoch(*path)) {
            throw Error(ErrorCode::usage, "is the name of a checkpoint", std::string(flag) + " " + *path,
                        "choose another name");
        }
    }
}

}  // namespace

void check_artifacts(const Settings& settings, const Plan& plan, const std::optional<LayerFolder>& layers,
                     FolderLock& lock, FolderLock& lock_of_logits, Observer& observer) {
    const bool writes = settings.report || settings.metrics || settings.trace || settings.save_weights ||
                        settings.save_logits || settings.save_layers || saves_regularly(settings);
    if (settings.dry_run && writes) {
        throw Error(ErrorCode::usage, "nothing is computed, so there is nothing to write", "`dry-run`",
                    "leave out the files, or `dry-run`");
    }
    std::optional<std::string> logits = settings.save_logits;
    if (logits && is_folder(*logits)) {
        check_folders_apart(settings, layers, plan.problem.task == Task::infer);
        check_empty_folder(*logits, lock_of_logits, observer);
        logits = index_of_parts(*logits);
    }
    io::check_outputs({{"`report`", settings.report},
                       {"`metrics`", settings.metrics},
                       {"`trace`", settings.trace},
                       {"`save-weights`", settings.save_weights},
                       {"`save-logits`", logits}},
                      {{"the plan", settings.plan},
                       {"`data`", settings.data},
                       {"`load-weights`", settings.load_weights},
                       {"`resume`", settings.resume}});
    refuse_names_of_checkpoints(settings);
    if (layers) check_apart(settings, *layers);
    std::error_code none;
    if (logits && std::filesystem::exists(*logits, none) && !std::filesystem::is_regular_file(*logits, none)) {
        throw Error(ErrorCode::cannot_create, "is no regular file, which ranks could write together",
                    "`save-logits` " + *logits);
    }
    if (layers) {
        check_layer_folder(*layers, lock, observer);
    } else {
        check_checkpoint_folder(settings, lock, observer);
    }
    check_room(settings, plan, logits, layers);
}

std::vector<Error> write_artifacts(const Settings& settings, const Artifacts& artifacts) {
    std::vector<Error> failures;
    const auto attempt = [&](const auto& write) {
        try {
            write();
        } catch (const Error& error) {
            failures.push_back(error);
        } catch (const std::exception& failure) {
            const std::optional<Error> known = known_error(failure);
            failures.push_back(known ? *known
                                     : Error(ErrorCode::internal, fmt::format("internal error: {}", failure.what())));
        }
    };
    if (settings.report)
        attempt([&] { io::write_file_atomically(*settings.report, io::write_report(artifacts.report)); });
    if (settings.trace && artifacts.trace)
        attempt([&] { io::write_file_atomically(*settings.trace, io::write_trace(*artifacts.trace)); });
    if (settings.save_weights && !artifacts.weights.empty()) {
        attempt([&] {
            io::write_file_atomically(*settings.save_weights,
                                      io::write_weights(artifacts.weights, artifacts.weight_facts));
        });
    }
    attempt([&] {
        if (artifacts.logits_failure) throw Error(*artifacts.logits_failure);
    });
    attempt([&] { artifacts.files.metrics.check(); });
    attempt([&] { artifacts.files.checkpoints.check(); });
    return failures;
}

}  // namespace gnnplan::run
