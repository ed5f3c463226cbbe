// Reading guide: each reader of a share of a file collects statistics of its lines (read_further, EdgeLines::count).
// The shares are put together (append), and then the form of the whole file is judged, however it was shared out.
#include "runtime/read/edge_lines.hpp"

#include "runtime/read/text_reader.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::data {
namespace {

constexpr const char* one_edge_a_line =
    "write one edge a line: networkx.write_edgelist(G, path, data=False), with G = networkx.read_adjlist(FILE) of an "
    "adjacency list; a METIS graph is read as one if its name ends in .graph or .metis; further columns of edges, such "
    "as weights, belong into every line";

}  // namespace

std::int64_t read_further(Fields& fields, EdgeLines& lines, std::int64_t from, std::int64_t to, float* weight) {
    std::int64_t columns = 2;
    while (!fields.at_end()) {
        const char* what = columns == 2 && weight != nullptr ? "edge weight" : "edge value";
        const char* begin = fields.position();
        // Once a number with more than digits was found where pairs may have one, later numbers there decide nothing.
        const bool matters = lines.integers || columns % 2 != 0;
        std::int64_t integer = -1;
        const double value =
            matters ? fields.number(what, no_number_hint, integer) : fields.number(what, no_number_hint);
        if (columns == 2 && weight != nullptr) *weight = fields.finite(what, begin, value);
        ++columns;
        if (matters && integer < 0) {
            lines.integers = false;
            lines.pairs = lines.pairs && columns % 2 != 0;
        }
        lines.apart = lines.apart && integer != from && integer != to;
        lines.smallest_further = std::min(lines.smallest_further, integer);
        lines.largest_further = std::max(lines.largest_further, integer);
    }
    lines.pairs = lines.pairs && columns % 2 != 0;
    if (lines.wide++ == 0) lines.first_number = from;
    lines.counting = lines.counting && (lines.wide == 1 || from == lines.last_number + 1);
    lines.last_number = from;
    lines.most_columns = std::max(lines.most_columns, columns);
    return columns;
}

void EdgeLines::append(const EdgeLines& next) {
    const auto place = [&](std::int64_t line) { return line == 0 ? 0 : line + text; };
    if (lone_line == 0) lone_line = place(next.lone_line);
    if (lines == 0) {
        first_line = place(next.first_line);
        first_columns = next.first_columns;
    }
    if (other_line == 0 && next.lines > 0) {
        const bool differs = next.first_columns != first_columns;
        other_line = place(differs ? next.first_line : next.other_line);
        other_columns = differs ? next.first_columns : next.other_columns;
    }
    if (next.wide > 0) {
        counting = counting && next.counting && (wide == 0 || next.first_number == last_number + 1);
        if (wide == 0) first_number = next.first_number;
        last_number = next.last_number;
    }
    if (head_columns == 0) {
        head = next.head;
        head_columns = next.head_columns;
    }
    text += next.text;
    lines += next.lines;
    blank += next.blank;
    numbers += next.numbers;
    wide += next.wide;
    most_columns = std::max(most_columns, next.most_columns);
    smallest_further = std::min(smallest_further, next.smallest_further);
    largest_further = std::max(largest_further, next.largest_further);
    integers = integers && next.integers;
    apart = apart && next.apart;
    pairs = pairs && next.pairs;
    smallest = std::min(smallest, next.smallest);
    largest = std::max(largest, next.largest);
    named = named || next.named;
}

void EdgeLines::fail(std::int64_t line, const std::string& what, const std::string& hint,
                     const std::string& file) const {
    throw Error(ErrorCode::data, what, file + ":" + std::to_string(line), hint);
}

std::string EdgeLines::head_text() const {
    std::string all;
    for (std::int64_t i = 0; i < head_columns; ++i)
        all += (i == 0 ? "" : " ") + std::to_string(head[static_cast<std::size_t>(i)]);
    return "'" + all + "'";
}

// A METIS file has "vertices edges [fmt [ncon]]", then a line for each vertex; a blank line has no neighbours.
bool EdgeLines::is_metis() const {
    const std::int64_t vertices = head[0], edges = head[1], rows = lines - 1;
    const std::int64_t form = head_columns > 2 ? head[2] : 0;
    const bool digits = form >= 0 && form <= 111 && form % 10 <= 1 && form / 10 % 10 <= 1;
    if (!digits || vertices < rows || vertices > rows + blank) return false;
    const std::int64_t weights = form / 10 % 10 == 0 ? 0 : std::max<std::int64_t>(1, head[3]);
    const std::int64_t of_each_vertex = form / 100 + weights, of_each_edge = 1 + form % 10;
    if (numbers - head_columns != 2 * edges * of_each_edge + vertices * of_each_vertex) return false;
    return form > 0 || (smallest >= 1 && largest <= vertices);
}

// Refuses a first line that gives sizes, and which would otherwise be read as an edge.
void EdgeLines::refuse_head(const std::string& file) const {
    const std::int64_t vertices = head[0], edges = head[1], others = lines - 1;
    if (head_columns < 2 || head_columns > 4 || others < 2 || edges < 0 || largest < 0) return;
    const bool in_range = largest < vertices || (largest == vertices && smallest >= 1);
    if (head_columns == 3 && edges == vertices && head[2] == others && in_range && smallest >= 1) {
        fail(first_line,
             "the first line, " + head_text() + ", is the size of a matrix: a Matrix Market file without its banner",
             "put %%MatrixMarket matrix coordinate pattern general before it (real in place of pattern where entries "
             "have "
             "values, symmetric where each stands for both directions), or take the line out of a list of edges",
             file);
    }
    if (is_metis() && (!even() || vertices > 2)) {
        fail(first_line,
             "a METIS graph, by its first line, " + head_text() + ", and the " + std::to_string(others) +
                 " lines of neighbours behind it",
             "let its name end in .graph or .metis; of a list of edges take the line of sizes out", file);
    }
    const bool both_ways = others == 2 * edges && edges > 2;
    if (head_columns < 4 && in_range && (edges == others || both_ways)) {
        fail(first_line,
             "the first line, " + head_text() + ", looks like the sizes of the graph, not like an edge: " +
                 std::to_string(vertices) + " vertices, and " + std::to_string(others) + " lines follow",
             "take it out, or begin it with #; if it is an edge, put it behind another one", file);
    }
}

// The numbers behind the second column could be neighbours, if every vertex has one line.
bool EdgeLines::further_are_ids() const {
    const std::int64_t least = std::min({smallest, head[0], head[1]}), most = std::max({largest, head[0], head[1]});
    return integers && apart && even() && lines > 1 && wide == lines && smallest_further >= least &&
           largest_further <= most;
}

void EdgeLines::refuse_other_forms(const std::string& file) const {
    if (!named) refuse_head(file);
    if (lone_line > 0)
        fail(lone_line, "malformed line: vertex id is missing",
             std::string("every line has two ids; ") + one_edge_a_line, file);
    if (named) return;
    if (!even() && (integers || (pairs && wide == lines))) {
        fail(other_line,
             "this line has " + std::to_string(other_columns) + " numbers, and those before it have " +
                 std::to_string(first_columns) + ": an adjacency list, not a list of edges",
             one_edge_a_line, file);
    }
    const std::int64_t least = std::min({smallest, head[0], head[1]}), most = std::max({largest, head[0], head[1]});
    if (further_are_ids() && counting && first_number == least && last_number == most) {
        fail(first_line,
             "every vertex has one line, and all of its " + std::to_string(first_columns) +
                 " numbers are ids: an adjacency list, not a list of edges",
             one_edge_a_line, file);
    }
}

std::vector<std::string> EdgeLines::remarks() const {
    if (named) return {};
    if (!even()) {
        return {"lines differ in length (line " + std::to_string(other_line) + " has " + std::to_string(other_columns) +
                " numbers, those before it have " + std::to_string(first_columns) +
                "): the first two of each are taken for an edge"};
    }
    if (further_are_ids()) {
        return {
            "the numbers behind the second column are ids of vertices, too: the first two of each line are taken for "
            "an edge, which is wrong for an adjacency list (networkx.write_edgelist writes one edge a line)"};
    }
    return {};
}

}  // namespace gnnplan::data
