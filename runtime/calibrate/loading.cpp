// Measures the processor time of loading on a rank, with the code that loads: no message is sent.
#include "kernels/parallel.hpp"
#include "runtime/blocks/scales.hpp"
#include "runtime/calibrate/measurements.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/graph/row_parts.hpp"
#include "runtime/load/deal.hpp"
#include "runtime/load/make_rows.hpp"
#include "runtime/read/edge_list.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t edges_per_vertex = 16;
constexpr std::int64_t largest_id = 1'000'000;  // of a text's vertices: numbers of six digits

// Numbers without order, the same everywhere.
class Scrambled {
public:
    std::int32_t below(std::int64_t limit) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::int32_t>((state_ >> 33) % static_cast<std::uint64_t>(limit));
    }

private:
    std::uint64_t state_ = 1;
};

Schedule one_rank(std::int64_t vertices) {
    Schedule schedule;
    schedule.loading = Loading::sharded;
    schedule.spaces.push_back({"vertices", vertices, 0});
    Tensor matrix;
    matrix.role = Role::adjacency;
    matrix.rows = matrix.columns = vertices;
    matrix.layout.rows = Axes::parse("x");
    matrix.transposed = true;
    schedule.tensors.push_back(matrix);
    return schedule;
}

class LoadingRun {
public:
    explicit LoadingRun(std::int64_t edges) : vertices_(std::max<std::int64_t>(1, edges / edges_per_vertex)) {
        Scrambled numbers;
        for (std::int64_t e = 0; e < edges; ++e) {
            edges_.push_back({numbers.below(vertices_), numbers.below(vertices_)});
            text_ += std::to_string(numbers.below(largest_id)) + "," + std::to_string(numbers.below(largest_id)) + "\n";
        }
    }

    // Each thread of the rank reads a part, as threads do that load.
    void parse() const {
        const int threads = kernels::max_threads();
        data::for_parts(threads, [&](std::int64_t part) {
            data::TextReader reader(data::memory_input("edges", text_));
            data::ReadOptions options{data::IndexBase::zero};
            options.share = {.part = static_cast<int>(part), .parts = threads};
            options.take = [](auto, auto) {};
            data::read_edge_list(reader, options);
        });
    }
    load::Dealt deal() {
        load::Dealer dealer(self_, shares_, order_, weighted, with_targets);
        const std::span<const data::Edge> all(edges_);
        for (std::size_t first = 0; first < all.size(); first += data::EdgeList::block_edges) {
            const auto block = all.subspan(first, std::min(data::EdgeList::block_edges, all.size() - first));
            listed_ += data::hash_of_listed(block, 0);
            dealer.deal(block, {});
        }
        return dealer.finish();
    }
    void make_rows() {
        load::MadeRows made = load::make_rows(deal(), vertices_, vertices_, {}, {}, with_targets);
        listed_ += data::hash_of_rows(made.sources);
        graph_.out = std::move(made.sources);
        graph_.symmetric = true;
    }
    std::int64_t nonzeros() const { return graph_.nonzeros(); }
    // As of a rank that keeps half of the rows, and meets columns of the others; make_rows() was called.
    void cut() {
        const Range rows{0, vertices_};
        const std::array columns{balanced_block(rows, 0, 2), balanced_block(rows, 1, 2)};
        const std::vector<double> degrees = data::degrees(graph_.out);
        data::DegreeScales scales;
        scales.source = scales.target = data::degree_scales(degrees, Normalisation::symmetric, true);
        met_ = load::columns_met({&graph_.out}, columns[0], vertices_);
        blocks_ = data::build_blocks(graph_, forward_matrix, rows, columns, scales);
    }

private:
    static constexpr bool weighted = false, with_targets = false;  // as graphs without either are dealt

    std::int64_t vertices_;
    comm::SelfCommunicator self_;
    load::RowShares shares_{one_rank(vertices_)};
    data::VertexOrder order_;
    std::vector<data::Edge> edges_;
    std::string text_;
    data::Graph graph_;
    // Results are kept, so that no compiler leaves the work out.
    std::uint64_t listed_ = 0;
    std::shared_ptr<const data::VertexSet> met_;
    std::vector<data::LocalBlock> blocks_;
};

}  // namespace

void measure_loading(const Setting& setting, std::int64_t edges, std::vector<Sample>& samples) {
    const auto processor = kernels::host_device(kernels::cpu_table());
    const Setting here{setting.comm, setting.clock, *processor, setting.effort};
    LoadingRun run(edges);
    samples.push_back({"load.parse", {edges}, seconds_together(here, [&] { run.parse(); })});
    samples.push_back({"load.deal", {edges}, seconds_together(here, [&] { run.deal(); })});
    samples.push_back({"load.rows", {edges}, seconds_together(here, [&] { run.make_rows(); })});
    samples.push_back({"load.cut", {run.nonzeros()}, seconds_together(here, [&] { run.cut(); })});
}

}  // namespace gnnplan::calibrate
