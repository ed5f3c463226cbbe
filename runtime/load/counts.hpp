// Exact answers about a graph of which every rank has a share.
#pragma once

#include "runtime/blocks/graph_counts.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/load/share.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace gnnplan::load {

// Answers questions about the rows of one rank, as schedules ask them. Those about its own rows it counts; those about
// others' have to be asked together before. Answers stay known when the share is gone.
class ShareCounts final : public data::NumberedCounts {
public:
    // `share` and what it refers to outlive the questions of answer_together().
    explicit ShareCounts(const GraphShare& share);

    // Collective: calls `ask`, which asks this object whatever this rank will want to know, until everything is known.
    // Answers may be wrong on the way, and what is asked may depend on them. On the control channel.
    void answer_together(comm::Communicator& comm, const std::function<void()>& ask);

    const data::VertexOrder& order() const override { return *order_; }
    std::int64_t vertices() const override { return vertices_; }
    std::int64_t nonzeros() const override { return nonzeros_; }
    bool symmetric() const override { return symmetric_; }
    bool weighted() const override { return weighted_; }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(MatrixId matrix, Range rows) const override;
    std::int64_t block_nonzeros(MatrixId matrix, Range rows, Range columns) const override;
    std::int64_t distinct_columns(MatrixId matrix, Range rows, Range columns) const override;
    std::int64_t columns_met(bool transposed, Range rows, Range columns) const override;
    int samples() const override { return samples_; }
    bool samples_weighted() const override { return samples_weighted_; }
    // Not asked of a share.
    std::int64_t training_vertices() const override;
    std::vector<std::int64_t> loss_rows(int layers) const override;
    std::shared_ptr<const GraphStats> numbered(const Numbering& numbering) const override;

private:
    enum class Kind : std::int64_t { nonzeros, distinct, met };
    // Kind, sample, transposed, rows, columns.
    using Question = std::array<std::int64_t, 7>;

    std::int64_t answer(Kind kind, MatrixId matrix, Range rows, Range columns) const;
    std::int64_t count(const Question& question) const;

    const data::Graph* graph_;
    Range own_;
    std::shared_ptr<const data::VertexOrder> order_;
    std::int64_t vertices_, nonzeros_;
    bool symmetric_, weighted_;
    int samples_;
    bool samples_weighted_;
    mutable std::map<Question, std::int64_t> known_;
    mutable std::set<Question> open_;  // that others have to answer
    bool asking_ = false;
};

}  // namespace gnnplan::load
