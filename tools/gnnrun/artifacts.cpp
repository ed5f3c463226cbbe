#include "tools/gnnrun/artifacts.hpp"

#include "planner/io/checkpoint.hpp"
#include "planner/io/draft.hpp"
#include "planner/io/files.hpp"
#include "planner/io/report.hpp"
#include "tools/common/main.hpp"
#include "tools/common/outputs.hpp"
#include "tools/gnnrun/vertex_matrix.hpp"
#include "tools/text/streams.hpp"

#include <filesystem>
#include <system_error>

namespace gnnplan::tools {

bool saves_regularly(const RunFlags& flags) { return flags.checkpoint || flags.checkpoint_every || flags.resume; }

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

// What is there already would lie among the new files, or be lost.
void check_empty_folder(const std::string& folder, FolderLock& lock, bool quiet) {
    lock.make_and_take(folder, quiet);
    io::remove_leftovers(folder, [](std::string_view file) { return is_part(std::string(file)); });
    const bool leftovers = holds_leftovers(folder);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().filename() == ".lock") continue;
        if (!leftovers) {
            throw Error(ErrorCode::usage, "holds " + entry.path().filename().string() + " already",
                        "--save-embeddings " + folder, "name another folder, or empty this one");
        }
        std::error_code none;
        std::filesystem::remove(entry.path(), none);
    }
}

// Refuses a folder for embeddings that is used for other files, too.
void check_folders_apart(const RunFlags& flags, const std::optional<LayerFolder>& layers, bool infers) {
    const std::string& embeddings = *flags.save_embeddings;
    const std::string other = layers ? layers->path : infers ? "" : checkpoint_folder(flags);
    if (other.empty() || !same_folder(embeddings, other)) return;
    throw Error(ErrorCode::usage, layers ? "is the folder of the layers" : "is the folder of the checkpoints",
                "--save-embeddings " + embeddings, "name another folder, or a file: DIR/embeddings.npy");
}

// Outputs may not be named as the files of a folder of layers are.
void check_apart(const RunFlags& flags, const LayerFolder& layers) {
    std::error_code none;
    const auto in_folder = [&](const std::string& file) {
        const std::filesystem::path folder = std::filesystem::path(file).parent_path();
        return std::filesystem::equivalent(folder.empty() ? "." : folder, layers.path, none);
    };
    for (const auto& [flag, path] : {std::pair("--report", flags.report), std::pair("--trace", flags.trace),
                                     std::pair("--save-embeddings", flags.save_embeddings)}) {
        if (!path || !std::filesystem::path(*path).filename().string().starts_with("layer") || !in_folder(*path))
            continue;
        throw Error(ErrorCode::usage, "may be the name of a layer", std::string(flag) + " " + *path,
                    "choose another name");
    }
    if (std::filesystem::equivalent(layers.path, flags.data, none)) {
        throw Error(ErrorCode::usage, "is the folder of the data", "--save-layers " + layers.path,
                    "choose another folder");
    }
}

// What is written of every vertex is large, and written after the work.
void check_room(const RunFlags& flags, const Plan& plan, const std::optional<std::string>& embeddings,
                const std::optional<LayerFolder>& layers) {
    if (flags.dry_run) return;
    std::vector<ExpectedFile> files;
    const std::int64_t vertices = plan.problem.graph.vertices;
    if (embeddings) {
        const std::int64_t columns = deploy::outputs_of(plan.candidates.front().schedule).columns;
        const std::int64_t whose = is_folder(*flags.save_embeddings) ? 8 * vertices : 0;
        files.push_back({*embeddings, vertex_matrix_bytes(vertices, columns) + whose});
    }
    for (int layer = 1; layers && layer <= std::ssize(layers->columns); ++layer) {
        const std::string path = layers->file(layer);
        std::error_code none;
        if (std::filesystem::exists(path, none)) continue;
        files.push_back({path, vertex_matrix_bytes(vertices, layers->columns[static_cast<std::size_t>(layer - 1)])});
    }
    check_free_space(files);
}

void check_checkpoint_folder(const RunFlags& flags, FolderLock& lock) {
    if (!saves_regularly(flags)) return;
    const std::string folder = checkpoint_folder(flags);
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    lock.make_and_take(folder, flags.quiet);
    if (!flags.resume && !checkpoints_in(folder).empty()) {
        throw Error(ErrorCode::usage, "holds checkpoints of an earlier run", folder,
                    "--resume auto goes on from them; else remove them, or name another folder with --checkpoint");
    }
    io::remove_abandoned(folder);
    io::check_can_create(folder + "/checkpoint");
}

}  // namespace

void check_artifacts(const RunFlags& flags, const Plan& plan, const std::optional<LayerFolder>& layers,
                     FolderLock& lock, FolderLock& lock_of_embeddings) {
    const bool writes = flags.report || flags.metrics || flags.trace || flags.save_weights || flags.save_embeddings ||
                        flags.save_layers || saves_regularly(flags);
    if (flags.dry_run && writes) {
        throw Error(ErrorCode::usage, "nothing is computed, so there is nothing to write", "--dry-run",
                    "leave out the files, or --dry-run");
    }
    std::optional<std::string> embeddings = flags.save_embeddings;
    if (embeddings && is_folder(*embeddings)) {
        check_folders_apart(flags, layers, plan.problem.task == Task::infer);
        check_empty_folder(*embeddings, lock_of_embeddings, flags.quiet);
        embeddings = index_of_parts(*embeddings);
    }
    check_outputs({{"--report", flags.report},
                   {"--metrics", flags.metrics},
                   {"--trace", flags.trace},
                   {"--save-weights", flags.save_weights},
                   {"--save-embeddings", embeddings}},
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
    if (layers) check_apart(flags, *layers);
    std::error_code none;
    if (embeddings && std::filesystem::exists(*embeddings, none) &&
        !std::filesystem::is_regular_file(*embeddings, none)) {
        throw Error(ErrorCode::cannot_create, "is no regular file, which ranks could write together",
                    "--save-embeddings " + *embeddings);
    }
    if (layers) {
        check_layer_folder(*layers, lock, flags.quiet);
    } else {
        check_checkpoint_folder(flags, lock);
    }
    check_room(flags, plan, embeddings, layers);
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
        attempt([&] {
            io::write_file_atomically(*flags.save_weights,
                                      io::write_weights(artifacts.weights, artifacts.weight_facts));
        });
    }
    attempt([&] {
        if (artifacts.embeddings_failure) throw Error(*artifacts.embeddings_failure);
    });
    attempt([&] { artifacts.metrics.check(); });
    attempt([&] { artifacts.checkpoints.check(); });
    return all;
}

}  // namespace gnnplan::tools
