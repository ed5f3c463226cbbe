#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/npz_edges.hpp"
#include "runtime/read/npz_names.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <optional>

namespace gnnplan::data {
namespace {

// The only number of an array. An array with several numbers is that of several graphs.
std::int64_t read_count(const ArrayArchive& archive, const std::string& name) {
    NpyReader reader = archive.open(name);
    const NpyHeader& header = reader.header();
    if (header.count() != 1) {
        reader.fail("one integer expected, found " + header.describe(),
                    header.count() > 1 ? "several graphs in one data set are not supported" : "");
    }
    std::int64_t value = 0;
    reader.read_integers({&value, 1});
    return value;
}

struct DeclaredVertices {
    std::optional<std::int64_t> count = {};
    std::string by = {};  // for messages: what says so
};

DeclaredVertices declared_vertices(const ArrayArchive& archive) {
    const std::string count = vertices_array(archive);
    if (!count.empty()) {
        const std::int64_t value = read_count(archive, count);
        if (value < 0 || value > largest_vertices)
            archive.open(count).fail("the number of vertices must be in [0, 2^31 - 1]");
        return {value, count + " says how many vertices there are"};
    }
    for (const std::string& name : {features_array(archive), labels_array(archive)}) {
        if (name.empty()) continue;
        NpyReader reader = archive.open(name);
        if (reader.header().shape.empty()) reader.fail("one row per vertex expected, found a scalar");
        const std::int64_t rows = reader.header().shape[0];
        return {rows, name + " has " + std::to_string(rows) + " rows, one for each vertex"};
    }
    return {};
}

// The weights of `edges` edges in an array of this name, all 1 where they are not to be read.
WeightStream open_weights(const ArrayArchive& archive, const std::string& array, std::int64_t edges,
                          const ReadOptions& options) {
    if (!options.edge_weights) return {};
    if (!array.empty() && archive.has(array)) return WeightStream(archive.open(array), edges);
    const bool matrix = is_scipy(archive);
    throw Error(ErrorCode::data,
                std::string("the archive holds no weights of edges: looked for the array ") +
                    (matrix ? "data" : "edge_weight, then edge_feat"),
                archive.name(), "its arrays: " + names_of(archive) + "; without `edge-weights` none are read");
}

// How the ends of edges are stored in edge_index.
struct Pairs {
    std::int64_t edges = 0;
    bool adjacent = false;  // source and target of an edge follow each other: [E, 2], or [2, E] in Fortran order
};

// [2, 2] is read as [2, E].
Pairs pairs_of(const NpyReader& reader) {
    const NpyHeader& header = reader.header();
    if (!header.is_integer()) reader.fail("integers expected, found " + header.describe());
    const bool flat = header.shape.size() != 2;
    const bool by_rows = !flat && header.shape[0] != 2 && header.shape[1] == 2;
    if (flat || (header.shape[0] != 2 && !by_rows)) reader.fail("[2, E] expected, found " + header.describe());
    return {header.shape[by_rows ? 0 : 1], by_rows != header.fortran_order};
}

ParsedGraph read_edge_index(const ArrayArchive& archive, const ReadOptions& options) {
    const auto [declared, declared_by] = declared_vertices(archive);
    const std::int64_t limit = std::min(declared.value_or(largest_vertices), largest_vertices);
    IntegerStream from(archive.open("edge_index"));
    from.explain_limit(declared_by);
    const auto [edges, adjacent] = pairs_of(from.reader());
    if (archive.has("num_edges_list") && read_count(archive, "num_edges_list") != edges) {
        from.reader().fail("there are " + std::to_string(edges) + " edges, and num_edges_list says " +
                           std::to_string(read_count(archive, "num_edges_list")));
    }
    ListedEdges list(archive.form(), archive, edges, from.reader().seekable(), weights_array(archive), options);
    if (edges == 2)
        list.graph.hints.emplace_back("edge_index is 2 x 2, and read as [2, E]: an edge is a column, not a row");
    list.graph.vertices = declared.value_or(0);
    list.graph.said.from_ids = !declared;
    if (list.share.empty()) return std::move(list.graph);
    std::int32_t largest = -1;
    if (adjacent) {
        from.skip(2 * list.share.begin);
        largest = list.read_pairs(from, from, limit);
        if (list.reads_all()) from.reader().finish();
    } else {
        IntegerStream to(archive.open("edge_index"));
        to.explain_limit(declared_by);
        from.skip(list.share.begin);
        to.skip(edges + list.share.begin);
        largest = list.read_pairs(from, to, limit);
        if (list.reads_all()) to.reader().finish();
    }
    list.graph.vertices = declared.value_or(std::int64_t{largest} + 1);
    return std::move(list.graph);
}

}  // namespace

ListedEdges::ListedEdges(const char* format, const ArrayArchive& archive, std::int64_t count, bool seekable,
                         const std::string& weights_name, const ReadOptions& options)
    : weights(open_weights(archive, weights_name, count, options)), edges(count) {
    graph.edges = EdgeList(options.edge_weights, options.take);
    graph.format = format;
    graph.by_one = !options.share.whole() && !seekable;
    graph.text = false;
    graph.divisible = seekable;
    // The first share has all entries of compressed arrays.
    share = seekable ? options.share.range(count) : options.share.first() ? Range{0, count} : Range{};
    graph.edges_read = share.size();
    if (!options.edge_weights && !weights_name.empty() && archive.has(weights_name))
        graph.edge_values_ignored = graph.edges_read;
    if (!share.empty()) weights.skip(share.begin);
}

std::int32_t ListedEdges::read_pairs(IntegerStream& from, IntegerStream& to, std::int64_t limit) {
    std::int32_t largest = -1;
    for (std::int64_t e = share.begin; e < share.end; ++e) {
        const std::int32_t u = from.next_vertex(limit);
        const std::int32_t v = to.next_vertex(limit);
        largest = std::max({largest, u, v});
        graph.edges.add(u, v, weights.next());
    }
    if (reads_all()) weights.finish();
    return largest;
}

bool is_npz_file(const Source& source) {
    return source.head.starts_with("PK\x03\x04") || source.head.starts_with("PK\x05\x06");
}

ParsedGraph read_npz_graph(const std::filesystem::path& path, const ReadOptions& options) {
    return read_npz_graph(*open_arrays(path), options);
}

ParsedGraph read_npz_graph(const ArrayArchive& archive, const ReadOptions& options) {
    if (archive.has("edge_index")) return read_edge_index(archive, options);
    if (is_scipy(archive)) return read_scipy(archive, options);
    if (archive.arrays().empty()) {
        throw Error(ErrorCode::data, "the archive holds no .npy arrays, as numpy.savez writes them", archive.name(),
                    "if it was downloaded as a .zip, unpack it and give the folder or file in it");
    }
    throw Error(ErrorCode::data, "the archive holds neither edge_index nor a SciPy matrix (indptr, indices, shape)",
                archive.name(), "its arrays: " + names_of(archive) + "; edges are read of edge_index, [2, E]");
}

}  // namespace gnnplan::data
