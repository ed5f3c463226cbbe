// Which columns of a table of edges are source, target and weight, by the names in its header.
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
    // Whether lines are as those of a file without a header: source, target, and numbers, of which the first is the weight.
    bool plain() const { return source == 0 && target == 1 && (count() == 2 || (count() == 3 && weight == 2)); }
    // Whether a file without names is read so, too, with weights or without.
    bool as_without_names(bool weights) const {
        return source == 0 && target == 1 && (!weights || weight < 0 || weight == 2);
    }
    bool csv() const { return separator == ',' || separator == ';'; }
    std::string list() const;  // the names, for messages
};

// The columns that the first line names, which is not a comment; nothing where it is a line of numbers, or of words that
// name no ends of an edge between blanks. Throws ErrorCode::data where names contradict each other or where it takes
// names to tell which of several columns are the ends.
std::optional<EdgeColumns> columns_of_header(const TextReader& reader, std::string_view line);

// The same of a comment before the first line, such as "# FromNodeId ToNodeId", of so many columns; nothing where it does
// not name just them.
std::optional<EdgeColumns> columns_of_comment(std::string_view comment, std::string_view first_line);

// What separates the numbers of a line: , or ; or a tab, or ' ' for blanks.
char separator_of_numbers(std::string_view line);

// The fields of a line, without blanks around them and without quotes, within which separators are none.
void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields);

}  // namespace gnnplan::data
