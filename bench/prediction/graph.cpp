#include "bench/prediction/graph.hpp"

#include "runtime/generate/generate.hpp"
#include "tools/common/options.hpp"

#include <gnnplan/base/error.hpp>

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>

namespace gnnplan::bench {
namespace {

constexpr std::string_view drawn = "rmat:";

// A file that is gone when this is.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& name) : path_(std::filesystem::temp_directory_path() / name) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

void draw(const std::string& graph, const std::filesystem::path& file) {
    const auto numbers = tools::parse_counts(graph.substr(drawn.size()), ':', {1});
    if (numbers.size() != 3 && numbers.size() != 4)
        throw Error(ErrorCode::usage, "write rmat:VERTICES:NONZEROS:SEED or rmat:VERTICES:NONZEROS:SEED:A", graph);
    data::RmatOptions options;
    options.vertices = numbers[0];
    options.nonzeros = numbers[1];
    options.seed = static_cast<std::uint64_t>(numbers[2]);
    if (numbers.size() == 4) {
        constexpr double percent = 100;
        options.a = static_cast<double>(numbers[3]) / percent;
        options.b = options.c = options.d = (1 - options.a) / 3;
    }
    data::write_graph(data::generate_rmat(options), file);
}

void check_widths(const data::Dataset& dataset, const GraphOptions& options) {
    if (dataset.features() == options.features && dataset.classes() == options.classes) return;
    throw Error(ErrorCode::usage,
                "the data has " + std::to_string(dataset.features()) + " features and " +
                    std::to_string(dataset.classes()) + " classes",
                "--widths");
}

}  // namespace

data::Dataset open_graph(comm::Communicator& comm, const GraphOptions& options) {
    std::string path = options.graph;
    std::optional<TemporaryFile> file;
    if (options.graph.starts_with(drawn)) {
        comm::agree(comm, [&] {
            if (comm.rank() != 0) return;
            file.emplace("gnnplan-prediction-" + std::to_string(getpid()) + ".npz");
            draw(options.graph, file->path());
        });
        path = comm.control_all_gather(file ? file->path().string() : "").front();
    }
    std::optional<data::Dataset> dataset;
    comm::agree(comm, [&] {
        data::DatasetOptions reading;
        reading.preparation.symmetrise = options.symmetrise;
        reading.preparation.add_self_loops = options.self_loops;
        reading.generate_features = options.features;
        reading.generate_classes = options.classes;
        dataset.emplace(data::open_dataset(path, reading));
        check_widths(*dataset, options);
    });
    return std::move(*dataset);
}

}  // namespace gnnplan::bench
