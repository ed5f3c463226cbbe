#include "runtime/read/integer_stream.hpp"
#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/weight_stream.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <optional>

namespace gnnplan::data {
namespace {

std::optional<std::int64_t> declared_vertices(const NpzArchive& archive) {
    if (archive.has("num_nodes")) {
        NpyReader reader = archive.open("num_nodes");
        if (reader.header().count() != 1) reader.fail("one integer expected, found " + reader.header().describe());
        std::int64_t value = 0;
        reader.read_integers({&value, 1});
        if (value < 0 || value > largest_vertices) reader.fail("the number of vertices must be in [0, 2^31 - 1]");
        return value;
    }
    for (const char* name : {"x", "y"}) {
        if (!archive.has(name)) continue;
        NpyReader reader = archive.open(name);
        if (reader.header().shape.empty()) reader.fail("one row per vertex expected, found a scalar");
        return reader.header().shape[0];
    }
    return std::nullopt;
}

std::string names_of(const NpzArchive& archive) {
    std::string found;
    for (const std::string& name : archive.arrays()) found += (found.empty() ? "" : ", ") + name;
    return found.empty() ? "none" : found;
}

// The weights of `edges` edges in an array of this name, all 1 where they are not to be read.
WeightStream open_weights(const NpzArchive& archive, const std::string& array, std::int64_t edges,
                          const ReadOptions& options) {
    if (!options.edge_weights) return {};
    if (archive.has(array)) return WeightStream(archive.open(array), edges);
    throw Error(ErrorCode::data, "the archive holds no weights of edges: looked for the array " + array, archive.name(),
                "its arrays: " + names_of(archive) + "; without --edge-weights none are read");
}

// The entries of a share of an array; all of them, or none, where it is compressed.
Range entries_of(const FileShare& share, std::int64_t entries, bool seekable) {
    if (seekable) return share.range(entries);
    return share.first() ? Range{0, entries} : Range{};
}

ParsedGraph read_edge_index(const NpzArchive& archive, const ReadOptions& options) {
    ParsedGraph graph;
    graph.edges = EdgeList(options.edge_weights, options.take);
    graph.format = "NumPy .npz data set";
    const std::optional<std::int64_t> declared = declared_vertices(archive);
    const std::int64_t limit = std::min(declared.value_or(largest_vertices), largest_vertices);
    IntegerStream from(archive.open("edge_index"));
    const NpyHeader& header = from.reader().header();
    if (!header.is_integer()) from.reader().fail("integers expected, found " + header.describe());
    if (header.shape.size() != 2 || header.shape[0] != 2)
        from.reader().fail("[2, E] expected, found " + header.describe());
    const std::int64_t edges = header.shape[1];
    const bool seekable = from.reader().seekable();
    const Range share = entries_of(options.share, edges, seekable);
    graph.by_one = !options.share.whole() && !seekable;
    graph.text = false;
    graph.divisible = seekable;
    graph.edges_read = share.size();
    graph.vertices = declared.value_or(0);
    WeightStream weights = open_weights(archive, "edge_weight", edges, options);
    if (!options.edge_weights && archive.has("edge_weight")) graph.edge_values_ignored = graph.edges_read;
    if (share.empty()) return graph;
    weights.skip(share.begin);

    std::int32_t largest = -1;
    const auto add = [&](std::int32_t u, std::int32_t v) {
        largest = std::max({largest, u, v});
        graph.edges.add(u, v, weights.next());
    };
    if (header.fortran_order) {  // stored pair by pair: the transpose of an [E, 2] array
        from.skip(2 * share.begin);
        for (std::int64_t e = share.begin; e < share.end; ++e) {
            const std::int32_t u = from.next_vertex(limit);
            add(u, from.next_vertex(limit));
        }
        if (share.size() == edges) from.reader().finish();
    } else {
        IntegerStream to(archive.open("edge_index"));
        from.skip(share.begin);
        to.skip(edges + share.begin);
        for (std::int64_t e = share.begin; e < share.end; ++e) {
            const std::int32_t u = from.next_vertex(limit);
            add(u, to.next_vertex(limit));
        }
        if (share.size() == edges) to.reader().finish();
    }
    if (share.size() == edges) weights.finish();
    graph.vertices = declared.value_or(std::int64_t{largest} + 1);
    return graph;
}

std::int64_t square_size(const NpzArchive& archive) {
    if (archive.has("format")) {
        NpyReader reader = archive.open("format");
        const std::string format = reader.read_text();
        if (format != "csr") reader.fail("a SciPy matrix in '" + format + "' format", "save matrix.tocsr()");
    }
    NpyReader reader = archive.open("shape");
    if (reader.header().count() != 2) reader.fail("two integers expected, found " + reader.header().describe());
    std::int64_t shape[2] = {0, 0};
    reader.read_integers(shape);
    if (shape[0] != shape[1]) {
        reader.fail("a " + std::to_string(shape[0]) + " x " + std::to_string(shape[1]) +
                    " matrix is no graph: it must be square");
    }
    if (shape[0] < 0 || shape[0] > largest_vertices) reader.fail("the number of rows must be in [0, 2^31 - 1]");
    return shape[0];
}

ParsedGraph read_scipy_csr(const NpzArchive& archive, const ReadOptions& options) {
    ParsedGraph graph;
    graph.edges = EdgeList(options.edge_weights, options.take);
    graph.format = "SciPy CSR .npz";
    graph.vertices = square_size(archive);
    IntegerStream row_start(archive.open("indptr"));
    IntegerStream column(archive.open("indices"));
    row_start.reader().expect_dimensions(1);
    column.reader().expect_dimensions(1);
    if (row_start.reader().header().count() != graph.vertices + 1) {
        row_start.reader().fail(std::to_string(graph.vertices + 1) + " entries expected, found " +
                                row_start.reader().header().describe());
    }
    const std::int64_t edges = column.reader().header().count();
    const bool seekable = column.reader().seekable();
    const Range share = entries_of(options.share, edges, seekable);
    graph.by_one = !options.share.whole() && !seekable;
    graph.text = false;
    graph.divisible = seekable;
    graph.edges_read = share.size();
    WeightStream weights = open_weights(archive, "data", edges, options);
    column.skip(share.begin);
    weights.skip(share.begin);
    std::int64_t position = row_start.next();
    if (position != 0) row_start.reader().fail("does not start with 0");
    // Every share reads all row starts, which say whose its entries are.
    for (std::int64_t u = 0; u < graph.vertices; ++u) {
        const std::int64_t end = row_start.next();
        if (end < position || end > edges) {
            row_start.reader().fail("entry " + std::to_string(u + 1) + " is " + std::to_string(end) +
                                    ": row starts must ascend up to the number of indices, " + std::to_string(edges));
        }
        position = std::max(position, std::min(end, share.begin));
        for (; position < std::min(end, share.end); ++position) {
            graph.edges.add(static_cast<std::int32_t>(u), column.next_vertex(graph.vertices), weights.next());
        }
        position = end;
    }
    if (position != edges) row_start.reader().fail("ends before the last of the indices");
    row_start.reader().finish();
    if (share.size() == edges) {
        column.reader().finish();
        weights.finish();
    }
    if (!options.edge_weights && archive.has("data")) graph.edge_values_ignored = graph.edges_read;
    return graph;
}

}  // namespace

bool is_npz_file(const Source& source) {
    return source.head.starts_with("PK\x03\x04") || source.head.starts_with("PK\x05\x06");
}

ParsedGraph read_npz_graph(const std::filesystem::path& path, const ReadOptions& options) {
    return read_npz_graph(NpzArchive(path), options);
}

ParsedGraph read_npz_graph(const NpzArchive& archive, const ReadOptions& options) {
    if (archive.has("edge_index")) return read_edge_index(archive, options);
    if (archive.has("indptr") && archive.has("indices") && archive.has("shape")) {
        return read_scipy_csr(archive, options);
    }
    throw Error(ErrorCode::data, "the archive holds neither edge_index nor a SciPy CSR matrix (indptr, indices, shape)",
                archive.name(), "its arrays: " + names_of(archive));
}

}  // namespace gnnplan::data
