// The planner's questions about a graph. Cards and plain sizes answer by statistics, a loaded graph exactly.
#pragma once

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/cut_rule.hpp>
#include <gnnplan/ir/matrix_id.hpp>
#include <gnnplan/ir/sampling.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan {

// How vertices are numbered before matrices are cut into blocks. Every rank computes the same numbering from the graph;
// results are reported in the user's numbering whatever it is. Rules apply in the order of the fields: vertices are
// grouped by loss_layers, within a group by part, within a part shuffled or left in the order of the file.
struct Numbering {
    // Where this is L > 0, the rows that the loss of L layers needs come first. N_L is the training vertices, N_(l-1)
    // is N_l and its in-neighbours; N_l is the first |N_l| vertices.
    int loss_layers = 0;
    int parts = 0;  // > 1: parts of equal size (balanced_block's sizes) with few edges between them
    bool permuted = false;
    std::uint64_t seed = 0;  // of the permutation, and of the order in which a cut deals edges
    // Parts are those of a cut: of the vertices that each owns, and of edges (MatrixId::part). Not with loss_layers.
    CutRule cut = CutRule::none;
    // Each part of the cut is the graph of a group, with clones of vertices of its own, one group after the other;
    // vertices of the whole graph stay as they are in the file.
    CloneLoss clones = CloneLoss::none;
    // After how many epochs clones of a vertex get sums of each other's (cut_rule.hpp). With 0 a self loop is with the
    // owner alone, else with every clone.
    std::optional<int> delay = {};
    // The graphs of groups are batches, in every update others, with clones of the vertices that these have; `parts`
    // says how many groups there are. Vertices of the whole graph stay as they are in the file.
    std::optional<Batches> batches = {};

    bool identity() const { return loss_layers == 0 && parts <= 1 && !permuted && !batches; }
    // Whether rows that train are clones of vertices.
    bool has_clones() const { return clones != CloneLoss::none || batches.has_value(); }
    // Whether edges of groups have weights, whatever those of the graph have.
    bool weighs_batches() const { return batches && batches->sampling.coefficients; }
    bool operator==(const Numbering&) const = default;
};

// How soon a product comes back to the rows of its dense operand, whatever their width. Expectations and estimates, so
// not whole.
struct ReuseHistogram {
    // [b]: nonzeros whose row was last used with at least 2^b and less than 2^(b+1) different other rows in between;
    // none in between counts in [0].
    std::vector<double> reuses{};
    std::vector<double> between{};  // [b]: for those nonzeros, the sum of all nonzeros in between; 0: not known
    double first_uses = 0;          // nonzeros that are the first to use their row
    double most_distinct = 0;       // different rows used in one source panel, the most of all panels
    // The next three count rows of the result, added up over the panels:
    double row_sweeps = 0;  // all that are walked
    double row_visits = 0;  // those that hold a nonzero of the panel
    double row_changes =
        0;  // from rows that hold one to rows that hold none or back, but no more than of the rarer kind

    void add(const ReuseHistogram& other, double weight = 1);
    // `count` more nonzeros with from .. to other rows in between, evenly, and so many nonzeros.
    void spread(double count, double from, double to, double nonzeros = 0);
};

class GraphStats {
public:
    virtual ~GraphStats() = default;

    virtual std::int64_t vertices() const = 0;
    virtual std::int64_t nonzeros() const = 0;  // of the propagation matrix, self loops included
    // Every edge has its reverse, of the same weight where edges have weights: A is its transpose.
    virtual bool symmetric() const = 0;
    // Whether edges have weights of their own, which values of the matrix are made of.
    virtual bool weighted() const { return false; }
    virtual bool exact() const = 0;  // block answers are counts of a real graph, not estimates

    // Nonzeros in `rows` of A^T (transposed, the forward matrix) or A.
    virtual std::int64_t row_nonzeros(MatrixId matrix, Range rows) const = 0;
    // Nonzeros of a block, and how many of its columns hold one.
    virtual std::int64_t block_nonzeros(MatrixId matrix, Range rows, Range columns) const = 0;
    virtual std::int64_t distinct_columns(MatrixId matrix, Range rows, Range columns) const = 0;
    // The same for each of several ranges of columns: it takes the least time where they ascend.
    virtual std::vector<std::int64_t> block_nonzeros_of(MatrixId matrix, Range rows,
                                                        const std::vector<Range>& columns) const;
    virtual std::vector<std::int64_t> distinct_columns_of(MatrixId matrix, Range rows,
                                                          const std::vector<Range>& columns) const;
    // In how many columns some matrix has a nonzero: A^T or A or, where layers have drawn edges, that of any layer.
    virtual std::int64_t columns_met(bool transposed, Range rows, Range columns) const;
    // For ranges of rows that follow each other, entry [i * ranges + j] says in how many columns range i holds a
    // nonzero, and range j is the first behind it that does, too; [i * ranges + i] in how many no range behind it does.
    virtual std::vector<std::int64_t> columns_by_next(MatrixId matrix, const std::vector<Range>& rows,
                                                      Range columns) const;
    // Numbers that tell rows apart: ranges of as many rows, of which these are equal, get equal answers from the two
    // above, whatever the columns.
    virtual std::vector<std::int64_t> marks_of_rows(MatrixId matrix, Range rows) const;

    // How a product comes back to rows that walks the rows of a block in order, in source panels of at most
    // `panel_columns` columns of equal size, one after the other; 0: one panel. Here it is what the block's nonzeros
    // and distinct columns let expect, were they uniformly random.
    virtual ReuseHistogram reuse(MatrixId matrix, Range rows, Range columns, std::int64_t panel_columns) const;

    // Layers that have drawn edges of their own, whose matrices are asked for as MatrixId::sample 1 .. samples(), and
    // whether these say how much an edge stands for.
    virtual int samples() const { return 0; }
    virtual bool samples_weighted() const { return false; }

    // In how many of the parts of a vertex cut a vertex has an edge, on average, where a cut is not counted but known.
    virtual std::optional<double> replication(int /*parts*/) const { return std::nullopt; }

    // Where the numbering has clones: the first clone of each group, and behind the last one how many there are. Blocks
    // of MatrixId::of_groups count in these.
    virtual std::vector<std::int64_t> groups() const { return {}; }
    // Where groups train on batches: what a rank keeps to draw them, in bytes.
    virtual std::int64_t pool_bytes() const { return 0; }
    virtual BatchMeans batch_means() const { return {}; }
    // Where clones get sums of each other's: how many vertices of a bin `owner` owns of which `group` has a clone, or,
    // asked of the owner itself, of which any other group has one. There are as many bins as the delay says, or one.
    virtual std::int64_t shared_clones(int /*group*/, int /*owner*/, int /*bin*/) const { return 0; }

    virtual std::int64_t training_vertices() const = 0;

    // |N_0| .. |N_L| of Numbering::loss_layers, for L = layers.
    virtual std::vector<std::int64_t> loss_rows(int layers) const = 0;

    // The same graph with its vertices numbered otherwise than in the file: ranges of the answers count in that
    // numbering. The result may refer to this object.
    virtual std::shared_ptr<const GraphStats> numbered(const Numbering& numbering) const = 0;
};

// Sizes only: nonzeros spread evenly over rows and columns, and `train_fraction` of the vertices, at least one,
// training. The column blocks of a range of rows add up to its row_nonzeros, those of any cut of the rows to
// nonzeros(). How vertices are numbered makes no difference, but for loss_layers: rows of A^T in N_l but not in N_(l+1)
// have their nonzeros spread over the columns N_(l-1).
class UniformStats final : public GraphStats {
public:
    // Throws Error{usage} for less than one vertex, less than no nonzeros and a fraction outside 0 .. 1.
    UniformStats(std::int64_t vertices, std::int64_t nonzeros, bool symmetric, double train_fraction = 1,
                 bool weighted = false);

    std::int64_t vertices() const override { return vertices_; }
    std::int64_t nonzeros() const override { return nonzeros_; }
    bool symmetric() const override { return symmetric_; }
    bool weighted() const override { return weighted_; }
    bool exact() const override { return false; }
    // The same graph of which layer l has drawn fanout[l - 1] neighbours of each vertex, and the vertex itself where it
    // has a self loop: at most min(nonzeros, N (fanout + 1)) of its nonzeros, which is taken for their number.
    UniformStats drawn(const std::vector<std::int64_t>& fanout, bool self_loops, bool weighted) const;

    // The same graph, of which it is known how it cuts: [i] is the replication factor in 2^(i + 1) parts, 0 where it is
    // not known. Between two that are known it is linear in the logarithm of the parts. A part of a cut has as many
    // edges as another, meets all rows that it owns and equally many of each other part.
    UniformStats with_replication(std::vector<double> factors) const;
    std::optional<double> replication(int parts) const override;
    // Each group of such a cut has as many clones and edges as another, and a self loop more for each clone more,
    // unless it is known how many clones each has.
    std::vector<std::int64_t> groups() const override;
    std::int64_t shared_clones(int group, int owner, int bin) const override;
    // Batches have the sizes that are expected of them, were vertices alike.
    BatchMeans batch_means() const override;
    std::int64_t pool_bytes() const override;
    UniformStats with_groups(std::vector<std::int64_t> first) const;

    std::int64_t row_nonzeros(MatrixId matrix, Range rows) const override;
    std::int64_t block_nonzeros(MatrixId matrix, Range rows, Range columns) const override;
    // The expected number when each nonzero of the block lies in any of its columns: c (1 - (1 - 1/c)^nnz).
    std::int64_t distinct_columns(MatrixId matrix, Range rows, Range columns) const override;
    std::vector<std::int64_t> marks_of_rows(MatrixId matrix, Range rows) const override;
    int samples() const override { return static_cast<int>(drawn_.size()); }
    bool samples_weighted() const override { return drawn_weighted_; }
    std::int64_t training_vertices() const override;
    // By expectation: |N_(l-1)| = N (1 - (1 - |N_l| / N)^(nnz / N)), and at least |N_l|.
    std::vector<std::int64_t> loss_rows(int layers) const override;
    std::shared_ptr<const GraphStats> numbered(const Numbering& numbering) const override;

private:
    // A block of A^T with nonzeros spread evenly over it; there are none elsewhere.
    struct Band {
        Range rows, columns;
        std::int64_t nonzeros;
        std::int64_t of_rows(bool transposed, Range r) const;         // of A^T, or of A
        std::int64_t block(bool transposed, Range r, Range c) const;  // the same
    };

    std::int64_t vertices_;
    std::int64_t nonzeros_;
    bool symmetric_;
    double train_fraction_;
    bool weighted_;
    std::vector<Band> bands_;  // rows ascend; all of the matrix, unless loss_layers make several
    std::vector<std::vector<Band>> drawn_ = {};
    bool drawn_weighted_ = false;

    std::vector<double> replication_ = {};
    int parts_ = 0;                  // of the cut that vertices are numbered by
    std::vector<Band> groups_ = {};  // where these are groups of clones, a band for each
    std::vector<std::int64_t> known_groups_ = {};
    std::optional<int> delay_ = {};
    std::optional<Batches> batches_ = {};  // that groups train on

    std::vector<Band> bands_of_batches(int groups) const;
    std::vector<Band> bands_of_groups(const Numbering& numbering) const;

    // Rows that a part of the cut meets in a range.
    double met_by(int part, Range rows) const;
    const std::vector<Band>& bands_of(MatrixId matrix) const {
        if (matrix.part == MatrixId::of_groups && !groups_.empty()) return groups_;
        return matrix.sample > 0 ? drawn_.at(static_cast<std::size_t>(matrix.sample - 1)) : bands_;
    }
};

}  // namespace gnnplan
