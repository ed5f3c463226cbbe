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

void Supervision::add_label(double value, const Fail& fail) {
    if (std::isnan(value)) {
        label.push_back(-1);
        return;
    }
    if (value < 0) fail("label " + text_of(value) + " is negative", "an unlabelled vertex has the label nan");
    if (value > std::numeric_limits<std::int32_t>::max() - 1)
        fail("label " + text_of(value) + " is out of range: it must be below 2^31 - 1", {});
    if (std::floor(value) != value)
        fail("label " + text_of(value) + " is not an integer", "labels are class indices from 0");
    label.push_back(static_cast<std::int32_t>(value));
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

std::int64_t check_classes(const Supervision& supervision, std::int64_t declared, const std::string& where) {
    std::int64_t largest = -1;
    for (std::size_t v = 0; v < supervision.label.size(); ++v) {
        const std::int32_t label = supervision.label[v];
        largest = std::max<std::int64_t>(largest, label);
        if (label < 0 && !supervision.subset.empty() && supervision.subset[v] == 0) {
            throw Error(ErrorCode::data, "vertex " + std::to_string(v) + " is in the train set but has no label",
                        where);
        }
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

std::string unused_classes(const Supervision& supervision) {
    const auto largest = std::ranges::max_element(supervision.label);
    if (largest == supervision.label.end() || *largest < 0) return {};
    std::vector<bool> occurs(static_cast<std::size_t>(*largest) + 1, false);
    for (const std::int32_t label : supervision.label) {
        if (label >= 0) occurs[static_cast<std::size_t>(label)] = true;
    }
    const auto unused = std::ranges::count(occurs, false);
    if (unused == 0) return {};
    const auto first = std::ranges::find(occurs, false) - occurs.begin();
    if (unused == 1) {
        return "class " + std::to_string(first) + " of 0 .. " + std::to_string(*largest) +
               " never occurs, and takes a column all the same" + (first == 0 ? ": labels from 1?" : "");
    }
    return std::to_string(unused) + " of " + std::to_string(occurs.size()) + " classes never occur (the first is " +
           std::to_string(first) + "), and take a column each all the same: labels are numbers from 0 without gaps";
}

}  // namespace gnnplan::data
