// EdgeColumns says which columns of a table of edges are source, target and weight, by the names in its header.
#pragma once

#include "runtime/read/text_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::data {

struct EdgeColumns {
    char separator = ',';  // , or ; or a tab, or ' ' for any blanks
    std::vector<std::string> names;
    int source = 0;
    int target = 1;
    int weight = -1;       // -1: there is none
    int kind = -1;         // "Directed" or "Undirected", as Gephi writes them
    bool guessed = false;  // both ends are not named: they are taken in their order

    int count() const { return static_cast<int>(names.size()); }
    // Whether lines look as in a file without a header: source, target, and numbers, the first of them the weight.
    bool plain() const { return source == 0 && target == 1 && (count() == 2 || (count() == 3 && weight == 2)); }
    // Whether a file without a header would be read in the same way, with `weights` or without.
    bool as_without_names(bool weights) const {
        return source == 0 && target == 1 && (!weights || weight < 0 || weight == 2);
    }
    bool csv() const { return separator == ',' || separator == ';'; }
    std::string list() const;  // the names, for messages
};

// The columns that a first line names that is no comment; nothing where it is a line of numbers, or of words that are
// separated by blanks and name no end of an edge. Throws ErrorCode::data where names contradict each other, or do not
// tell which of several columns are the ends.
std::optional<EdgeColumns> columns_of_header(const TextReader& reader, std::string_view line);

// The same for a comment before the first line, such as "# FromNodeId ToNodeId"; nothing where it does not name exactly
// the columns of that line.
std::optional<EdgeColumns> columns_of_comment(std::string_view comment, std::string_view first_line);

// The character that separates the numbers of a line: , or ; or a tab, or ' ' for blanks.
char separator_of_numbers(std::string_view line);

// Splits a line into fields, without blanks around them and without quotes; separators within quotes do not count.
void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields);

}  // namespace gnnplan::data
