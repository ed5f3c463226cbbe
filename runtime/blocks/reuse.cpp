#include "runtime/blocks/reuse.hpp"

#include "runtime/blocks/matrix_rows.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace gnnplan::data {
namespace {

// Positive whole numbers in bins: four to each power of two.
constexpr std::size_t bins = 252;  // 4 * 63

std::size_t bin_of(std::int64_t gap) {
    const auto value = static_cast<std::uint64_t>(gap);
    if (value < 4) return static_cast<std::size_t>(value);
    const auto exponent = static_cast<std::size_t>(std::bit_width(value)) - 1;
    return 4 * exponent + ((value >> (exponent - 2)) & 3);
}

// The least number of a bin; bins 4 to 7 stay empty.
double least_of(std::size_t bin) {
    if (bin < 8) return static_cast<double>(std::min<std::size_t>(bin, 4));
    return static_cast<double>((4 + bin % 4) << (bin / 4 - 2));
}

// The nonzeros of one source panel in the order in which a product meets them; gaps are numbers of nonzeros from one
// use of a dense row to the next.
struct PanelUse {
    std::int64_t nonzeros = 0;
    std::int64_t distinct = 0;
    std::int64_t row = -1;                    // of the last nonzero; before there is one, that before the first row
    std::int64_t visits = 0;                  // of rows
    std::int64_t resumed = 0;                 // visits behind a row without nonzeros
    std::array<std::int64_t, bins> reuses{};  // gaps between uses
    std::array<std::int64_t, bins> gaps{};    // these, those before the first and those behind the last use
    std::array<std::int64_t, bins> sums{};    // of the gaps

    void add_gap(std::int64_t gap) {
        const std::size_t bin = bin_of(gap);
        ++gaps[bin];
        sums[bin] += gap;
    }
};

class Scan {
public:
    Scan(Range rows, Range columns, std::int64_t panel_columns) : rows_(rows), columns_(columns) {
        const std::int64_t size = std::max<std::int64_t>(1, columns.size());
        const std::int64_t panels = panel_count(size, panel_columns);
        panel_columns_ = static_cast<std::uint32_t>((size + panels - 1) / panels);
        panels_.resize(static_cast<std::size_t>(panels));
        for (PanelUse& panel : panels_) panel.row = rows.begin - 1;
        last_.resize(static_cast<std::size_t>(size), 0);
    }

    void use(std::int64_t row, std::int32_t column) {
        const auto c = static_cast<std::uint32_t>(column - columns_.begin);
        PanelUse& panel = panels_.size() == 1 ? panels_[0] : panels_[c / panel_columns_];
        if (panel.row != row) {
            ++panel.visits;
            if (panel.row + 1 != row) ++panel.resumed;
        }
        panel.row = row;
        const std::int64_t gap = ++panel.nonzeros - last_[c];
        if (last_[c] != 0) ++panel.reuses[bin_of(gap)];
        panel.add_gap(gap);
        last_[c] = panel.nonzeros;
    }

    ReuseHistogram finish() {
        for (std::size_t c = 0; c < last_.size(); ++c) {
            if (last_[c] == 0) continue;
            PanelUse& panel = panels_[c / panel_columns_];
            ++panel.distinct;
            panel.add_gap(panel.nonzeros + 1 - last_[c]);
        }
        ReuseHistogram histogram;
        for (const PanelUse& panel : panels_) {
            ReuseHistogram of_panel = distances(panel);
            of_panel.row_sweeps = static_cast<double>(rows_.size());
            of_panel.row_visits = static_cast<double>(panel.visits);
            const std::int64_t rarer = std::min(panel.visits, rows_.size() - panel.visits);
            of_panel.row_changes = static_cast<double>(std::min(2 * panel.resumed, rarer));
            histogram.add(of_panel);
        }
        return histogram;
    }

private:
    // A gap leaves its row out of gap - w of the windows of w nonzeros, if that is positive. As w is one less than the
    // least gap of a bin, those are the gaps of this bin and the next ones.
    static ReuseHistogram distances(const PanelUse& panel) {
        ReuseHistogram histogram;
        histogram.first_uses = histogram.most_distinct = static_cast<double>(panel.distinct);
        std::array<double, bins + 1> footprint{};  // of windows one shorter than the least gap of a bin
        double count = 0;
        double sum = 0;
        footprint[bins] = histogram.most_distinct;
        for (std::size_t b = bins; b-- > 1;) {
            count += static_cast<double>(panel.gaps[b]);
            sum += static_cast<double>(panel.sums[b]);
            const double window = least_of(b) - 1;
            const double windows = static_cast<double>(panel.nonzeros) - window + 1;
            const double left_out = count > 0 ? (sum - window * count) / windows : 0;
            footprint[b] = histogram.most_distinct - left_out;
        }
        for (std::size_t b = 1; b < bins; ++b) {
            if (panel.reuses[b] == 0) continue;
            // No more than all rows.
            const double most = histogram.most_distinct;
            const double gap = (least_of(b) + least_of(b + 1)) / 2;
            histogram.spread(static_cast<double>(panel.reuses[b]), std::min(footprint[b], most),
                             std::min(footprint[b + 1], most), gap);
        }
        return histogram;
    }

    Range rows_;
    Range columns_;
    std::uint32_t panel_columns_ = 1;
    std::vector<PanelUse> panels_;
    std::vector<std::int64_t> last_;  // per column: the nonzeros of its panel up to its last use
};

}  // namespace

ReuseHistogram reuse_histogram(const Graph& graph, MatrixId which, Range rows, Range columns,
                               std::int64_t panel_columns, const VertexOrder* order) {
    Scan scan(rows, columns, panel_columns);
    MatrixRows reader(graph, which, columns, order);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (const std::int32_t c : reader.any_order(i)) scan.use(i, c);
    }
    return scan.finish();
}

}  // namespace gnnplan::data
