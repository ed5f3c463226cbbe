// Lines and numbers out of a stream of text, in blocks; errors name file and line.
#pragma once

#include "runtime/read/input.hpp"
#include "runtime/read/parsed_graph.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::data {

class TextReader {
public:
    explicit TextReader(std::unique_ptr<InputStream> input);

    // The next line without its end ("\n" or "\r\n"); false at the end of the file. The view holds until the next call.
    bool next_line(std::string_view& line);
    // The next call of next_line() returns the last line again; after a call of next_line() that returned one.
    void repeat_line() {
        begin_ = last_begin_;
        --line_number_;
    }

    std::int64_t line_number() const { return line_number_; }  // of the last line, from 1
    std::int64_t offset() const { return buffer_offset_ + static_cast<std::int64_t>(begin_); }  // of the next line

    // From here on the lines are those of a share of the file that do not begin before byte `from`: a line belongs to
    // the share that has its first byte. Where the file cannot be read from its middle, the first share has all lines
    // from the next one on; returns whether this is so.
    bool take_share(const FileShare& share, std::int64_t from);
    // The same for a range of a file that can be read from its middle.
    void take_bytes(Range bytes, std::int64_t from = 0);
    // Whether it can be read from its middle.
    bool divisible() const { return input_->size().has_value(); }
    const std::string& name() const { return input_->name(); }

    // Throws ErrorCode::data at the current line.
    [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;

private:
    bool refill();
    void go_to(std::int64_t offset);
    std::int64_t lines_before_share() const;

    std::unique_ptr<InputStream> input_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // unread bytes of the buffer
    std::size_t end_ = 0;
    std::size_t last_begin_ = 0;  // of the last line, until the buffer is filled again
    std::int64_t line_number_ = 0;
    bool finished_ = false;
    std::int64_t buffer_offset_ = 0;                                     // of the buffer's first byte in the file
    std::int64_t share_begin_ = 0;                                       // where line numbers count from
    std::int64_t share_end_ = std::numeric_limits<std::int64_t>::max();  // where no line of the share begins
};

// Cuts numbers off the front of a line; errors are those of the reader that the line came from. The separator that is
// found first between two numbers (a comma, a semicolon or blanks alone) separates all of the line. Where it is not a
// comma, a comma within a number is a decimal comma.
class Fields {
public:
    // `separator`: the separator of the line, where it is known (' ' for blanks); 0: it is yet to be found.
    Fields(const TextReader& reader, std::string_view line, char separator = 0)
        : reader_(reader), next_(line.data()), end_(line.data() + line.size()), separator_(separator) {
        skip_space();
    }

    bool at_end() const { return next_ == end_; }
    // True at the end of the line, but not behind a comma, which another field has to follow.
    bool complete() const { return next_ == end_ && !open_; }
    // An integer from `first`, which is 0 or 1, and below `limit` (throws otherwise; `what` names it in the message),
    // and the separator after it: blanks, or one of , ; within blanks.
    std::int64_t index(std::int64_t limit, const char* what, std::int64_t first = 0) {
        const char* begin = next_;
        const std::int64_t value = digits();
        const bool ended = next_ == end_ || separates(*next_);
        if (next_ == begin || !ended || value < first || value >= limit) fail_index(begin, limit, what, first);
        skip_separator(what);
        return value;
    }
    // A floating point number, finite or not, and the separator after it. Errors give `hint` where there is no number.
    double number(const char* what, const char* hint = "");
    // The same; `integer` becomes its value where it is written with digits alone, else -1.
    double number(const char* what, const char* hint, std::int64_t& integer) {
        const char* begin = next_;
        integer = digits();
        const bool ended = next_ == end_ || (separates(*next_) && !decimal_comma(next_));
        if (next_ == begin || !ended) {
            next_ = begin;
            integer = -1;
            return number(what, hint);
        }
        skip_separator(what);
        return static_cast<double>(integer);
    }
    // A number rounded to a float; throws where that is not finite.
    float finite(const char* what);
    // The same for a number that number() has read from `begin` on.
    float finite(const char* what, const char* begin, double number) const;
    const char* position() const { return next_; }
    // Throws unless the whole line was used.
    void finish() const {
        if (next_ != end_ || open_) fail_finish();
    }

private:
    static bool separates(char c) { return c == '\t' || c == ' ' || c == ',' || c == ';'; }
    bool decimal_comma(const char* at) const {
        return at != end_ && *at == ',' && (separator_ == ';' || separator_ == ' ');
    }
    // Eighteen digits cannot overflow; whatever is longer is out of range or padded with zeros, and not needed.
    std::int64_t digits() {
        const char* begin = next_;
        std::int64_t value = 0;
        while (next_ != end_ && *next_ >= '0' && *next_ <= '9' && next_ - begin < 18)
            value = value * 10 + (*next_++ - '0');
        return value;
    }
    void skip_space() {
        while (next_ != end_ && (*next_ == ' ' || *next_ == '\t')) ++next_;
    }
    void skip_separator(const char* what) {
        if (next_ != end_ && !separates(*next_)) fail_separator(what);
        skip_space();
        open_ = next_ != end_ && (*next_ == ',' || *next_ == ';');
        if (next_ == end_) return;
        const char found = open_ ? *next_ : ' ';
        if (separator_ == 0) separator_ = found;
        if (separator_ != found) fail_mixed();
        if (open_) {
            ++next_;
            skip_space();
        }
    }
    double number_with_comma(const char* what, const char* hint);
    [[noreturn]] void fail_separator(const char* what) const;
    [[noreturn]] void fail_mixed() const;
    [[noreturn]] void fail_finish() const;
    [[noreturn]] void fail_number(const char* begin, const char* what, const char* hint) const;
    [[noreturn]] void fail_index(const char* begin, std::int64_t limit, const char* what, std::int64_t first) const;
    std::string_view raw_token(const char* begin) const;
    std::string token(const char* begin) const;

    const TextReader& reader_;
    const char* next_;
    const char* end_;
    char separator_;     // , or ; or, for blanks, ' '; 0: none was seen
    bool open_ = false;  // a comma was read: another field has to follow
};

}  // namespace gnnplan::data
