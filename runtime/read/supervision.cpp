#include "runtime/read/supervision.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace gnnplan::data {
namespace {

constexpr const char* subset_name[] = {"train", "valid", "test"};
constexpr std::uint8_t no_subset = 255;

std::int64_t distinct_labels(std::vector<std::int32_t> labels) {
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    const bool unlabelled = !labels.empty() && labels.front() < 0;
    return static_cast<std::int64_t>(labels.size()) - (unlabelled ? 1 : 0);
}

// The shortest text that reads back: "-3", "2.5", "-1e+300", "-inf".
std::string text_of(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

namespace {

std::int32_t class_of(double value, const Fail& fail) {
    if (std::isnan(value)) return -1;
    if (value < 0) fail("label " + text_of(value) + " is negative", "an unlabelled vertex has the label nan");
    if (value > std::numeric_limits<std::int32_t>::max() - 1)
        fail("label " + text_of(value) + " is out of range: it must be below 2^31 - 1", {});
    if (std::floor(value) != value)
        fail("label " + text_of(value) + " is not an integer", "labels are class indices from 0");
    return static_cast<std::int32_t>(value);
}

void set_bit(std::vector<std::uint8_t>& bits, std::int64_t at) {
    bits[static_cast<std::size_t>(at / 8)] |= static_cast<std::uint8_t>(1U << (at % 8));
}

// Appends the labels of vertex `v`, of which earlier vertices may have had all known.
void append_bits(LabelBits& bits, std::int64_t v, std::span<const double> values, const Fail& fail) {
    const std::int64_t first = v * bits.columns, end = first + bits.columns;
    const auto bytes = static_cast<std::size_t>((end + 7) / 8);
    bits.value.resize(bytes);
    if (!bits.all_known()) bits.known.resize(bytes);
    for (std::int64_t at = first; at < end; ++at) {
        const double value = values[static_cast<std::size_t>(at - first)];
        if (!std::isnan(value) && value != 0 && value != 1)
            fail("label " + std::to_string(at - first) + " is " + text_of(value) + ", not 0, 1 or nan",
                 "several labels for a vertex say of each class whether it has it, or nan where nobody knows; values "
                 "to regress to are not supported");
        if (std::isnan(value) && bits.all_known()) {
            bits.known.assign(bytes, 0);
            for (std::int64_t before = 0; before < at; ++before) set_bit(bits.known, before);
        }
        if (!std::isnan(value) && !bits.all_known()) set_bit(bits.known, at);
        if (value == 1) set_bit(bits.value, at);
    }
}

}  // namespace

void Supervision::add_labels(std::span<const double> values, const Fail& fail) {
    const std::int64_t before = bits.empty() ? (label.empty() ? std::ssize(values) : 1) : bits.columns;
    if (std::ssize(values) != before || values.empty())
        fail(std::to_string(before) + " labels for each vertex expected, as for those before, found " +
                 std::to_string(values.size()),
             {});
    if (before == 1) return label.push_back(class_of(values.front(), fail));
    bits.columns = before;
    append_bits(bits, bits.vertices++, values, fail);
}

bool Supervision::is_labelled(std::int64_t vertex) const {
    return bits.empty() ? label[static_cast<std::size_t>(vertex)] >= 0 : bits.known_of(vertex) > 0;
}

void Supervision::assign(std::int64_t vertex, std::uint8_t subset_of_vertex, std::int64_t vertices, const Fail& fail) {
    if (subset.empty()) subset.assign(static_cast<std::size_t>(vertices), no_subset);
    if (vertex < 0 || vertex >= vertices) {
        fail("vertex " + std::to_string(vertex) + " is out of range: the graph has " + std::to_string(vertices), {});
    }
    std::uint8_t& slot = subset[static_cast<std::size_t>(vertex)];
    if (slot == subset_of_vertex) fail("vertex " + std::to_string(vertex) + " is listed twice", {});
    if (slot != no_subset) {
        fail("vertex " + std::to_string(vertex) + " is in both the " + subset_name[slot] + " and the " +
                 subset_name[subset_of_vertex] + " set",
             {});
    }
    slot = subset_of_vertex;
}

void refuse_split(const std::string& split, const std::filesystem::path& path) {
    if (split.empty()) return;
    throw Error(ErrorCode::usage,
                "only OGB raw folders have named splits, and masks of several columns in .npz archives numbered ones",
                path.string(), "leave `split` out");
}

namespace {

std::int64_t check_several(const Supervision& supervision, std::int64_t declared, const std::string& where) {
    const LabelBits& bits = supervision.bits;
    if (declared > 0 && declared != bits.columns)
        throw Error(ErrorCode::data,
                    "each vertex has " + std::to_string(bits.columns) + " labels: " + std::to_string(declared) +
                        " classes were asked for",
                    where);
    return bits.columns;
}

}  // namespace

std::int64_t check_classes(const Supervision& supervision, std::int64_t declared, const std::string& where) {
    if (!supervision.bits.empty()) return check_several(supervision, declared, where);
    std::int64_t largest = -1;
    for (std::size_t v = 0; v < supervision.label.size(); ++v) {
        const std::int32_t label = supervision.label[v];
        largest = std::max<std::int64_t>(largest, label);
        if (declared > 0 && label >= declared) {
            throw Error(ErrorCode::data,
                        "label " + std::to_string(label) + " of vertex " + std::to_string(v) +
                            " is out of range: " + std::to_string(declared) + " classes were asked for",
                        where);
        }
    }
    if (largest < 0) throw Error(ErrorCode::data, "no vertex has a label", where);
    const std::int64_t distinct = distinct_labels(supervision.label);
    if (declared == 0 && largest >= 2 * distinct + 100) {
        throw Error(ErrorCode::data,
                    "label " + std::to_string(largest) + " is out of range: only " + std::to_string(distinct) +
                        " different labels occur",
                    where, "labels are class indices 0 .. C - 1; number them so");
    }
    return declared > 0 ? declared : largest + 1;
}

void check_train_set(const Supervision& supervision, const std::string& where) {
    std::int64_t labelled = 0, lacking = 0, first = -1;
    for (std::size_t v = 0; v < supervision.subset.size(); ++v) {
        if (supervision.subset[v] != 0) continue;
        const bool has = supervision.is_labelled(static_cast<std::int64_t>(v));
        ++(has ? labelled : lacking);
        if (!has && first < 0) first = static_cast<std::int64_t>(v);
    }
    if (lacking > 0 && supervision.bits.empty())
        throw Error(ErrorCode::data, "vertex " + std::to_string(first) + " is in the train set but has no label",
                    where);
    if (lacking > 0 && labelled == 0)
        throw Error(ErrorCode::data, "no vertex of the train set has a label that is known", where);
}

namespace {

std::string unused_text(const std::vector<bool>& occurs, bool classes) {
    const auto unused = std::ranges::count(occurs, false);
    if (unused == 0) return {};
    const auto first = std::ranges::find(occurs, false) - occurs.begin();
    if (!classes)
        return std::to_string(unused) + " of " + std::to_string(occurs.size()) +
               " labels no vertex has (the first is label " + std::to_string(first) +
               "), and take a column each all the same";
    if (unused == 1) {
        return "class " + std::to_string(first) + " of 0 .. " + std::to_string(occurs.size() - 1) +
               " never occurs, and takes a column all the same" + (first == 0 ? ": labels from 1?" : "");
    }
    return std::to_string(unused) + " of " + std::to_string(occurs.size()) + " classes never occur (the first is " +
           std::to_string(first) + "), and take a column each all the same: labels are numbers from 0 without gaps";
}

// The remark on several labels a vertex, which may be one-hot rows of classes.
std::string doubtful_labels(const LabelBits& bits, std::int64_t vertices) {
    std::vector<bool> occurs(static_cast<std::size_t>(bits.columns), false);
    bool one_hot = bits.all_known();
    for (std::int64_t v = 0; v < vertices; ++v) {
        std::int64_t count = 0;
        for (std::int64_t j = 0; j < bits.columns; ++j) {
            if (!bits.has(v, j)) continue;
            occurs[static_cast<std::size_t>(j)] = true, ++count;
        }
        one_hot = one_hot && count == 1;
    }
    if (one_hot && vertices > 0)
        return "each vertex has one label of " + std::to_string(bits.columns) +
               ": are they classes? Saved as .argmax(axis=1), they are trained with a softmax";
    return unused_text(occurs, false);
}

}  // namespace

std::string doubtful_classes(const Supervision& supervision) {
    if (!supervision.bits.empty()) return doubtful_labels(supervision.bits, supervision.vertices());
    const auto largest = std::ranges::max_element(supervision.label);
    if (largest == supervision.label.end() || *largest < 0) return {};
    std::vector<bool> occurs(static_cast<std::size_t>(*largest) + 1, false);
    for (const std::int32_t label : supervision.label) {
        if (label >= 0) occurs[static_cast<std::size_t>(label)] = true;
    }
    return unused_text(occurs, true);
}

}  // namespace gnnplan::data
