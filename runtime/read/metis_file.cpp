#include "runtime/read/metis_file.hpp"

#include <bit>
#include <string>
#include <string_view>

namespace gnnplan::data {
namespace {

constexpr const char* no_metis = "a list of edges is read as one under another name, such as edges.txt";

// The first line.
struct Sizes {
    std::int64_t vertices = 0;
    std::int64_t edges = 0;          // each of which is listed twice
    std::int64_t vertex_values = 0;  // before the neighbours of each vertex: its size and its weights
    bool weighted = false;           // a weight follows each neighbour
};

// Comments are skipped, blank lines are not.
bool next_row(TextReader& reader, std::string_view& line) {
    while (reader.next_line(line)) {
        if (!line.starts_with('%')) return true;
    }
    return false;
}

Sizes read_sizes(TextReader& reader) {
    std::string_view line;
    do {
        if (!next_row(reader, line)) reader.fail("a METIS graph begins with a line of sizes, and there is none");
    } while (line.find_first_not_of(" \t") == std::string_view::npos);
    Fields fields(reader, line, ' ');
    Sizes sizes;
    sizes.vertices = fields.index(largest_vertices + 1, "number of vertices");
    if (fields.at_end()) reader.fail("the number of edges is missing behind that of vertices", no_metis);
    sizes.edges = fields.index(std::int64_t{1} << 48, "number of edges");
    const std::int64_t form = fields.at_end() ? 0 : fields.index(1000, "fmt");
    if (form % 10 > 1 || form / 10 % 10 > 1 || form / 100 > 1)
        reader.fail("fmt " + std::to_string(form) + ": three digits of 0 and 1 are expected", no_metis);
    const std::int64_t weights = fields.at_end() ? 1 : fields.index(1 << 20, "ncon");
    fields.finish();
    sizes.weighted = form % 10 == 1;
    sizes.vertex_values = form / 100 + (form / 10 % 10 == 1 ? weights : 0);
    return sizes;
}

// A number for each entry; the sum over all entries is 0 if each comes with its reverse, and else only by chance.
std::uint64_t balance(std::int64_t from, std::int64_t to, float weight) {
    const auto mix = [weight](std::int64_t a, std::int64_t b) {
        std::uint64_t x = static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
        for (const std::uint64_t factor : {0xbf58476d1ce4e5b9U, 0x94d049bb133111ebU, 0x9e3779b97f4a7c15U}) {
            x = (x ^ (x >> 31)) * factor;
            x += std::bit_cast<std::uint32_t>(weight);
        }
        return x ^ (x >> 30);
    };
    return mix(from, to) - mix(to, from);
}

// The neighbours of one vertex, which counts from 0. Returns the sum of their balances.
std::uint64_t read_row(const TextReader& reader, std::string_view line, const Sizes& sizes, std::int64_t vertex,
                       ParsedGraph& graph) {
    Fields fields(reader, line, ' ');
    for (std::int64_t i = 0; i < sizes.vertex_values; ++i) fields.number("value of the vertex");
    std::uint64_t sum = 0;
    while (!fields.at_end()) {
        const std::int64_t to = fields.index(sizes.vertices + 1, "neighbour", 1) - 1;
        if (to == vertex) reader.fail("vertex " + std::to_string(vertex + 1) + " is its own neighbour", no_metis);
        const float weight = sizes.weighted ? fields.finite("edge weight") : 1;
        sum += balance(vertex, to, weight);
        graph.edges.add(static_cast<std::int32_t>(vertex), static_cast<std::int32_t>(to), weight);
        ++graph.edges_read;
    }
    fields.finish();
    return sum;
}

void read_rows(TextReader& reader, const Sizes& sizes, ParsedGraph& graph) {
    std::string_view line;
    std::uint64_t sum = 0;
    std::int64_t vertex = 0;
    while (next_row(reader, line)) {
        if (vertex < sizes.vertices) {
            sum += read_row(reader, line, sizes, vertex++, graph);
        } else if (line.find_first_not_of(" \t") != std::string_view::npos) {
            reader.fail("more lines than the " + std::to_string(sizes.vertices) + " vertices of the first line",
                        no_metis);
        }
    }
    if (vertex < sizes.vertices) {
        reader.fail("the file ends after the neighbours of " + std::to_string(vertex) + " of " +
                        std::to_string(sizes.vertices) + " vertices",
                    no_metis);
    }
    if (graph.edges_read != 2 * sizes.edges) {
        reader.fail("the vertices have " + std::to_string(graph.edges_read) + " neighbours, and " +
                        std::to_string(sizes.edges) + " edges are declared: each has two ends",
                    no_metis);
    }
    if (sum != 0) {
        reader.fail("not every edge is listed at both of its ends with the same weight, as METIS wants it",
                    "save a directed graph as a list of edges");
    }
}

}  // namespace

ParsedGraph read_metis_file(TextReader& reader, const ReadOptions& options) {
    const Sizes sizes = read_sizes(reader);
    if (options.edge_weights && !sizes.weighted)
        reader.fail("the edges have no weights: fmt does not end in 1", "leave `edge-weights` out");
    ParsedGraph graph;
    graph.format = "METIS graph";
    graph.index_base = 1;
    graph.vertices = sizes.vertices;
    graph.edges = EdgeList(options.edge_weights, options.take);
    graph.divisible = false;
    graph.by_one = !options.share.whole();
    if (!options.share.first()) return graph;
    read_rows(reader, sizes, graph);
    if (sizes.weighted && !options.edge_weights) graph.edge_values_ignored = graph.edges_read;
    return graph;
}

bool is_metis_file(const Source& source) {
    if (!source.text()) return false;
    const std::string name = source.path.filename().string();
    bool named = false;
    for (const char* end : {".graph", ".metis", ".graph.gz", ".metis.gz"}) named = named || name.ends_with(end);
    const std::string_view text = source.text_begin();
    return named && (text.empty() || text[0] == '%' || (text[0] >= '0' && text[0] <= '9'));
}

ParsedGraph read_metis_file(const std::filesystem::path& path, const ReadOptions& options) {
    TextReader reader(open_input(path));
    return read_metis_file(reader, options);
}

}  // namespace gnnplan::data
