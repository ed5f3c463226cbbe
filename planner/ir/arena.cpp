// Reading guide: a rank's buffers are the residents, one after the other, then what lives for a while only: transients,
// staging buffers of steps, features that only setup reads, products cached from setup on. Those are packed so that two
// share space only when their lifetimes do not overlap: largest first, each at the lowest offset that is free during
// its whole lifetime (greedy by size; Pisarchyk & Lee 2020).
#include "planner/ir/arena.hpp"

#include <algorithm>
#include <numeric>

namespace gnnplan {
namespace {

// A buffer to place: bytes, alive from step position `first` to `last`, and where its offset goes.
struct Buffer {
    std::int64_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::int64_t* offset = nullptr;
};

// One that has its place.
struct Placed {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t first = 0;
    std::size_t last = 0;
};

// Steps in the order in which time passes: setup, epoch, evaluation.
std::vector<std::size_t> timeline(const Schedule& schedule) {
    std::vector<std::size_t> order(schedule.steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return schedule.steps[a].phase < schedule.steps[b].phase; });
    return order;
}

// Whether a resident can make room once setup is over.
bool ends_with_setup(const Schedule& schedule, TensorId id) {
    if (tensor_of(schedule, id).role != Role::features) return false;
    bool in_setup = false;
    for (const Step& step : schedule.steps) {
        const Operands operands = operands_of(step.operation);
        if (std::find(operands.reads.begin(), operands.reads.end(), id) == operands.reads.end()) continue;
        if (step.phase != Phase::setup) return false;
        in_setup = true;
    }
    return in_setup;
}

// The lowest offset from `base` on at which the buffer fits between those that live at the same time, which are listed
// by their offsets.
std::int64_t lowest_gap(const std::vector<Placed>& placed, const Buffer& buffer, std::int64_t bytes,
                        std::int64_t base) {
    std::int64_t offset = base;
    for (const Placed& other : placed) {
        if (offset + bytes <= other.begin) break;
        // Bits and a maximum instead of branches, which nothing could predict.
        const bool overlaps = (buffer.first <= other.last) & (other.first <= buffer.last);
        offset = std::max(offset, overlaps ? other.end : 0);
    }
    return offset;
}

// What has its place, by offset: all of it, and in deep networks what lives in each part of the time, too, as most
// buffers live in one part only.
class Places {
public:
    Places(std::size_t buffers, std::size_t positions)
        : parts_(buffers < many ? 0 : some), length_(positions / some + 1) {
        all_.reserve(buffers);
    }

    const std::vector<Placed>& around(const Buffer& buffer) const {
        const std::size_t part = buffer.first / length_;
        return !parts_.empty() && part == buffer.last / length_ ? parts_[part] : all_;
    }
    void add(const Placed& placed) {
        insert(all_, placed);
        if (parts_.empty()) return;
        for (std::size_t part = placed.first / length_; part <= placed.last / length_; ++part)
            insert(parts_[part], placed);
    }

private:
    static constexpr std::size_t many = 200;
    static constexpr std::size_t some = 16;

    static void insert(std::vector<Placed>& list, const Placed& placed) {
        const auto after = std::upper_bound(list.begin(), list.end(), placed.begin,
                                            [](std::int64_t o, const Placed& other) { return o < other.begin; });
        list.insert(after, placed);
    }

    std::vector<Placed> all_;
    std::vector<std::vector<Placed>> parts_;
    std::size_t length_;
};

// Places `buffers`, alive at up to so many positions, from `base` on and returns the end of the last one.
std::int64_t pack(std::vector<Buffer> buffers, std::int64_t base, std::size_t positions) {
    std::stable_sort(buffers.begin(), buffers.end(),
                     [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
    std::int64_t end = base;
    Places places(buffers.size(), positions);
    for (const Buffer& buffer : buffers) {
        const std::int64_t bytes = aligned(buffer.bytes);
        const std::int64_t offset = lowest_gap(places.around(buffer), buffer, bytes, base);
        *buffer.offset = offset;
        end = std::max(end, offset + bytes);
        places.add({offset, offset + bytes, buffer.first, buffer.last});
    }
    return end;
}

}  // namespace

Arena::Arena(const Schedule& schedule) : timeline_(timeline(schedule)), tensors_(schedule.tensors.size()) {
    for (std::size_t position = 0; position < timeline_.size(); ++position) {
        const Operands operands = operands_of(schedule.steps[timeline_[position]].operation);
        for (const auto* ids : {&operands.reads, &operands.writes}) {
            for (const TensorId id : *ids) {
                Lifetime& lifetime = tensors_[static_cast<std::size_t>(id)];
                if (!lifetime.used) lifetime = {position, position, true};
                lifetime.last = position;
            }
        }
    }
    for (std::size_t id = 0; id < tensors_.size(); ++id) {
        const Role role = schedule.tensors[id].role;
        if (role == Role::features) tensors_[id].first = 0;  // filled before setup
        if (role == Role::cached) tensors_[id].last = timeline_.size();
        const bool stays = is_resident(role) && !ends_with_setup(schedule, static_cast<TensorId>(id));
        if (stays && role != Role::adjacency) residents_.push_back(id);
        if (!stays && tensors_[id].used) transients_.push_back(id);
    }
}

void Arena::place(const BufferBytes& bytes, MemoryPlan& plan) const {
    plan.tensor_offset.assign(tensors_.size(), -1);
    plan.staging_offset.assign(timeline_.size(), 0);
    plan.staging_bytes = bytes.staging;
    std::int64_t residents = 0;
    for (const std::size_t id : residents_) {
        plan.tensor_offset[id] = residents;
        residents += aligned(bytes.tensors[id]);
    }
    std::vector<Buffer> buffers;
    buffers.reserve(timeline_.size() + transients_.size());
    for (std::size_t position = 0; position < timeline_.size(); ++position) {
        const std::size_t step = timeline_[position];
        if (bytes.staging[step] == 0) continue;
        buffers.push_back({bytes.staging[step], position, position, &plan.staging_offset[step]});
    }
    for (const std::size_t id : transients_)
        buffers.push_back({bytes.tensors[id], tensors_[id].first, tensors_[id].last, &plan.tensor_offset[id]});
    plan.arena_bytes = pack(std::move(buffers), residents, timeline_.size() + 1);
}

}  // namespace gnnplan
