// Cuts blocks of the adjacency matrix out of a graph's rows: threads count the nonzeros of their rows, then write them.
#include "runtime/blocks/block.hpp"
#include "runtime/blocks/matrix_rows.hpp"
#include "runtime/graph/row_parts.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <utility>

namespace gnnplan::data {
namespace {

// Values of one row of A^T or A; rows and columns are numbered as in the file.
class RowValues {
public:
    RowValues(const DegreeScales& scales, bool transposed)
        : of_rows_(transposed ? scales.target : scales.source),
          of_columns_(transposed ? scales.source : scales.target) {}

    void begin(std::int64_t row) { of_row_ = of_rows_.empty() ? 1 : of_rows_[at(row)]; }
    float of(std::int64_t column, float weight) const {
        return of_rows_.empty() ? weight : static_cast<float>(of_row_ * of_columns_[at(column)] * weight);
    }

private:
    const VertexValues& of_rows_;
    const VertexValues& of_columns_;
    double of_row_ = 1;
};

// Fills rows of one panel of a block, from row `row` on, entry by entry; what comes before has `first` nonzeros of the
// block.
class Writer {
public:
    Writer(LocalBlock& block, std::int64_t panel, std::int64_t row, std::int64_t first)
        : row_start_(from(block.row_start(), panel * (block.rows + 1) + row)),
          narrow_row_start_(from(block.narrow_row_start(), panel * (block.rows + 1) + row)),
          column_(block.column().data()),
          value_(block.value().empty() ? nullptr : block.value().data()),
          next_(first) {}

    void begin_row() {
        if (row_start_ != nullptr) {
            *row_start_++ = next_;
        } else if (narrow_row_start_ != nullptr) {
            *narrow_row_start_++ = static_cast<std::int32_t>(next_);
        }
    }
    // Entries of the row, by columns that count from `begin`; value(k) is that of the k-th.
    template <class Value>
    void add(std::span<const std::int32_t> columns, std::int64_t begin, const Value& value) {
        std::int32_t* const column = column_ + next_;
        for (std::size_t k = 0; k < columns.size(); ++k) column[k] = static_cast<std::int32_t>(columns[k] - begin);
        if (value_ != nullptr)
            for (std::size_t k = 0; k < columns.size(); ++k) value_[at(next_) + k] = value(k);
        next_ += std::ssize(columns);
    }

private:
    template <class T>
    static T* from(std::span<T> starts, std::int64_t i) {
        return starts.empty() ? nullptr : starts.data() + i;
    }

    std::int64_t* row_start_;
    std::int32_t* narrow_row_start_;
    std::int32_t* column_;
    float* value_;
    std::int64_t next_;
};

// A panel of one of the blocks that are cut together.
struct Panel {
    Range columns;
    std::size_t block = 0;
    std::int64_t index = 0;  // within its block
};

std::vector<Panel> panels_of(std::span<const Range> columns, const BlockFormat& format) {
    std::vector<Panel> panels;
    for (std::size_t b = 0; b < columns.size(); ++b) {
        const std::int64_t count = panel_count(columns[b].size(), format.panel_columns);
        for (std::int64_t p = 0; p < count; ++p) panels.push_back({balanced_block(columns[b], p, count), b, p});
    }
    return panels;
}

// Calls visit(p, first, count) for the entries of a row that lie in panel p, where there are any; panels ascend.
template <class Visit>
void visit_panels(std::span<const std::int32_t> ascending, const std::vector<Panel>& panels, const Visit& visit) {
    if (panels.size() == 1) return visit(0, 0, ascending.size());  // there are no others
    std::size_t p = 0;
    for (std::size_t k = 0; k < ascending.size();) {
        while (ascending[k] >= panels[p].columns.end) ++p;  // the last range ends where the entries do
        while (k < ascending.size() && ascending[k] < panels[p].columns.begin) ++k;
        const std::size_t first = k;
        while (k < ascending.size() && ascending[k] < panels[p].columns.end) ++k;
        if (k > first) visit(p, first, k - first);
    }
}

// Cuts the blocks of some ranges of columns out of some rows, which threads divide: they count, then they write.
class BlockCutter {
public:
    BlockCutter(const Graph& graph, MatrixId which, const BlockRows& rows, std::span<const Range> columns,
                const DegreeScales& scales, const VertexOrder* order, const BlockFormat& format)
        : graph_(graph),
          which_(which),
          rows_(rows),
          columns_(columns),
          hull_{columns.front().begin, columns.back().end},
          scales_(scales),
          order_(order),
          format_(format),
          panels_(panels_of(columns, format)),
          parts_(parts_of(rows)) {}

    std::vector<LocalBlock> blocks() {
        // It has the nonzeros of each part and panel, and then says where in the block they begin.
        std::vector<std::vector<std::int64_t>> first(parts_.size());
        for_parts(std::ssize(parts_), [&](std::int64_t i) { first[at(i)] = count(parts_[at(i)]); });
        std::vector<std::int64_t> nonzeros(columns_.size(), 0);
        for (std::size_t p = 0; p < panels_.size(); ++p) {
            std::int64_t& before = nonzeros[panels_[p].block];
            for (std::vector<std::int64_t>& of_part : first) before += std::exchange(of_part[p], before);
        }
        std::vector<LocalBlock> made;
        for (std::size_t b = 0; b < columns_.size(); ++b)
            made.emplace_back(rows_.size(), columns_[b].size(), nonzeros[b], format_);
        for_parts(std::ssize(parts_), [&](std::int64_t i) { write(parts_[at(i)], first[at(i)], made); });
        // Behind the last row of each panel.
        for (std::size_t p = 0; p < panels_.size(); ++p) {
            const Panel& panel = panels_[p];
            const bool last = p + 1 == panels_.size() || panels_[p + 1].block != panel.block;
            Writer(made[panel.block], panel.index, rows_.size(), last ? nonzeros[panel.block] : first.front()[p + 1])
                .begin_row();
        }
        return made;
    }

private:
    // Parts are ranges of the block's own rows.
    std::vector<Range> parts_of(const BlockRows& rows) const {
        const bool in_file_order = order_ == nullptr || order_->identity();
        const Csr& matrix = graph_.matrix(which_);
        if (rows.empty() || !in_file_order || rows.listed()) return even_parts({0, rows.size()}, matrix.nonzeros());
        const auto first = at(rows.at(0) - matrix.first_row);
        return row_parts(std::span(matrix.row_start).subspan(first, at(rows.size() + 1)));
    }

    std::vector<std::int64_t> count(Range rows) const {
        std::vector<std::int64_t> counts(panels_.size(), 0);
        MatrixRows matrix(graph_, which_, hull_, order_);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            if (panels_.size() == 1) {
                counts[0] += std::ssize(matrix.any_order(rows_.at(i)));
            } else {
                visit_panels(matrix.ascending(rows_.at(i)), panels_,
                             [&](std::size_t p, std::size_t, std::size_t count) {
                                 counts[p] += static_cast<std::int64_t>(count);
                             });
            }
        }
        return counts;
    }

    void write(Range rows, const std::vector<std::int64_t>& first, std::vector<LocalBlock>& blocks) const {
        std::vector<Writer> writers;
        for (std::size_t p = 0; p < panels_.size(); ++p)
            writers.emplace_back(blocks[panels_[p].block], panels_[p].index, rows.begin, first[p]);
        RowValues values(scales_, which_.transposed);
        MatrixRows matrix(graph_, which_, hull_, order_);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            for (Writer& writer : writers) writer.begin_row();
            const std::int64_t row = rows_.at(i);
            const std::span<const std::int32_t> entries = matrix.ascending(row);
            const std::span<const float> weights = matrix.weights();
            values.begin(matrix.vertex(row));
            visit_panels(entries, panels_, [&](std::size_t p, std::size_t from, std::size_t count) {
                const auto columns = entries.subspan(from, count);
                writers[p].add(columns, columns_[panels_[p].block].begin, [&](std::size_t k) {
                    return values.of(matrix.vertex(columns[k]), weights.empty() ? 1.0F : weights[from + k]);
                });
            });
        }
    }

    const Graph& graph_;
    const MatrixId which_;
    const BlockRows rows_;
    const std::span<const Range> columns_;
    const Range hull_;
    const DegreeScales& scales_;
    const VertexOrder* const order_;
    const BlockFormat& format_;
    const std::vector<Panel> panels_;
    const std::vector<Range> parts_;
};

}  // namespace

std::vector<LocalBlock> build_blocks(const Graph& graph, MatrixId which, const BlockRows& rows,
                                     std::span<const Range> columns, const DegreeScales& scales,
                                     const VertexOrder* order, const BlockFormat& format) {
    for (std::size_t t = 1; t < columns.size(); ++t) {
        ensure(columns[t - 1].end <= columns[t].begin, "column ranges ascend and are disjoint");
    }
    // The weights of a graph of batches are for sums; who reads no values has none.
    ensure(format.values || !graph.matrix(which).weighted() || graph.share,
           "with weights of edges, values are no products of two scales");
    if (columns.empty()) return {};
    return BlockCutter(graph, which, rows, columns, scales, order, format).blocks();
}

LocalBlock build_block(const Graph& graph, MatrixId which, Range rows, Range columns, const DegreeScales& scales,
                       const VertexOrder* order, const BlockFormat& format) {
    return std::move(build_blocks(graph, which, rows, std::span(&columns, 1), scales, order, format).front());
}

}  // namespace gnnplan::data
