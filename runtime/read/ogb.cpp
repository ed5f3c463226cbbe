#include "runtime/read/ogb.hpp"

#include "runtime/read/text_features.hpp"
#include "runtime/read/text_reader.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

TextReader open_csv(const fs::path& folder, const std::string& name,
                    const std::string& needed = "raw/edge.csv.gz and raw/num-node-list.csv.gz") {
    const fs::path path = find_csv(folder, name);
    if (path.empty()) {
        throw Error(ErrorCode::missing_input, "not found, nor " + name + ".gz", (folder / name).string(),
                    "an OGB raw folder has " + needed + "; Python pickles (.pt) are never loaded");
    }
    return TextReader(open_input(path));
}

// The one number of a list file. Data sets of many graphs have several.
std::int64_t read_count(const fs::path& folder, const std::string& name) {
    TextReader reader = open_csv(folder, name);
    std::string_view line;
    if (!reader.next_line(line)) reader.fail("one number expected, found an empty file");
    Fields fields(reader, line);
    const std::int64_t count = fields.index(std::numeric_limits<std::int64_t>::max(), "count");
    fields.finish();
    while (reader.next_line(line)) {
        if (!line.empty()) reader.fail("several graphs in one data set are not supported");
    }
    return count;
}

Fail fail_at(const TextReader& reader) {
    return [&reader](const std::string& what, const std::string& hint) { reader.fail(what, hint); };
}

void read_labels(const fs::path& path, std::int64_t vertices, Supervision& supervision) {
    TextReader reader(open_input(path));
    const Fail fail = fail_at(reader);
    std::vector<double> labels;  // of a vertex
    std::string_view line;
    while (reader.next_line(line)) {
        if (reader.line_number() > vertices)
            reader.fail("more labels than the " + std::to_string(vertices) + " vertices");
        Fields fields(reader, line);
        labels.clear();
        do labels.push_back(fields.number("label"));
        while (!fields.at_end());
        fields.finish();
        supervision.add_labels(labels, fail);
    }
    if (reader.line_number() != vertices) {
        reader.fail("the file ends after " + std::to_string(reader.line_number()) + " of " + std::to_string(vertices) +
                    " labels");
    }
}

std::string choose_split(const fs::path& folder, const std::string& wanted) {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder / "split", missing)) {
        if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    if (!wanted.empty()) {
        if (std::find(names.begin(), names.end(), wanted) != names.end()) return wanted;
        throw Error(ErrorCode::missing_input, "no split '" + wanted + "'", (folder / "split").string(),
                    names.empty() ? "there are no splits" : "there is " + list);
    }
    if (names.size() > 1) {
        throw Error(ErrorCode::usage, "several splits: " + list, (folder / "split").string(),
                    "choose one with `split NAME`");
    }
    return names.empty() ? "" : names.front();
}

}  // namespace

fs::path find_csv(const fs::path& folder, const std::string& name) {
    for (const std::string& candidate : {name + ".gz", name}) {
        std::error_code ignored;
        if (fs::is_regular_file(folder / candidate, ignored)) return folder / candidate;
    }
    return {};
}

bool is_ogb_folder(const Source& source) { return source.folder && !find_csv(source.path / "raw", "edge.csv").empty(); }

namespace {

constexpr const char* edge_features = "edge-feat.csv";

// The one column of raw/edge-feat.csv, read line by line beside the edges; all weights are 1 without a file.
class EdgeFeatures {
public:
    EdgeFeatures() = default;
    explicit EdgeFeatures(const fs::path& path) : reader_(std::in_place, open_input(path)) {}

    float next(std::int64_t edges_before) {
        if (!reader_) return 1;
        std::string_view line;
        if (!reader_->next_line(line)) {
            reader_->fail("the file ends after the weights of " + std::to_string(edges_before) +
                          " edges, and there are more");
        }
        Fields fields(*reader_, line);
        const float weight = fields.finite("edge weight");
        if (!fields.at_end()) {
            reader_->fail("more than one feature of an edge: a weight is one number",
                          "leave `edge-weights` out, or make one column of them");
        }
        fields.finish();
        return weight;
    }

    void finish(std::int64_t edges) {
        std::string_view line;
        if (reader_ && reader_->next_line(line)) {
            reader_->fail("more weights than the " + std::to_string(edges) + " edges");
        }
    }

private:
    std::optional<TextReader> reader_;
};

EdgeFeatures open_edge_features(const fs::path& raw) {
    const fs::path path = find_csv(raw, edge_features);
    if (!path.empty()) return EdgeFeatures(path);
    throw Error(ErrorCode::missing_input, "no weights of edges: not found, nor " + std::string(edge_features) + ".gz",
                (raw / edge_features).string(), "without `edge-weights` none are read");
}

}  // namespace

ParsedGraph read_ogb_graph(const fs::path& folder, const ReadOptions& options) {
    const fs::path raw = folder / "raw";
    ParsedGraph graph;
    graph.format = "OGB raw folder";
    graph.edges = EdgeList(options.edge_weights, options.take);
    TextReader reader = open_csv(raw, "edge.csv");
    graph.vertices = read_count(raw, "num-node-list.csv");
    if (graph.vertices > largest_vertices) {
        throw Error(ErrorCode::data, std::to_string(graph.vertices) + " vertices: at most 2^31 - 1 are supported",
                    find_csv(raw, "num-node-list.csv").string() + ":1");
    }
    // Weights are in another file, line by line, so that nobody knows where those of a share begin.
    graph.divisible = reader.divisible() && !options.edge_weights;
    graph.by_one = options.edge_weights && !options.share.whole();
    if (graph.by_one && !options.share.first()) return graph;
    EdgeFeatures weights = options.edge_weights ? open_edge_features(raw) : EdgeFeatures();
    if (!graph.by_one) graph.by_one = reader.take_share(options.share, 0);
    std::string_view line;
    while (reader.next_line(line)) {
        Fields fields(reader, line);
        const auto from = static_cast<std::int32_t>(fields.index(graph.vertices, "vertex id"));
        const auto to = static_cast<std::int32_t>(fields.index(graph.vertices, "vertex id"));
        fields.finish();
        graph.edges.add(from, to, weights.next(graph.edges.size()));
    }
    graph.edges_read = graph.edges.size();
    weights.finish(graph.edges_read);
    if (!options.edge_weights && !find_csv(raw, edge_features).empty()) graph.edge_values_ignored = graph.edges_read;
    if (!find_csv(raw, "num-edge-list.csv").empty()) {
        graph.edges_declared = read_count(raw, "num-edge-list.csv");
        if (options.share.whole() && graph.edges_declared != graph.edges_read) {
            reader.fail("the file ends after " + std::to_string(graph.edges_read) +
                        " edges, but num-edge-list declares " + std::to_string(graph.edges_declared));
        }
    }
    return graph;
}

Supervision read_ogb_supervision(const fs::path& folder, const std::string& split, std::int64_t vertices) {
    Supervision supervision;
    const fs::path labels = find_csv(folder / "raw", "node-label.csv");
    if (!labels.empty()) read_labels(labels, vertices, supervision);
    read_ogb_split(folder, split, vertices, supervision);
    return supervision;
}

std::unique_ptr<FeatureSource> open_ogb_features(const fs::path& folder, std::int64_t vertices) {
    const fs::path file = find_csv(folder / "raw", "node-feat.csv"), files = folder / "raw/node-feat";
    std::error_code ignored;
    if (!fs::is_directory(files, ignored)) return file.empty() ? nullptr : open_text_features(file, vertices);
    if (file.empty()) return open_text_features_by_id(files, vertices);
    throw Error(ErrorCode::data, "features are in this folder and in " + file.filename().string() + " beside it",
                files.string(), "keep one of them");
}

void read_ogb_split(const fs::path& folder, const std::string& split, std::int64_t vertices, Supervision& supervision) {
    const std::string name = choose_split(folder, split);
    if (name.empty()) return;
    constexpr const char* files[] = {"train.csv", "valid.csv", "test.csv"};
    for (std::uint8_t s = 0; s < 3; ++s) {
        TextReader reader = open_csv(folder / "split" / name, files[s], ogb_split_files);
        const Fail fail = fail_at(reader);
        std::string_view line;
        while (reader.next_line(line)) {
            Fields fields(reader, line);
            const std::int64_t vertex = fields.index(vertices, "vertex id");
            fields.finish();
            supervision.assign(vertex, s, vertices, fail);
        }
    }
}

}  // namespace gnnplan::data
