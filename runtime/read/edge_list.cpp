#include "runtime/read/edge_list.hpp"

#include "runtime/read/edge_columns.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnplan::data {
namespace {

bool is_comment(std::string_view line) { return !line.empty() && (line[0] == '#' || line[0] == '%'); }

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

// "# Nodes: 4039 Edges: 88234", as SNAP writes it.
void note_sizes(std::string_view comment, ParsedGraph& graph) {
    graph.said.nodes = std::max(graph.said.nodes, said_in(comment, "Nodes:"));
    graph.said.edges = std::max(graph.said.edges, said_in(comment, "Edges:"));
}

// "Undirected", as Gephi writes it.
bool says_undirected(std::string_view text) {
    constexpr std::string_view word = "undirected";
    return std::ranges::equal(text, word, {}, [](unsigned char c) { return std::tolower(c); });
}

// KONECT says in the first line what a file holds.
void refuse_two_sides(const TextReader& reader, std::string_view comment) {
    std::vector<std::string_view> words;
    split_fields(comment, ' ', words);
    if (words.size() < 3 || words[0] != "%" || words[1] != "bip") return;
    reader.fail("a bipartite graph of KONECT: the vertices of both sides count from 1",
                "add the number of those on the left to the ids on the right, and take this line out");
}

// The lines before the edges of a file.
struct Head {
    std::optional<EdgeColumns> columns = {};  // where a header names them
    bool csv = false;
    bool quotes = false;     // in the line behind the header
    std::int64_t end = 0;    // where the first line of numbers begins
    std::int64_t lines = 0;  // before it
    // The numbers of that line, where no header is needed to tell what they are; -1 for those that are no integers.
    std::array<std::int64_t, 4> numbers = {-1, -1, -1, -1};
    std::int64_t count = 0;
};

// Every reader of a share of the file checks the first line, so that all of them report the same error.
void read_first_numbers(const TextReader& reader, std::string_view line, const ReadOptions& options, Head& head) {
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

// Leaves the reader before the first line of numbers.
Head read_head(TextReader& reader, const ReadOptions& options, ParsedGraph& graph) {
    Head head;
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
                    "name that of the weights weight; without --edge-weights none are read");
    }
    return head;
}

// Reads the lines of a share.
class EdgeReading {
public:
    EdgeReading(TextReader& reader, const ReadOptions& options)
        : reader_(reader),
          options_(options),
          base_(options.index_base == IndexBase::one ? 1 : 0),
          head_(read_head(reader, options, graph_)) {
        graph_.edges = EdgeList(options.edge_weights, options.take);
        graph_.divisible = reader.divisible();
        graph_.by_one = reader.take_share(options.share, head_.end);
        has_begin_ = reader.offset() == head_.end;
        began_ = reader.line_number() - (has_begin_ ? head_.lines : 0);
    }

    ParsedGraph read() {
        EdgeLines& lines = graph_.lines;
        const std::int64_t before = reader_.line_number();
        lines.named = head_.columns.has_value();
        if (lines.named && (head_.quotes || !head_.columns->plain())) {
            read_table(*head_.columns);
        } else {
            read_lines();
        }
        if (reader_.line_number() > before) lines.text = line();
        number_vertices();
        graph_.format = head_.csv ? "CSV edge list" : "SNAP edge list";
        graph_.edges_read = graph_.edges.size();
        if (head_.columns && head_.columns->guessed)
            graph_.hints.push_back("the columns " + head_.columns->list() + " are taken for source and target");
        if (options_.share.whole()) {
            lines.refuse_other_forms(reader_.name());
            graph_.remarks = lines.remarks();
        }
        return std::move(graph_);
    }

private:
    // The number of the last line, counted as EdgeLines counts lines.
    std::int64_t line() const { return reader_.line_number() - began_; }
    std::int64_t index(Fields& fields) const { return fields.index(largest_vertices + base_, "vertex id", base_); }
    void add(std::int64_t from, std::int64_t to, float weight) {
        graph_.edges.add(static_cast<std::int32_t>(from - base_), static_cast<std::int32_t>(to - base_), weight);
    }

    bool skips(std::string_view line) {
        if (!is_comment(line)) return false;
        note_sizes(line, graph_);
        return true;
    }

    void read_lines() {
        EdgeLines& lines = graph_.lines;
        // The first line of the file may be one of sizes: its numbers are kept apart.
        bool first = has_begin_ && !lines.named;
        std::int64_t smallest = EdgeLines::largest_id, largest = -1;
        std::string_view line;
        while (reader_.next_line(line)) {
            if (skips(line)) continue;
            Fields fields(reader_, line);
            if (fields.at_end()) {
                ++lines.blank;
                continue;
            }
            const std::int64_t from = index(fields);
            const bool lone = fields.complete();
            const std::int64_t to = lone ? from : index(fields);
            float weight = 1;
            std::int64_t columns = lone ? 1 : 2;
            if (!lone && (options_.edge_weights || !fields.at_end())) columns = read_values(fields, from, to, weight);
            fields.finish();
            lines.count(columns, this->line());
            if (lone && lines.lone_line == 0) lines.lone_line = this->line();
            if (first) {
                first = false;
                lines.head = head_.numbers;
                lines.head_columns = head_.count;
            } else {
                smallest = std::min({smallest, from, to});
                largest = std::max({largest, from, to});
            }
            if (!lone) add(from, to, weight);
        }
        lines.smallest = smallest;
        lines.largest = largest;
    }

    // Reads the numbers behind the ids. Returns how many columns the line has.
    std::int64_t read_values(Fields& fields, std::int64_t from, std::int64_t to, float& weight) {
        if (fields.at_end()) {
            reader_.fail("malformed line: edge weight is missing",
                         "the third column of every line has its weight; without --edge-weights none are read");
        }
        const bool weighted = options_.edge_weights;
        const std::int64_t columns = read_further(fields, graph_.lines, from, to, weighted ? &weight : nullptr);
        if (columns > (weighted ? 3 : 2)) ++graph_.edge_values_ignored;
        if (head_.columns && columns > head_.columns->count()) fail_columns(columns);
        return columns;
    }

    [[noreturn]] void fail_columns(std::int64_t columns) const {
        reader_.fail("malformed line: it has " + std::to_string(columns) + " columns, and the header names " +
                         std::to_string(head_.columns->count()) + ": " + head_.columns->list(),
                     "a header and all lines have the same columns");
    }

    // Reads lines whose columns are named by a header.
    void read_table(const EdgeColumns& columns) {
        std::vector<std::string_view> fields;
        std::string_view line;
        while (reader_.next_line(line)) {
            if (skips(line) || line.find_first_not_of(" \t") == std::string_view::npos) continue;
            split_fields(line, columns.separator, fields);
            if (std::ssize(fields) != columns.count()) fail_columns(std::ssize(fields));
            add_row(columns, fields);
        }
    }

    void add_row(const EdgeColumns& columns, const std::vector<std::string_view>& fields) {
        const auto field = [&](int column) {
            return Fields(reader_, fields[static_cast<std::size_t>(column)], columns.separator);
        };
        const auto id = [&](int column) {
            Fields text = field(column);
            const std::int64_t value = index(text);
            text.finish();
            return value;
        };
        EdgeLines& lines = graph_.lines;
        const std::int64_t from = id(columns.source), to = id(columns.target);
        float weight = 1;
        if (options_.edge_weights) {
            Fields text = field(columns.weight);
            weight = text.finite("edge weight");
            text.finish();
        }
        if (options_.edge_weights ? columns.count() > 3 : columns.weight >= 0) ++graph_.edge_values_ignored;
        if (columns.kind >= 0 && says_undirected(fields[static_cast<std::size_t>(columns.kind)])) ++graph_.undirected;
        lines.smallest = std::min({lines.smallest, from, to});
        lines.largest = std::max({lines.largest, from, to});
        add(from, to, weight);
    }

    void number_vertices() {
        const EdgeLines& lines = graph_.lines;
        std::int64_t smallest = lines.smallest, largest = lines.largest;
        for (std::int64_t i = 0; i < std::min<std::int64_t>(2, lines.head_columns); ++i) {
            smallest = std::min(smallest, lines.head[static_cast<std::size_t>(i)]);
            largest = std::max(largest, lines.head[static_cast<std::size_t>(i)]);
        }
        if (graph_.said.nodes > largest_vertices) {
            reader_.fail("the file declares " + std::to_string(graph_.said.nodes) +
                         " vertices: at most 2^31 - 1 are supported");
        }
        graph_.index_base = static_cast<int>(base_);
        if (smallest > 0 && largest > 0 && options_.index_base == IndexBase::automatic) {
            graph_.index_base = 1;
            graph_.edges.shift(-1);
        }
        graph_.from_one = smallest == 1 && options_.index_base == IndexBase::unsaid && options_.share.whole();
        graph_.said.from_ids = true;
        graph_.vertices = std::max(largest < 0 ? 0 : largest + 1 - graph_.index_base, graph_.said.nodes);
    }

    TextReader& reader_;
    const ReadOptions& options_;
    const std::int64_t base_;
    ParsedGraph graph_;
    const Head head_;
    bool has_begin_ = false;  // the first line of numbers is in this share
    std::int64_t began_ = 0;  // lines of the reader that are not counted here
};

}  // namespace

ParsedGraph read_edge_list(TextReader& reader, const ReadOptions& options) {
    ensure(options.share.whole() || options.index_base != IndexBase::automatic, "a share does not see the smallest id");
    return EdgeReading(reader, options).read();
}

bool is_edge_list(const Source& source) { return source.text(); }

ParsedGraph read_edge_list(const std::filesystem::path& path, const ReadOptions& options) {
    TextReader reader(open_input(path));
    return read_edge_list(reader, options);
}

}  // namespace gnnplan::data
