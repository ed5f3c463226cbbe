#include "runtime/read/text_reader.hpp"

#include "runtime/read/foreign_text.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

namespace gnnplan::data {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;
constexpr std::size_t longest_line = std::size_t{1} << 26;

}  // namespace

TextReader::TextReader(std::unique_ptr<InputStream> input) : input_(std::move(input)), buffer_(block_bytes) {}

bool TextReader::refill() {
    if (finished_) return false;
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    buffer_offset_ += static_cast<std::int64_t>(begin_);
    end_ -= begin_;
    begin_ = 0;
    if (end_ == buffer_.size()) {
        if (buffer_.size() >= longest_line) fail("line longer than 64 MiB: not a text file of this kind");
        buffer_.resize(buffer_.size() * 2);
    }
    const std::size_t got = input_->read({buffer_.data() + end_, buffer_.size() - end_});
    end_ += got;
    finished_ = end_ < buffer_.size();
    return got > 0;
}

void TextReader::go_to(std::int64_t offset) {
    input_->seek(offset);
    begin_ = end_ = 0;
    buffer_offset_ = offset;
    finished_ = false;
}

bool TextReader::take_share(const FileShare& share, std::int64_t from) {
    if (share.whole()) return false;
    const std::optional<std::int64_t> bytes = input_->size();
    if (!bytes) {
        if (!share.first()) share_end_ = 0;
        return true;
    }
    take_bytes(share.range(*bytes), from);
    return false;
}

void TextReader::take_bytes(Range bytes, std::int64_t from) {
    if (bytes.begin > from) {
        go_to(bytes.begin - 1);
        std::string_view of_the_share_before;
        next_line(of_the_share_before);
    } else {
        go_to(from);
    }
    share_begin_ = offset();
    share_end_ = bytes.end;
    line_number_ = 0;
}

// Only who has a mistake to report asks for it.
std::int64_t TextReader::lines_before_share() const {
    std::int64_t lines = 0;
    if (share_begin_ == 0) return lines;
    std::vector<char> some(block_bytes);
    input_->seek(0);
    for (std::int64_t left = share_begin_; left > 0;) {
        const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(left, block_bytes));
        const std::size_t got = input_->read({some.data(), wanted});
        if (got == 0) break;
        lines += std::count(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got), '\n');
        left -= static_cast<std::int64_t>(got);
    }
    return lines;
}

bool TextReader::next_line(std::string_view& line) {
    if (offset() >= share_end_) return false;
    const bool begins_file = offset() == 0;
    std::size_t searched = 0;  // bytes from begin_ known to hold no line end
    const char* stop = nullptr;
    for (;;) {
        const char* from = buffer_.data() + begin_ + searched;
        stop = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_ - searched));
        if (stop != nullptr) break;
        searched = end_ - begin_;
        if (!refill()) break;
    }
    if (stop == nullptr && begin_ == end_) return false;
    ++line_number_;
    const std::size_t length =
        stop != nullptr ? static_cast<std::size_t>(stop - buffer_.data()) - begin_ : end_ - begin_;
    line = {buffer_.data() + begin_, length};
    last_begin_ = begin_;
    begin_ = std::min(end_, begin_ + length + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // as editors of Windows write it
    if (begins_file && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    return true;
}

void TextReader::fail(const std::string& what, const std::string& hint) const {
    const std::int64_t number = line_number_ + lines_before_share();
    const std::string line = number > 0 ? ":" + std::to_string(number) : "";  // nothing was read yet
    throw Error(ErrorCode::data, what, name() + line, hint);
}

std::string_view Fields::raw_token(const char* begin) const {
    const char* stop = begin;
    while (stop != end_ && stop - begin < 32 && !separates(*stop)) ++stop;
    return {begin, stop};
}

std::string Fields::token(const char* begin) const {
    std::string text(raw_token(begin));
    for (char& c : text) {
        if (c < ' ' || c > '~') c = '?';
    }
    return "'" + text + "'";
}

void Fields::fail_index(const char* begin, std::int64_t limit, const char* what, std::int64_t first) const {
    if (begin == end_) reader_.fail(std::string("malformed line: ") + what + " is missing");
    const bool negative = *begin == '-';
    const char* digits = begin + (negative ? 1 : 0);
    const char* stop = std::find_if(digits, end_, [](char c) { return c < '0' || c > '9'; });
    const bool whole = stop != digits && (stop == end_ || separates(*stop));
    if (!whole) {
        reader_.fail(std::string("malformed line: ") + what + " expected, found " + token(begin),
                     hint_for_no_id(raw_token(begin)));
    }
    if (negative) reader_.fail(std::string(what) + " " + token(begin) + " is negative");
    const std::string out_of_range = std::string(what) + " " + token(begin) + " is out of range";
    // A count without a limit of its own still has to be counted in 63 bits, eight bytes each.
    constexpr std::int64_t any = std::int64_t{1} << 60;
    if (limit > any) reader_.fail(out_of_range);
    reader_.fail(out_of_range + (first > 0
                                     ? ": it must be " + std::to_string(first) + " to " + std::to_string(limit - 1)
                                     : ": it must be below " + std::to_string(limit)));
}

void Fields::fail_separator(const char* what) const {
    reader_.fail(std::string("malformed line: ") + token(next_) + " after " + what);
}

void Fields::fail_mixed() const {
    const auto name = [](char c) { return c == ' ' ? std::string("blanks") : "'" + std::string(1, c) + "'"; };
    reader_.fail(
        "malformed line: both " + name(separator_) + " and " + name(open_ ? *next_ : ' ') + " between its numbers",
        "separate all columns by blanks, by commas or by semicolons");
}

void Fields::fail_number(const char* begin, const char* what, const char* hint) const {
    if (begin == end_) reader_.fail(std::string("malformed line: ") + what + " is missing");
    const std::string known = hint_for_no_number(raw_token(begin));
    reader_.fail(std::string("malformed line: ") + what + " expected, found " + token(begin),
                 known.empty() ? hint : known);
}

double Fields::number(const char* what, const char* hint) {
    const char* begin = next_;
    if (next_ != end_ && *next_ == '+') ++next_;
    double value = 0;
    const auto [stop, status] = std::from_chars(next_, end_, value);
    if (decimal_comma(stop)) {
        next_ = begin;
        return number_with_comma(what, hint);
    }
    if (status == std::errc::result_out_of_range) {
        // Too small reads as 0, too large has no value we could use.
        if (std::string_view(begin, stop).find("e-") == std::string_view::npos &&
            std::string_view(begin, stop).find("E-") == std::string_view::npos) {
            reader_.fail(std::string(what) + " " + token(begin) + " is out of range");
        }
        value = 0;
    } else if (status != std::errc()) {
        fail_number(begin, what, hint);
    }
    next_ = stop;
    skip_separator(what);
    return value;
}

// True for "0,5" where commas separate nothing. Two commas, or a comma and a point, may group digits, and are refused.
double Fields::number_with_comma(const char* what, const char* hint) {
    const char* begin = next_;
    const char* stop = std::find_if(begin, end_, [](char c) { return c != ',' && separates(c); });
    std::string text(begin, stop);
    const std::size_t comma = text.find(',');
    const bool one = text.find_first_of(",.", comma + 1) == std::string::npos && text.find('.') == std::string::npos;
    text[comma] = '.';
    Fields with_point(reader_, text, ' ');
    if (!one || comma + 1 == text.size()) fail_number(begin, what, hint);
    const double value = with_point.number(what, hint);
    with_point.finish();
    next_ = stop;
    skip_separator(what);
    return value;
}

float Fields::finite(const char* what) {
    const char* begin = next_;
    return finite(what, begin, number(what));
}

float Fields::finite(const char* what, const char* begin, double number) const {
    const auto value = static_cast<float>(number);
    if (!std::isfinite(value)) {
        reader_.fail(std::string(what) + " " + token(begin) + " is not finite (or beyond float32)");
    }
    return value;
}

void Fields::fail_finish() const {
    if (!at_end()) reader_.fail("malformed line: unexpected " + token(next_));
    reader_.fail("malformed line: a field is missing after the last comma");
}

}  // namespace gnnplan::data
