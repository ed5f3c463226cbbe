// Statistics of the lines of a text, which tell edge lists from other forms that look like them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::data {

class Fields;

// The statistics of a file or, until they are put together, of a share of it, in which lines are counted from 1.
struct EdgeLines {
    std::int64_t text = 0;       // lines of any kind
    std::int64_t lines = 0;      // lines with numbers
    std::int64_t blank = 0;      // blank lines behind the first line with numbers
    std::int64_t numbers = 0;    // numbers in all lines
    std::int64_t lone_line = 0;  // the first line with a single number, which is no edge; 0: there is none
    // The first line with numbers and how many it has; then the first line that has more or fewer, and how many.
    std::int64_t first_line = 0, first_columns = 0;
    std::int64_t other_line = 0, other_columns = 0;
    // Lines of three or more numbers are wide; their numbers behind the second are called further numbers.
    std::int64_t wide = 0, most_columns = 0;
    std::int64_t first_number = 0, last_number = 0;  // of the first and of the last of these lines
    std::int64_t smallest_further = largest_id, largest_further = -1;
    bool integers = true;  // further numbers are digits
    bool apart = true;     // none of them is an end of its own line
    bool counting = true;  // the first numbers of wide lines count up by one
    bool pairs = true;     // behind the first number, digits and any number take turns
    // The numbers of the file's first line, where it has no header, with -1 for those that are not all digits, and how
    // many there are. Then the smallest and the largest end of the edges of all other lines.
    std::array<std::int64_t, 4> head = {-1, -1, -1, -1};
    std::int64_t head_columns = 0;
    std::int64_t smallest = largest_id, largest = -1;
    bool named = false;  // a header names the columns, so that their meaning is known

    static constexpr std::int64_t largest_id = std::int64_t{1} << 62;

    void count(std::int64_t columns, std::int64_t line) {
        numbers += columns;
        if (lines++ == 0) {
            first_line = line;
            first_columns = columns;
        }
        if (columns != first_columns && other_line == 0) {
            other_line = line;
            other_columns = columns;
        }
    }
    // Adds the statistics of the lines that follow these.
    void append(const EdgeLines& next);

    // Throws ErrorCode::data where the lines of a whole file have another form: an adjacency list, a METIS graph, a
    // matrix without its banner, or a list behind a line of sizes. The message names `file`.
    void refuse_other_forms(const std::string& file) const;
    // Signs that the lines may not be edges, where that cannot be known.
    std::vector<std::string> remarks() const;

private:
    [[noreturn]] void fail(std::int64_t line, const std::string& what, const std::string& hint,
                           const std::string& file) const;
    void refuse_head(const std::string& file) const;
    bool is_metis() const;
    std::string head_text() const;
    bool even() const { return other_line == 0; }
    bool further_are_ids() const;
};

// The hint for a user whose file has columns of words.
constexpr const char* no_number_hint = "columns that are no numbers need a header that names source and target";

// Reads the numbers of a line behind the second, and counts them in `lines`. Returns how many columns the line has;
// unless it is null, `weight` is set to the first of these numbers.
std::int64_t read_further(Fields& fields, EdgeLines& lines, std::int64_t from, std::int64_t to, float* weight);

}  // namespace gnnplan::data
