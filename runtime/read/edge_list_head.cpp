#include "runtime/read/edge_list_head.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace gnnplan::data {
namespace {

// The number behind "Nodes:" or another key, or -1.
std::int64_t said_in(std::string_view comment, std::string_view key) {
    const std::size_t found = comment.find(key);
    if (found == std::string_view::npos) return -1;
    std::string_view rest = comment.substr(found + key.size());
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    std::int64_t value = -1;
    const auto [stop, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return status == std::errc() ? value : -1;
}

// KONECT says in the first line what a file holds.
void refuse_two_sides(const TextReader& reader, std::string_view comment) {
    std::vector<std::string_view> words;
    split_fields(comment, ' ', words);
    if (words.size() < 3 || words[0] != "%" || words[1] != "bip") return;
    reader.fail("a bipartite graph of KONECT: the vertices of both sides count from 1",
                "add the number of those on the left to the ids on the right, and take this line out");
}

// Every reader of a share of the file checks the first line, so that all of them report the same error.
void read_first_numbers(const TextReader& reader, std::string_view line, const ReadOptions& options,
                        EdgeListHead& head) {
    const std::int64_t base = options.index_base == IndexBase::one ? 1 : 0;
    Fields fields(reader, line);
    while (!fields.at_end()) {
        std::int64_t number = -1;
        if (head.count < 2) {
            number = fields.index(largest_vertices + base, "vertex id", base);
        } else {
            const bool weight = options.edge_weights && head.count == 2;
            fields.number(weight ? "edge weight" : "edge value", no_number_hint, number);
        }
        if (head.count < std::ssize(head.numbers)) head.numbers[static_cast<std::size_t>(head.count)] = number;
        ++head.count;
    }
}

}  // namespace

void note_sizes(std::string_view comment, ParsedGraph& graph) {
    graph.said.nodes = std::max(graph.said.nodes, said_in(comment, "Nodes:"));
    graph.said.edges = std::max(graph.said.edges, said_in(comment, "Edges:"));
}

EdgeListHead read_edge_list_head(TextReader& reader, const ReadOptions& options, ParsedGraph& graph) {
    EdgeListHead head;
    std::string_view line;
    std::string comment;  // the last one
    for (head.end = reader.offset(); reader.next_line(line); head.end = reader.offset()) {
        if (is_comment(line)) {
            if (reader.line_number() == 1) refuse_two_sides(reader, line);
            note_sizes(line, graph);
            comment = line;
            continue;
        }
        if (Fields(reader, line).at_end()) continue;
        head.columns = columns_of_header(reader, line);
        if (head.columns) {
            head.csv = head.columns->csv();
            head.end = reader.offset();
            if (reader.next_line(line)) {
                head.quotes = line.find('"') != std::string_view::npos;
                reader.repeat_line();
            }
            break;
        }
        const char separator = separator_of_numbers(line);
        head.csv = separator == ',' || separator == ';';
        head.columns = columns_of_comment(comment, line);
        // Without a header, lines may lack columns.
        if (head.columns && head.columns->as_without_names(options.edge_weights)) head.columns.reset();
        if (!head.columns) read_first_numbers(reader, line, options, head);
        reader.repeat_line();
        break;
    }
    head.lines = reader.line_number();
    if (head.columns && options.edge_weights && head.columns->weight < 0) {
        reader.fail("no column has the name weight: there are " + head.columns->list(),
                    "name that of the weights weight; without `edge-weights` none are read");
    }
    return head;
}

}  // namespace gnnplan::data
