#include "runtime/read/edge_columns.hpp"

#include <algorithm>
#include <cctype>
#include <span>

namespace gnnplan::data {
namespace {

constexpr std::string_view blanks = " \t";

// The names are in small letters, without all characters but letters and digits.
constexpr std::string_view source_names[] = {
    "source",   "src",   "from",       "fromnode", "fromnodeid", "fromid",  "fromvertex",
    "sourceid", "srcid", "sourcenode", "startid",  "u",          "i",       "row",
    "node1",    "id1",   "v1",         "n1",       "vertex1",    "nodeid1", "numericid1"};
constexpr std::string_view target_names[] = {
    "target", "dst",        "to",      "tonode",  "tonodeid",   "toid", "tovertex",    "targetid",
    "dstid",  "targetnode", "endid",   "v",       "j",          "col",  "node2",       "id2",
    "v2",     "n2",         "vertex2", "nodeid2", "numericid2", "dest", "destination", "column"};
constexpr std::string_view weight_names[] = {"weight", "weights", "w", "edgeweight", "value", "val", "wgt"};

bool is_one_of(const std::string& word, std::span<const std::string_view> list) {
    return std::ranges::find(list, word) != list.end();
}

// "Source ID", "source_id" and "sourceId" are one name; so is ":START_ID(Person)" of Neo4j beside "start id".
std::string plain_name(std::string_view text) {
    std::string word;
    for (const char c : text.substr(0, text.find('('))) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == ':' && !word.empty()) break;  // its type follows
        if (std::isalnum(byte) != 0) word += static_cast<char>(std::tolower(byte));
    }
    return word;
}

// Looks up which column has one of the names: -1 if there is none, -2 if there are several.
void find_ends(EdgeColumns& columns) {
    columns.source = columns.target = -1;
    const auto take = [](int& place, int column) { place = place == -1 ? column : -2; };
    for (int i = 0; i < columns.count(); ++i) {
        const std::string word = plain_name(columns.names[static_cast<std::size_t>(i)]);
        if (is_one_of(word, source_names)) take(columns.source, i);
        if (is_one_of(word, target_names)) take(columns.target, i);
        if (is_one_of(word, weight_names) && columns.weight < 0) columns.weight = i;
        if (word == "type" && columns.kind < 0) columns.kind = i;
    }
}

EdgeColumns named(std::string_view line, char separator) {
    EdgeColumns columns;
    columns.separator = separator;
    std::vector<std::string_view> fields;
    split_fields(line, separator, fields);
    columns.names.assign(fields.begin(), fields.end());
    find_ends(columns);
    return columns;
}

bool begins_as_name(std::string_view field) {
    return !field.empty() && (std::isalpha(static_cast<unsigned char>(field.front())) != 0 || field.front() == '_' ||
                              field.front() == ':');
}

char separator_of(std::string_view line) {
    const std::size_t found = line.find_first_of(",;");
    if (found != std::string_view::npos) return line[found];
    return line.find('\t') != std::string_view::npos ? '\t' : ' ';
}

}  // namespace

char separator_of_numbers(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::size_t ended = std::min(line.find_first_of(" \t,;"), line.size());
    const std::size_t found = line.find_first_not_of(blanks, ended);
    if (found != std::string_view::npos && (line[found] == ',' || line[found] == ';')) return line[found];
    return line.find('\t') != std::string_view::npos ? '\t' : ' ';
}

std::string EdgeColumns::list() const {
    std::string all;
    for (const std::string& name : names) {
        all += all.empty() ? "" : ", ";
        for (const char c : name.substr(0, 32)) all += c < ' ' || c > '~' ? '?' : c;
        if (name.empty()) all += "(no name)";
    }
    return all;
}

void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields) {
    fields.clear();
    const std::string_view stops = separator == ' ' ? blanks : std::string_view(&separator, 1);
    for (;;) {
        const std::size_t first = line.find_first_not_of(separator == '\t' ? std::string_view(" ") : blanks);
        line.remove_prefix(first == std::string_view::npos ? line.size() : first);
        if (line.empty() && separator == ' ' && !fields.empty()) return;  // blanks at the end
        std::string_view field;
        if (line.starts_with('"')) {
            std::size_t end = 1;  // of what is quoted; "" stands for a quote in it
            while (end < line.size() && (line[end] != '"' || line.substr(end + 1).starts_with('"')))
                end += line[end] == '"' ? 2 : 1;
            end = std::min(end, line.size());
            field = line.substr(1, end - 1);
            line.remove_prefix(std::min(line.find_first_of(stops, end), line.size()));
        } else {
            field = line.substr(0, line.find_first_of(stops));
            line.remove_prefix(field.size());
            field = field.substr(0, field.find_last_not_of(blanks) + 1);
        }
        fields.push_back(field);
        if (line.empty()) return;
        line.remove_prefix(1);
    }
}

std::optional<EdgeColumns> columns_of_header(const TextReader& reader, std::string_view line) {
    EdgeColumns columns = named(line, separator_of(line));
    const bool words =
        std::ranges::all_of(columns.names,
                            [](const std::string& name) { return name.empty() || begins_as_name(name); }) &&
        std::ranges::any_of(columns.names, begins_as_name);
    if (!words || columns.count() < 2) return std::nullopt;
    const bool known = columns.source >= 0 && columns.target >= 0;
    if (known) return columns;
    if (!columns.csv()) return std::nullopt;
    if (columns.source == -2 || columns.target == -2 || columns.count() > 2) {
        reader.fail("which columns are the ends of an edge? Their names are " + columns.list(),
                    "name them source and target, and no other column so");
    }
    columns.guessed = true;
    // Where there are two columns and one is named as an end, the other column is the other end.
    const bool swapped = columns.source == 1 || columns.target == 0;
    columns.source = swapped ? 1 : 0;
    columns.target = swapped ? 0 : 1;
    if (columns.weight >= 0) columns.weight = -1;
    return columns;
}

std::optional<EdgeColumns> columns_of_comment(std::string_view comment, std::string_view first_line) {
    comment.remove_prefix(std::min(comment.find_first_not_of("#% \t"), comment.size()));
    EdgeColumns columns = named(comment, separator_of(comment));
    columns.separator = separator_of_numbers(first_line);
    std::vector<std::string_view> fields;
    split_fields(first_line, columns.separator, fields);
    if (columns.source < 0 || columns.target < 0 || std::ssize(columns.names) != std::ssize(fields))
        return std::nullopt;
    return columns;
}

}  // namespace gnnplan::data
