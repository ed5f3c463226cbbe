#include "runtime/generate/npz_writer.hpp"
#include "runtime/generate/write_forms.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace gnnplan::data {
namespace {

// An array of `blocks` blocks that fill(block, numbers) makes, one after the other.
template <class Number, class Fill>
ArrayBytes produce(std::int64_t blocks, Fill fill) {
    struct State {
        std::int64_t next = 0;
        std::size_t sent = 0;  // bytes of the current block
        std::vector<Number> block;
    };
    auto state = std::make_shared<State>();
    const auto restart = [state] { *state = {}; };
    const auto next = [state, blocks, fill](std::span<char> out) {
        std::size_t done = 0;
        while (done < out.size()) {
            const std::size_t bytes = state->block.size() * sizeof(Number);
            if (state->sent == bytes) {
                if (state->next == blocks) break;
                fill(state->next++, state->block);
                state->sent = 0;
                continue;
            }
            const std::size_t count = std::min(out.size() - done, bytes - state->sent);
            std::memcpy(out.data() + done, reinterpret_cast<const char*>(state->block.data()) + state->sent, count);
            state->sent += count;
            done += count;
        }
        return done;
    };
    return {restart, next};
}

ArrayBytes whole(std::vector<std::int64_t> values) {
    return produce<std::int64_t>(
        1, [values = std::move(values)](std::int64_t, std::vector<std::int64_t>& out) { out = values; });
}

// The sources of all edges, then the targets.
ArrayBytes edge_index(const EdgeList& edges) {
    constexpr std::int64_t of_block = EdgeList::block_edges;
    const std::int64_t blocks = (edges.size() + of_block - 1) / of_block;
    return produce<std::int64_t>(2 * blocks, [&edges, blocks](std::int64_t i, std::vector<std::int64_t>& out) {
        const std::int64_t first = i % blocks * of_block;
        out.clear();
        edges.for_part({first, first + of_block}, [&](Edge e) { out.push_back(i < blocks ? e.from : e.to); });
    });
}

std::vector<std::int64_t> members(const GeneratedGraph& graph, std::uint8_t subset) {
    std::vector<std::int64_t> list;
    for (std::size_t v = 0; v < graph.subset.size(); ++v) {
        if (graph.subset[v] == subset) list.push_back(static_cast<std::int64_t>(v));
    }
    return list;
}

}  // namespace

void write_npz(const GeneratedGraph& graph, const std::filesystem::path& file) {
    NpzWriter writer(file);
    writer.add("edge_index", "<i8", {2, graph.edges.size()}, edge_index(graph.edges));
    writer.add("num_nodes", "<i8", {}, whole({graph.vertices}));
    if (graph.features > 0) {
        const auto fill = feature_rows(graph);
        const auto width = static_cast<std::size_t>(graph.features);
        writer.add("x", "<f4", {graph.vertices, graph.features},
                   produce<float>(graph.vertices, [fill, width](std::int64_t v, std::vector<float>& out) {
                       out.resize(width);
                       fill(v, out.data());
                   }));
        writer.add("y", "<i8", {graph.vertices}, whole({graph.labels.begin(), graph.labels.end()}));
        constexpr const char* names[] = {"train_idx", "valid_idx", "test_idx"};
        for (std::uint8_t s = 0; s < 3; ++s) {
            std::vector<std::int64_t> list = members(graph, s);
            const auto count = static_cast<std::int64_t>(list.size());
            writer.add(names[s], "<i8", {count}, whole(std::move(list)));
        }
    }
    writer.close();
}

}  // namespace gnnplan::data
