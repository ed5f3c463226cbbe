#include "runtime/read/text_rows.hpp"

#include <cmath>
#include <string_view>
#include <utility>

namespace gnnplan::data {
namespace {

// Whether a first line names columns, and is not one of numbers.
bool is_header(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    return begin != std::string_view::npos && std::string_view("0123456789+-").find(line[begin]) == line.npos;
}

}  // namespace

TextReader open_lines(const Lines& lines, const RowForm& form) {
    TextReader reader(open_input(lines.file->path));
    if (lines.file->bytes) reader.take_bytes(lines.bytes);
    std::string_view line;
    if (form.by_id && lines.bytes.begin == 0 && reader.next_line(line) && !is_header(line)) reader.repeat_line();
    return reader;
}

TextRows::TextRows(const RowForm& form, std::vector<Lines> lines, std::int64_t first)
    : form_(form), lines_(std::move(lines)), next_(first) {}

std::int64_t TextRows::next() {
    for (std::string_view line;;) {
        if (!reader_) {
            if (at_ == lines_.size()) return -1;
            reader_.emplace(open_lines(lines_[at_++], form_));
        }
        if (!reader_->next_line(line)) {
            fields_.reset();
            reader_.reset();
            continue;
        }
        fields_.emplace(*reader_, line);
        if (form_.by_id) return fields_->index(form_.vertices, "vertex id");
        if (next_ >= form_.vertices)
            reader_->fail("more rows than the " + std::to_string(form_.vertices) + " vertices");
        return next_++;
    }
}

void TextRows::read(std::span<float> values) {
    for (std::size_t j = 0; j < values.size(); ++j) {
        if (fields_->at_end()) {
            reader_->fail(std::to_string(values.size()) + " features expected, as in " + form_.first + ", found " +
                          std::to_string(j));
        }
        values[j] = static_cast<float>(fields_->number("feature"));
        if (!std::isfinite(values[j]))
            reader_->fail("feature " + std::to_string(j) + " is not finite (or beyond float32)");
    }
    if (!fields_->at_end())
        reader_->fail("more than the " + std::to_string(values.size()) + " features of " + form_.first);
    fields_->finish();
}

}  // namespace gnnplan::data
