#include "planner/ir/packing.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/memory.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace gnnplan {
namespace {

// A buffer that has its place.
struct Placed {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t first = 0;
    std::size_t last = 0;
};

// The lowest offset from `offset` on at which so many bytes fit between what is listed by offset, as far as it counts.
template <class Entry, class Counts>
std::int64_t lowest_gap(const std::vector<Entry>& listed, std::int64_t bytes, std::int64_t offset,
                        const Counts& counts) {
    for (const Entry& other : listed) {
        if (offset + bytes <= other.begin) break;
        // Bits and a maximum instead of branches, which nothing could predict.
        offset = std::max(offset, counts(other) ? other.end : 0);
    }
    return offset;
}

template <class Entry>
auto listed_behind(std::vector<Entry>& list, std::int64_t begin) {
    return std::upper_bound(list.begin(), list.end(), begin,
                            [](std::int64_t o, const Entry& other) { return o < other.begin; });
}

// The buffers that have a place in a part of the time, by offset: those that live in all of it, as the ranges that they
// fill together, and the others.
class Part {
public:
    Part(std::size_t first, std::size_t last) : first_(first), last_(last) {}

    std::int64_t lowest_gap_for(const Buffer& buffer, std::int64_t offset) const {
        const std::int64_t bytes = aligned(buffer.bytes);
        for (std::int64_t before = -1; before != offset;) {
            before = lowest_gap(filled_, bytes, offset, [](const Range&) { return true; });
            offset = lowest_gap(others_, bytes, before, [&](const Placed& other) {
                return (buffer.first <= other.last) & (other.first <= buffer.last);
            });
        }
        return offset;
    }
    void add(const Placed& placed) {
        if (placed.first > first_ || placed.last < last_) {
            others_.insert(listed_behind(others_, placed.begin), placed);
        } else if (placed.begin < placed.end) {
            fill({placed.begin, placed.end});
        }
    }

private:
    void fill(Range range) {
        auto at = listed_behind(filled_, range.begin);
        if (at != filled_.end() && at->begin == range.end) {
            range.end = at->end;
            at = filled_.erase(at);
        }
        if (at != filled_.begin() && std::prev(at)->end == range.begin)
            std::prev(at)->end = range.end;
        else
            filled_.insert(at, range);
    }

    std::size_t first_, last_;
    std::vector<Range> filled_;
    std::vector<Placed> others_;
};

// The buffers that have a place, part by part of the time: most buffers of a deep network live in one part, or in all
// of many.
class Places {
public:
    Places(std::size_t buffers, std::size_t positions) : length_(positions / (buffers / buffers_a_part + 1) + 1) {
        for (std::size_t first = 0; first < positions; first += length_)
            parts_.emplace_back(first, first + length_ - 1);
    }

    // A gap in all parts is found when no part moves it any more.
    std::int64_t lowest_gap_for(const Buffer& buffer) const {
        const std::size_t first = buffer.first / length_;
        const std::size_t last = buffer.last / length_;
        std::int64_t offset = parts_[first].lowest_gap_for(buffer, 0);
        for (std::size_t part = first, agreed = 1; agreed < last - first + 1; ++agreed) {
            part = part == last ? first : part + 1;
            const std::int64_t moved = parts_[part].lowest_gap_for(buffer, offset);
            if (moved != offset) agreed = 0;
            offset = moved;
        }
        return offset;
    }
    void add(const Placed& placed) {
        for (std::size_t part = placed.first / length_; part <= placed.last / length_; ++part) parts_[part].add(placed);
    }

private:
    static constexpr std::size_t buffers_a_part = 40;

    std::size_t length_;
    std::vector<Part> parts_;
};

std::vector<std::size_t> largest_first(const std::vector<Buffer>& buffers) {
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });
    return order;
}

// With more buffers that moved than this, most others have some of them in their way.
constexpr std::size_t most_moved = 64;

}  // namespace

bool Packer::starts_over(const std::vector<Buffer>& buffers) const {
    return !std::equal(buffers.begin(), buffers.end(), buffers_.begin(), buffers_.end(),
                       [](const Buffer& a, const Buffer& b) { return a.first == b.first && a.last == b.last; });
}

// Those of other sizes have left their places before any buffer is placed.
void Packer::list_resized(const std::vector<Buffer>& buffers) {
    moved_.clear();
    for (std::size_t i = 0; i < buffers.size() && moved_.size() <= most_moved; ++i) {
        if (buffers[i].bytes == buffers_[i].bytes) continue;
        const std::int64_t begin = packed_.offsets[i];
        moved_.push_back({i, buffers[i].first, buffers[i].last, begin, begin + aligned(buffers_[i].bytes), 0, 0});
    }
}

// Whether the lowest gap of a buffer that is next in order is certainly where it was: nothing that was placed before it
// then has left room below, and nothing that is placed by now takes its place.
bool Packer::stays(const std::vector<Buffer>& buffers, std::size_t buffer) const {
    const Buffer& own = buffers[buffer];
    const std::int64_t begin = packed_.offsets[buffer];
    const std::int64_t end = begin + aligned(own.bytes);
    return std::none_of(moved_.begin(), moved_.end(), [&](const Moved& other) {
        if (other.buffer == buffer) return true;
        if (own.last < other.first || other.last < own.first) return false;
        if (other.new_begin < end && begin < other.new_end) return true;
        const std::int64_t bytes = buffers_[other.buffer].bytes;
        const bool came_before = bytes > own.bytes || (bytes == own.bytes && other.buffer < buffer);
        return came_before && other.begin < begin;
    });
}

void Packer::note(const std::vector<Buffer>& buffers, std::size_t buffer, std::int64_t offset) {
    const std::int64_t end = offset + aligned(buffers[buffer].bytes);
    const auto listed = std::find_if(moved_.begin(), moved_.end(), [&](const Moved& m) { return m.buffer == buffer; });
    if (listed != moved_.end()) {
        listed->new_begin = offset;
        listed->new_end = end;
    } else if (offset != packed_.offsets[buffer]) {
        const std::int64_t begin = packed_.offsets[buffer];
        moved_.push_back({buffer, buffers[buffer].first, buffers[buffer].last, begin,
                          begin + aligned(buffers[buffer].bytes), offset, end});
    }
}

const Packer::Packed& Packer::pack(std::vector<Buffer> buffers, std::size_t positions) {
    bool anew = starts_over(buffers);
    if (!anew) list_resized(buffers);
    Packed packed{std::vector<std::int64_t>(buffers.size(), 0), 0};
    Places places(buffers.size(), positions);
    for (const std::size_t i : largest_first(buffers)) {
        anew = anew || moved_.size() > most_moved;
        const bool known = !anew && stays(buffers, i);
        const std::int64_t offset = known ? packed_.offsets[i] : places.lowest_gap_for(buffers[i]);
        if (!anew && !known) note(buffers, i, offset);
        const std::int64_t end = offset + aligned(buffers[i].bytes);
        packed.offsets[i] = offset;
        packed.end = std::max(packed.end, end);
        places.add({offset, end, buffers[i].first, buffers[i].last});
    }
    buffers_ = std::move(buffers);
    packed_ = std::move(packed);
    return packed_;
}

}  // namespace gnnplan
