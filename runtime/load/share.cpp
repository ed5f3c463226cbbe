// Reading guide: edges are dealt to the ranks that make rows of them (deal_share), which sort them as build_graph()
// does (make_rows) and draw; ranks that keep the same rows give each other theirs (keep_rows); columns are numbered as
// the schedule says (number_columns), and scales come from those who know the degrees (find_scales).
#include "runtime/load/share.hpp"

#include "runtime/blocks/scales.hpp"
#include "runtime/comm/counting.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/graph/rows.hpp"
#include "runtime/load/deal_share.hpp"
#include "runtime/load/exchange_values.hpp"
#include "runtime/load/make_rows.hpp"
#include "runtime/load/occupied.hpp"
#include "runtime/load/predict.hpp"
#include "runtime/load/totals.hpp"
#include "runtime/sample/neighbours.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gnnplan::load {
namespace {

class Loading {
public:
    Loading(comm::Communicator& comm, const data::Dataset& dataset, const Schedule& schedule,
            Normalisation normalisation, bool symmetric)
        : comm_(comm, traffic_),
          dataset_(dataset),
          options_(dataset.options()),
          shares_(schedule),
          normalisation_(normalisation),
          symmetric_(symmetric),
          needs_(schedule, normalisation, options_.preparation.symmetrise, symmetric) {
        share_.order =
            std::make_shared<const data::VertexOrder>(data::make_order(dataset.vertices(), schedule.numbering));
        share_.report = dataset.report();
        share_.rows = shares_.kept(comm.rank());
        share_.drawn_weighted = !options_.fanout.empty() && options_.drawn_weighted;
    }

    GraphShare load() {
        timed("deal", [&] { deal_edges(); });
        timed("rows", [&] {
            comm::agree(comm_, [&] { make(); });
            add_up();
            keep_rows();
            comm::agree(comm_, [&] { number_columns(); });
        });
        timed("degrees", [&] { find_scales(); });
        share_.graph.share = true;
        return std::move(share_);
    }

private:
    data::RowVertices made_rows() const { return {shares_.made(comm_.rank()).begin, share_.order.get()}; }

    template <class Part>
    void timed(const char* name, Part&& part) {
        const auto begin = std::chrono::steady_clock::now();
        traffic_.reset();
        std::forward<Part>(part)();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        share_.steps.push_back({name, traffic_, took.count()});
    }

    void check_ids(std::int64_t largest) const {
        if (largest < dataset_.vertices()) return;
        throw Error(ErrorCode::mismatch,
                    "the plan is for " + std::to_string(dataset_.vertices()) + " vertices, and there is vertex " +
                        std::to_string(largest) + " (counted from 0)",
                    dataset_.report().path, "plan again with `graph` and this path");
    }

    void deal_edges() { dealt_ = deal_share(comm_, dataset_, shares_, *share_.order, needs_.targets); }

    void make() {
        const bool weighted = options_.preparation.edge_weights;
        const std::int64_t rows = shares_.made(comm_.rank()).size();
        made_ = make_rows(std::move(dealt_.edges), rows, dataset_.vertices(), made_rows(), options_.preparation,
                          needs_.targets);
        made_.sources.first_row = made_.targets.first_row = shares_.made(comm_.rank()).begin;
        share_.graph.weighted = weighted;
    }

    void add_up() {
        Totals all = totals_of(dealt_.found, made_, data::hash_of_rows(made_.sources, made_rows()));
        all.listed = dealt_.listed;
        all.largest_id = dealt_.largest_id;
        all = sum_over_ranks(comm_, all);
        comm::agree(comm_, [&] {
            all.check_file(dataset_.report().path);
            check_ids(all.largest_id);
        });
        all.fill(share_.report, options_.preparation);
        share_.report.format = dealt_.found.format;
        share_.report.index_base = dealt_.found.index_base;
        share_.by_one = all.by_one > 0;
        share_.fingerprint = data::graph_fingerprint(all.vertices, all.hash);
        share_.listing = data::listing_fingerprint(all.listed);
        remark_sizes(all);
        share_.graph.symmetric = options_.preparation.symmetrise || !share_.report.directed;
        if (!symmetric_ || share_.graph.symmetric) return;
        const bool by_weights = share_.report.weights_only_directed;
        throw comm::AgreedError(ErrorCode::mismatch,
                                std::string("the plan is for a symmetric graph, this one is directed") +
                                    (by_weights ? ": some edges and their reverses differ in weight" : ""),
                                "data", "plan again with `symmetrise`, or with `graph` and this path");
    }

    void remark_sizes(const Totals& all) {
        std::int64_t with_edges = all.rows_with_edges;
        const bool few = all.said.from_ids && all.vertices > all.said.nodes && 2 * with_edges < all.vertices;
        // The edges from a vertex are known to the ranks that make the rows of their targets.
        if (few && !needs_.targets && all.pattern_imbalance != 0)
            with_edges = count_with_edges(comm_, made_.sources, made_rows(), dataset_.vertices());
        share_.report.remark_sizes(all.said, with_edges);
    }

    void keep_rows() {
        // The scales are made of the degrees of the rows that this rank makes.
        in_degree_ = data::degrees(made_.sources);
        if (!made_.targets.row_start.empty()) out_degree_ = data::degrees(made_.targets);
        data::Graph& graph = share_.graph;
        if (options_.fanout.empty()) {
            data::Csr sources = share_rows(comm_, shares_, std::move(made_.sources), graph.weighted);
            if (graph.symmetric) {
                graph.out = std::move(sources);
            } else {
                graph.in = std::move(sources);
                if (needs_.backward) graph.out = share_rows(comm_, shares_, std::move(made_.targets), graph.weighted);
                graph.out.vertices = dataset_.vertices();
            }
        } else {
            std::vector<data::Csr> drawn;
            comm::agree(comm_, [&] {
                drawn = sample::draw_neighbours(made_.sources, options_.fanout, options_.seed, options_.drawn_weighted,
                                                made_rows());
            });
            made_.sources = {};
            for (data::Csr& matrix : drawn)
                graph.drawn.push_back(share_rows(comm_, shares_, std::move(matrix), share_.drawn_weighted));
            graph.out.vertices = dataset_.vertices();
        }
        made_ = {};
    }

    std::vector<data::Csr*> matrices() {
        std::vector<data::Csr*> kept;
        data::Graph& graph = share_.graph;
        for (data::Csr* matrix : {&graph.in, &graph.out})
            if (!matrix->row_start.empty()) kept.push_back(matrix);
        for (data::Csr& matrix : graph.drawn) kept.push_back(&matrix);
        return kept;
    }

    void number_columns() {
        for (data::Csr* matrix : matrices()) load::number_columns(*matrix, *share_.order);
    }

    // Returns the scales of the rows that the rank keeps, and of the columns that they meet elsewhere.
    data::VertexValues scales(const std::vector<double>& made, const std::shared_ptr<const data::VertexSet>& met) {
        data::VertexValues values(shares_.kept(comm_.rank()), share_values(comm_, shares_, made));
        if (met == nullptr) return values;
        const bool all_one = normalisation_ == Normalisation::none;
        values.add(met, all_one ? std::vector<double>(at(met->size()), 1.0) : values_of(comm_, shares_, *met, made));
        return values;
    }

    void find_scales() {
        comm::agree(comm_, [&] {
            data::refuse_negative_degrees(in_degree_, "into", made_rows(), normalisation_, dataset_.report().path);
            if (!share_.graph.symmetric)
                data::refuse_negative_degrees(out_degree_, "out of", made_rows(), normalisation_,
                                              dataset_.report().path);
        });
        const Range kept = shares_.kept(comm_.rank());
        data::Graph& graph = share_.graph;
        std::vector<const data::Csr*> forward;
        for (const data::Csr& matrix : graph.drawn) forward.push_back(&matrix);
        if (forward.empty()) forward.push_back(&graph.matrix(forward_matrix));
        const auto met = columns_met(forward, kept, dataset_.vertices());
        std::shared_ptr<const data::VertexSet> met_backward;
        if (needs_.backward)
            met_backward = graph.symmetric ? met : columns_met({&graph.out}, kept, dataset_.vertices());
        const bool one_degree = out_degree_.empty();
        const std::vector<double> of_targets = data::degree_scales(in_degree_, normalisation_, true);
        share_.scales.source =
            scales(one_degree && normalisation_ == Normalisation::symmetric
                       ? of_targets
                       : data::degree_scales(one_degree ? in_degree_ : out_degree_, normalisation_, false),
                   met);
        share_.scales.target = scales(of_targets, met_backward);
        comm::agree(comm_, [&] {
            // A value made from counts of edges is no larger than the number of edges that a drawn one stands for.
            if (!graph.weighted) return;
            for (const data::Csr* matrix : forward)
                data::refuse_large_values(*matrix, share_.scales, share_.order.get(), dataset_.report().path);
        });
        const int sets = met_backward == nullptr || met_backward == met ? 1 : 2;
        share_.bytes = held_bytes(graph, share_.scales) + sets * data::VertexSet::bytes_of(dataset_.vertices());
    }

    comm::Traffic traffic_;
    comm::CountingCommunicator comm_;
    const data::Dataset& dataset_;
    const data::DatasetOptions& options_;
    const RowShares shares_;
    const Normalisation normalisation_;
    const bool symmetric_;
    const LoadingNeeds needs_;
    GraphShare share_;
    DealtShare dealt_;
    MadeRows made_;
    std::vector<double> in_degree_, out_degree_;  // no degrees out of vertices: those are the same
};

}  // namespace

std::int64_t held_bytes(const data::Graph& graph, const data::DegreeScales& scales) {
    return graph.bytes() + static_cast<std::int64_t>((scales.source.size() + scales.target.size()) * sizeof(double));
}

GraphShare load_share(comm::Communicator& comm, const data::Dataset& dataset, const Schedule& schedule,
                      Normalisation normalisation, bool symmetric) {
    return Loading(comm, dataset, schedule, normalisation, symmetric).load();
}

}  // namespace gnnplan::load
