#include "runtime/read/edge_list.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace gnnplan::data {
namespace {

// The n of "# Nodes: n", or 0.
std::int64_t declared_vertices(std::string_view comment) {
    constexpr std::string_view key = "Nodes:";
    const std::size_t found = comment.find(key);
    if (found == std::string_view::npos) return 0;
    std::string_view rest = comment.substr(found + key.size());
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    std::int64_t value = 0;
    const auto [stop, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return status == std::errc() && value > 0 ? value : 0;
}

// "source,target": names in the first two columns.
bool is_header(std::string_view line) {
    const std::size_t comma = line.find_first_of(",;");
    if (comma == std::string_view::npos) return false;
    const auto is_name = [](std::string_view text) {
        const std::size_t first = text.find_first_not_of(" \t\"'");
        if (first == std::string_view::npos) return false;
        const char c = text[first];
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    return is_name(line.substr(0, comma)) && is_name(line.substr(comma + 1));
}

float read_weight(const TextReader& reader, Fields& fields) {
    if (fields.at_end()) {
        reader.fail("malformed line: edge weight is missing",
                    "the third column has the weights; without --edge-weights none are read");
    }
    return fields.finite("edge weight");
}

bool is_comment(std::string_view line) { return !line.empty() && (line[0] == '#' || line[0] == '%'); }

bool is_csv(std::string_view line) { return line.find_first_of(",;") != std::string_view::npos; }

// What comes before the edges of a file.
struct Head {
    bool csv = false;
    std::int64_t declared = 0;  // vertices
    std::int64_t end = 0;       // where the first edge begins
};

Head read_head(TextReader& reader) {
    Head head;
    std::string_view line;
    for (head.end = reader.offset(); reader.next_line(line); head.end = reader.offset()) {
        if (is_comment(line)) {
            head.declared = std::max(head.declared, declared_vertices(line));
        } else if (!Fields(reader, line).at_end()) {
            head.csv = is_csv(line);
            if (is_header(line)) head.end = reader.offset();
            break;
        }
    }
    return head;
}

}  // namespace

ParsedGraph read_edge_list(TextReader& reader, const ReadOptions& options) {
    const IndexBase index_base = options.index_base;
    ensure(options.share.whole() || index_base != IndexBase::automatic, "a share does not see the smallest id");
    ParsedGraph graph;
    graph.edges = EdgeList(options.edge_weights, options.take);
    const std::int64_t base = index_base == IndexBase::one ? 1 : 0;
    // Later shares have to know what the first one sees.
    const Head head = options.share.first() ? Head() : read_head(reader);
    graph.divisible = reader.divisible();
    graph.by_one = reader.take_share(options.share, head.end);
    bool first = options.share.first();
    bool csv = head.csv;
    std::int64_t declared = head.declared;
    std::int64_t smallest = largest_vertices;
    std::int64_t largest = -1;
    std::string_view line;
    while (reader.next_line(line)) {
        if (is_comment(line)) {
            declared = std::max(declared, declared_vertices(line));
            continue;
        }
        Fields fields(reader, line);
        if (fields.at_end()) continue;
        if (first) {
            first = false;
            csv = is_csv(line);
            if (is_header(line)) continue;
        }
        const std::int64_t from = fields.index(largest_vertices + base, "vertex id", base) - base;
        const std::int64_t to = fields.index(largest_vertices + base, "vertex id", base) - base;
        const float weight = options.edge_weights ? read_weight(reader, fields) : 1;
        if (!fields.at_end()) {
            ++graph.edge_values_ignored;
            while (!fields.at_end()) fields.number("edge value");
        }
        fields.finish();
        smallest = std::min({smallest, from, to});
        largest = std::max({largest, from, to});
        graph.edges.add(static_cast<std::int32_t>(from), static_cast<std::int32_t>(to), weight);
    }
    if (declared > largest_vertices)
        reader.fail("the file declares " + std::to_string(declared) + " vertices: at most 2^31 - 1 are supported");
    graph.format = csv ? "CSV edge list" : "SNAP edge list";
    graph.index_base = static_cast<int>(base);
    if (smallest > 0 && largest > 0 && index_base == IndexBase::automatic) {
        graph.index_base = 1;
        graph.edges.shift(-1);
        --largest;
    }
    if (smallest == 1 && index_base == IndexBase::unsaid && options.share.whole()) {
        graph.hints.emplace_back("vertex 0 has no edges: ids from 1? (--index-base 1)");
    }
    graph.vertices = std::max(largest + 1, declared);
    graph.edges_read = graph.edges.size();
    return graph;
}

bool is_edge_list(const Source& source) { return source.text(); }

ParsedGraph read_edge_list(const std::filesystem::path& path, const ReadOptions& options) {
    TextReader reader(open_input(path));
    return read_edge_list(reader, options);
}

}  // namespace gnnplan::data
