#include "runtime/read/matrix_market.hpp"

#include "runtime/read/foreign_text.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

namespace gnnplan::data {
namespace {

struct Banner {
    bool pattern = false;
    bool symmetric = false;
};

// The line without the percent signs at its begin; some programs write only one.
bool is_banner(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of("% \t"), line.size()));
    return in_small_letters(line.substr(0, 12)) == "matrixmarket";
}

Banner read_banner(TextReader& reader) {
    std::string_view line;
    do {
        if (!reader.next_line(line)) reader.fail("the file is empty");
    } while (line.find_first_not_of(" \t") == std::string_view::npos);
    if (!is_banner(line)) {
        reader.fail("'%%MatrixMarket matrix' expected",
                    "put the line %%MatrixMarket matrix coordinate pattern general before a matrix (real in place of "
                    "pattern where its entries have values), or let a list of edges have another name, such as "
                    "edges.txt");
    }
    line.remove_prefix(line.find_first_not_of("% \t"));
    std::istringstream words(in_small_letters(line.substr(0, 256)));
    std::string banner, object, format, field, symmetry;
    words >> banner >> object >> format >> field >> symmetry;
    if (object != "matrix") reader.fail("'%%MatrixMarket matrix' expected, found '" + object + "'");
    if (format != "coordinate") reader.fail("format '" + format + "': only coordinate (sparse) files are graphs");
    if (field != "pattern" && field != "real" && field != "integer") {
        reader.fail("field '" + field + "': only pattern, real and integer are supported");
    }
    if (symmetry != "general" && symmetry != "symmetric") {
        reader.fail("symmetry '" + symmetry + "': only general and symmetric are supported");
    }
    return {field == "pattern", symmetry == "symmetric"};
}

// The next line that holds numbers; false at the end.
bool next_entry(TextReader& reader, std::string_view& line) {
    while (reader.next_line(line)) {
        const std::size_t first = line.find_first_not_of(" \t");
        if (first != std::string_view::npos && line[first] != '%') return true;
    }
    return false;
}

// The size line: numbers of vertices and of entries.
struct MatrixSizes {
    std::int64_t vertices = 0;
    std::int64_t entries = 0;
};

MatrixSizes read_matrix_sizes(TextReader& reader) {
    std::string_view line;
    if (!next_entry(reader, line)) reader.fail("the size line is missing");
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    Fields sizes(reader, line);
    const std::int64_t rows = sizes.index(any, "number of rows");
    const std::int64_t columns = sizes.index(any, "number of columns");
    const std::int64_t entries = sizes.index(any, "number of entries");
    sizes.finish();
    if (rows != columns) {
        reader.fail("a " + std::to_string(rows) + " x " + std::to_string(columns) +
                    " matrix is no graph: it must be square");
    }
    if (rows > largest_vertices) reader.fail(std::to_string(rows) + " vertices: at most 2^31 - 1 are supported");
    return {rows, entries};
}

}  // namespace

ParsedGraph read_matrix_market(TextReader& reader, const ReadOptions& options) {
    const Banner banner = read_banner(reader);
    if (options.edge_weights && banner.pattern) {
        reader.fail("field 'pattern': the entries have no values, which would be the weights of the edges",
                    "leave `edge-weights` out");
    }
    const auto [vertices, declared] = read_matrix_sizes(reader);

    ParsedGraph graph;
    graph.format = banner.symmetric ? "Matrix Market, symmetric" : "Matrix Market, general";
    graph.index_base = 1;
    graph.vertices = vertices;
    graph.edges = EdgeList(options.edge_weights, options.take);
    graph.edges_declared = declared;
    graph.divisible = reader.divisible();
    graph.by_one = reader.take_share(options.share, reader.offset());
    std::string_view line;
    while (next_entry(reader, line)) {
        if (graph.edges_read == declared)
            reader.fail("more entries than the " + std::to_string(declared) + " declared");
        Fields fields(reader, line);
        const auto i = static_cast<std::int32_t>(fields.index(vertices + 1, "row index", 1) - 1);
        const auto j = static_cast<std::int32_t>(fields.index(vertices + 1, "column index", 1) - 1);
        float weight = 1;
        if (options.edge_weights) {
            weight = fields.finite("value");
        } else if (!banner.pattern) {
            fields.number("value");
            ++graph.edge_values_ignored;
        }
        fields.finish();
        ++graph.edges_read;
        graph.edges.add(i, j, weight);
        if (banner.symmetric && i != j) graph.edges.add(j, i, weight);
    }
    const std::string read = std::to_string(graph.edges_read), said = std::to_string(declared);
    if (options.share.whole() && read != said)
        reader.fail("the file ends after " + read + " of " + said + " declared entries");
    return graph;
}

bool is_matrix_market(const Source& source) {
    if (!source.text()) return false;
    const std::string name = source.path.filename().string();
    return is_banner(source.text_begin()) || name.ends_with(".mtx") || name.ends_with(".mtx.gz");
}

ParsedGraph read_matrix_market(const std::filesystem::path& path, const ReadOptions& options) {
    TextReader reader(open_input(path));
    return read_matrix_market(reader, options);
}

}  // namespace gnnplan::data
