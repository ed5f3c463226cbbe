// Sparse matrices as scipy.sparse.save_npz() writes them: entry (i, j) is the edge i -> j.
#include "runtime/read/npz_edges.hpp"

#include <algorithm>
#include <string>

namespace gnnplan::data {
namespace {

// The format of the matrix; "csr" where the archive does not say.
std::string format_of(const ArrayArchive& archive) {
    return archive.has("format") ? archive.open("format").read_text() : std::string("csr");
}

std::int64_t square_size(const ArrayArchive& archive) {
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

IntegerStream open_indices(const ArrayArchive& archive, const char* name) {
    IntegerStream stream(archive.open(name));
    stream.reader().expect_dimensions(1);
    return stream;
}

ParsedGraph read_csr(const ArrayArchive& archive, const ReadOptions& options) {
    const std::int64_t vertices = square_size(archive);
    IntegerStream row_start = open_indices(archive, "indptr");
    IntegerStream column = open_indices(archive, "indices");
    if (row_start.reader().header().count() != vertices + 1) {
        row_start.reader().fail(std::to_string(vertices + 1) + " entries expected, found " +
                                row_start.reader().header().describe());
    }
    const std::int64_t edges = column.reader().header().count();
    ListedEdges list("SciPy CSR .npz", archive, edges, column.reader().seekable(), "data", options);
    list.graph.vertices = vertices;
    const Range share = list.share;
    column.skip(share.begin);
    std::int64_t position = row_start.next();
    if (position != 0) row_start.reader().fail("does not start with 0");
    // Every share reads all row starts, which give the rows of its entries.
    for (std::int64_t u = 0; u < vertices; ++u) {
        const std::int64_t end = row_start.next();
        if (end < position || end > edges) {
            row_start.reader().fail("entry " + std::to_string(u + 1) + " is " + std::to_string(end) +
                                    ": row starts must ascend up to the number of indices, " + std::to_string(edges));
        }
        position = std::max(position, std::min(end, share.begin));
        for (; position < std::min(end, share.end); ++position) {
            list.graph.edges.add(static_cast<std::int32_t>(u), column.next_vertex(vertices), list.weights.next());
        }
        position = end;
    }
    if (position != edges) row_start.reader().fail("ends before the last of the indices");
    row_start.reader().finish();
    if (list.reads_all()) {
        column.reader().finish();
        list.weights.finish();
    }
    return std::move(list.graph);
}

ParsedGraph read_coo(const ArrayArchive& archive, const ReadOptions& options) {
    const std::int64_t vertices = square_size(archive);
    IntegerStream row = open_indices(archive, "row");
    IntegerStream column = open_indices(archive, "col");
    const std::int64_t edges = row.reader().header().count();
    if (column.reader().header().count() != edges) {
        column.reader().fail(std::to_string(edges) + " entries expected, as row has, found " +
                             column.reader().header().describe());
    }
    const bool seekable = row.reader().seekable() && column.reader().seekable();
    ListedEdges list("SciPy COO .npz", archive, edges, seekable, "data", options);
    list.graph.vertices = vertices;
    if (list.share.empty()) return std::move(list.graph);
    row.skip(list.share.begin);
    column.skip(list.share.begin);
    list.read_pairs(row, column, vertices);
    if (list.reads_all()) {
        row.reader().finish();
        column.reader().finish();
    }
    return std::move(list.graph);
}

}  // namespace

bool is_scipy(const ArrayArchive& archive) {
    return archive.has("shape") && (archive.has("format") || (archive.has("indptr") && archive.has("indices")));
}

ParsedGraph read_scipy(const ArrayArchive& archive, const ReadOptions& options) {
    const std::string format = format_of(archive);
    if (format == "csr") return read_csr(archive, options);
    if (format == "coo") return read_coo(archive, options);
    archive.open("format").fail("a SciPy matrix in '" + format + "' format", "save matrix.tocsr()");
}

}  // namespace gnnplan::data
