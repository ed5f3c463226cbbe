#include "runtime/read/edge_list.hpp"

#include "runtime/read/edge_list_head.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnplan::data {
namespace {

// "Undirected", as Gephi writes it.
bool says_undirected(std::string_view text) {
    constexpr std::string_view word = "undirected";
    return std::ranges::equal(text, word, {}, [](unsigned char c) { return std::tolower(c); });
}

// Reads the lines of a share.
class EdgeReading {
public:
    EdgeReading(TextReader& reader, const ReadOptions& options)
        : reader_(reader),
          options_(options),
          base_(options.index_base == IndexBase::one ? 1 : 0),
          head_(read_edge_list_head(reader, options, graph_)) {
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
                         "the third column of every line has its weight; without `edge-weights` none are read");
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
    const EdgeListHead head_;
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
