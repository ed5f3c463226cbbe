#include "planner/search/thrift.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace gnnplan::search {
namespace {

constexpr std::size_t frames_in_full = 6;  // of which every member is looked at

// Memory depends on these.
using FrameKey = std::tuple<Sharing, std::string, Switches>;

FrameKey key_of(const ConfigurationFrame& frame) {
    return {frame.on.sharing, frame.on.grid.text(), as_felt(frame.switches, &FeltBy::memory)};
}

// By frame: whether it stands for those of its key, being the first without overlap, permutation and parts where there
// is one.
std::vector<bool> standing_frames(const Members& all) {
    std::map<FrameKey, std::size_t> standing;
    for (std::size_t i = 0; i < all.frames.size(); ++i) {
        const auto [at, fresh] = standing.try_emplace(key_of(all.frames[i]), i);
        if (!fresh && all.frames[i].switches < all.frames[at->second].switches) at->second = i;
    }
    std::vector<bool> stands(all.frames.size());
    for (const auto& [key, frame] : standing) stands[frame] = true;
    return stands;
}

std::int64_t peak_of(const Space& space, const Members& all, NumberedGraphs& graphs, const Member& member) {
    const Configuration configuration = configuration_of(all.frames[member.frame], all.choices[member.choices]);
    const auto [schedule, needed_buffer] = lowered(space, configuration, graphs);
    if (needed_buffer > 0) return std::numeric_limits<std::int64_t>::max();
    return peak_bytes_per_rank(schedule, graphs.numbered(schedule.numbering), space.memory);
}

}  // namespace

Thriftiest thriftiest_member(const Space& space, const Members& all, NumberedGraphs& graphs) {
    const std::vector<bool> stands = standing_frames(all);
    std::map<std::uint32_t, Member> representatives;  // by frame
    std::map<std::uint32_t, bool> keeps_nothing;
    for (const Member& member : all.members) {
        if (!stands[member.frame] || !member.fits_buffer()) continue;
        const enumerate::LayerChoice& first = all.choices[member.choices].front();
        const bool undominated_only = !first.cached_aggregation && !first.replicated_input;
        if (!representatives.contains(member.frame) || (undominated_only && !keeps_nothing[member.frame])) {
            representatives[member.frame] = member;
            keeps_nothing[member.frame] = undominated_only;
        }
    }
    std::vector<std::pair<std::int64_t, std::uint32_t>> frames;  // by peak
    frames.reserve(representatives.size());
    for (const auto& [frame, member] : representatives) frames.emplace_back(peak_of(space, all, graphs, member), frame);
    std::sort(frames.begin(), frames.end());
    frames.resize(std::min(frames.size(), frames_in_full));
    Thriftiest best{{}, std::numeric_limits<std::int64_t>::max()};
    for (const Member& member : all.members) {
        const bool looked_at =
            std::any_of(frames.begin(), frames.end(), [&](const auto& frame) { return frame.second == member.frame; });
        if (!looked_at || !member.fits_buffer()) continue;
        const std::int64_t peak = peak_of(space, all, graphs, member);
        if (peak < best.peak_bytes) best = {member, peak};
    }
    return best;
}

}  // namespace gnnplan::search
