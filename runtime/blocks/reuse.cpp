#include "runtime/blocks/reuse.hpp"

#include "runtime/blocks/matrix_rows.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace gnnplan::data {
namespace {

constexpr std::size_t ahead = 16;  // so many columns are fetched before their turn

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

}  // namespace

// The nonzeros of one source panel in the order in which a product meets them; gaps are numbers of nonzeros from one
// use of a dense row to the next.
struct ReuseScan::Panel {
    struct Gaps {
        std::int64_t count = 0;
        std::int64_t sum = 0;
        void add(std::int64_t gap) { ++count, sum += gap; }
    };
    struct Kinds {
        std::array<Gaps, bins> uses{};  // gaps between uses
        std::array<Gaps, bins> ends{};  // those before the first and behind the last use
    };

    std::int64_t nonzeros = 0;
    std::int64_t distinct = 0;
    std::int64_t row = -1;        // of the last nonzero; before there is one, that before the first row
    std::int64_t visits = 0;      // of rows
    std::int64_t resumed = 0;     // visits behind a row without nonzeros
    std::size_t place = 0;        // among the panels of the columns
    std::unique_ptr<Kinds> gaps;  // once rows are used again

    void visit(std::int64_t of_row) {
        const bool again = row == of_row;
        visits += again ? 0 : 1;
        resumed += again || row + 1 == of_row ? 0 : 1;
        row = of_row;
    }
    bool uses_again() const { return nonzeros > distinct; }
    void use_again(std::int64_t gap) {
        if (gaps == nullptr) gaps = std::make_unique<Kinds>();
        gaps->uses[bin_of(gap)].add(gap);
    }
    // No gap is longer than the panel has nonzeros.
    std::size_t used_bins() const { return bin_of(nonzeros) + 1; }
    void begin(std::size_t at, std::int64_t first_row) {
        if (uses_again()) {
            std::fill_n(gaps->uses.begin(), used_bins(), Gaps{});
            std::fill_n(gaps->ends.begin(), used_bins(), Gaps{});
        }
        place = at;
        nonzeros = distinct = visits = resumed = 0;
        row = first_row - 1;
    }
    void add_distances(ReuseHistogram& histogram) const;
    ReuseHistogram histogram(std::int64_t rows) const;
};

// A gap leaves its row out of gap - w of the windows of w nonzeros, if that is positive. As w is one less than the
// least gap of a bin, those are the gaps of this bin and the next ones.
void ReuseScan::Panel::add_distances(ReuseHistogram& histogram) const {
    const auto& [uses, ends] = *gaps;
    const double most = histogram.most_distinct;
    histogram.reuses.reserve(used_bins() / 4 + 1);
    histogram.between.reserve(used_bins() / 4 + 1);
    std::array<double, bins + 1> footprint;  // of windows one shorter than the least gap of a bin
    double count = 0;
    double sum = 0;
    footprint[used_bins()] = most;
    for (std::size_t b = used_bins(); b-- > 1;) {
        count += static_cast<double>(uses[b].count + ends[b].count);
        sum += static_cast<double>(uses[b].sum + ends[b].sum);
        const double window = least_of(b) - 1;
        const double windows = static_cast<double>(nonzeros) - window + 1;
        const double left_out = count > 0 ? (sum - window * count) / windows : 0;
        footprint[b] = most - left_out;
    }
    for (std::size_t b = 1; b < used_bins(); ++b) {
        if (uses[b].count == 0) continue;
        // No more than all rows.
        const double gap = (least_of(b) + least_of(b + 1)) / 2;
        histogram.spread(static_cast<double>(uses[b].count), std::min(footprint[b], most),
                         std::min(footprint[b + 1], most), gap);
    }
}

// But for the rows that are walked.
ReuseHistogram ReuseScan::Panel::histogram(std::int64_t rows) const {
    ReuseHistogram histogram;
    histogram.first_uses = histogram.most_distinct = static_cast<double>(distinct);
    if (uses_again()) add_distances(histogram);
    histogram.row_visits = static_cast<double>(visits);
    const std::int64_t rarer = std::min(visits, rows - visits);
    histogram.row_changes = static_cast<double>(std::min(2 * resumed, rarer));
    return histogram;
}

ReuseScan::ReuseScan(const Graph& graph, const VertexOrder* order) : graph_(graph), order_(order) {}
ReuseScan::~ReuseScan() = default;

void ReuseScan::begin(Range rows, Range columns, std::int64_t panel_columns) {
    rows_ = rows;
    columns_ = columns;
    const std::int64_t size = std::max<std::int64_t>(1, columns.size());
    all_panels_ = panel_count(size, panel_columns);
    panel_columns_ = static_cast<std::uint32_t>((size + all_panels_ - 1) / all_panels_);
    if (std::ssize(by_place_) < all_panels_) by_place_.resize(static_cast<std::size_t>(all_panels_), nullptr);
    if (std::ssize(last_) < size) last_.resize(static_cast<std::size_t>(size), 0);
}

ReuseScan::Panel& ReuseScan::new_panel(std::size_t place) {
    if (used_panels_ == panels_.size()) panels_.push_back(std::make_unique<Panel>());
    Panel& panel = *panels_[used_panels_++];
    panel.begin(place, rows_.begin);
    by_place_[place] = &panel;
    return panel;
}

// The columns lie anywhere in memory: what is known of those further on is fetched meanwhile.
void ReuseScan::use_met() {
    for (std::size_t i = 0; i < met_.size(); ++i) {
        if (i + ahead < met_.size()) {
            const Met& later = met_[i + ahead];
            __builtin_prefetch(&last_[later.column]);
            __builtin_prefetch(by_place_[later.place]);
        }
        use(met_[i]);
    }
    met_.clear();
}

inline void ReuseScan::use(const Met& met) {
    Panel& panel = by_place_[met.place] != nullptr ? *by_place_[met.place] : new_panel(met.place);
    panel.visit(met.row);
    std::int64_t& last = last_[met.column];
    ++panel.nonzeros;
    if (last != 0) {
        panel.use_again(panel.nonzeros - last);
    } else {
        ++panel.distinct;
        first_uses_.push_back({&panel, panel.nonzeros, met.column});
    }
    last = panel.nonzeros;
}

// Panels without nonzeros only have rows that are walked. Others are added in the order of their columns.
ReuseHistogram ReuseScan::finish() {
    for (std::size_t i = 0; i < first_uses_.size(); ++i) {
        if (i + ahead < first_uses_.size()) __builtin_prefetch(&last_[first_uses_[i + ahead].column]);
        const auto& [panel, nonzeros, column] = first_uses_[i];
        const std::int64_t behind = panel->nonzeros + 1 - last_[column];
        last_[column] = 0;
        if (!panel->uses_again()) continue;
        panel->gaps->ends[bin_of(nonzeros)].add(nonzeros);
        panel->gaps->ends[bin_of(behind)].add(behind);
    }
    first_uses_.clear();
    const auto used = panels_.begin() + static_cast<std::ptrdiff_t>(used_panels_);
    std::sort(panels_.begin(), used, [](const auto& a, const auto& b) { return a->place < b->place; });
    ReuseHistogram histogram;
    histogram.row_sweeps = static_cast<double>(all_panels_) * static_cast<double>(rows_.size());
    for (auto panel = panels_.begin(); panel != used; ++panel) {
        histogram.add((*panel)->histogram(rows_.size()));
        by_place_[(*panel)->place] = nullptr;
    }
    used_panels_ = 0;
    return histogram;
}

// Rows of a numbering are read again and again, so their columns are looked up once, in passes whose reads do not wait
// for each other, as they lie anywhere in memory. Rows of parts are not kept: each part would have as many rows as the
// matrix.
const ReuseScan::Rows* ReuseScan::kept_rows(MatrixId which) {
    const Csr& matrix = graph_.matrix(which);
    const bool all = matrix.rows() == graph_.vertices() && !which.is_part();
    if (!all || order_ == nullptr || order_->identity()) return nullptr;
    Rows& rows = kept_[which];
    if (!rows.start.empty()) return &rows;
    rows.start.reserve(order_->vertex.size() + 1);
    rows.start.push_back(0);
    for (const std::int32_t vertex : order_->vertex) rows.start.push_back(rows.start.back() + matrix.degree(vertex));
    rows.column.resize(at(matrix.nonzeros()));
    auto next = rows.column.begin();
    for (const std::int32_t vertex : order_->vertex) {
        const auto first = matrix.column.begin() + matrix.row_start[at(vertex)];
        next = std::copy(first, first + matrix.degree(vertex), next);
    }
    for (std::int32_t& column : rows.column) column = order_->position[at(column)];
    return &rows;
}

void ReuseScan::meet(std::int64_t row, std::span<const std::int32_t> columns) {
    constexpr std::size_t many = 2048;
    for (const std::int32_t c : columns) {
        if (c < columns_.begin || c >= columns_.end) continue;
        const auto column = static_cast<std::uint32_t>(c - columns_.begin);
        met_.push_back({row, column, all_panels_ == 1 ? 0 : column / panel_columns_});
    }
    if (met_.size() >= many) use_met();
}

ReuseHistogram ReuseScan::of(MatrixId which, Range rows, Range columns, std::int64_t panel_columns) {
    begin(rows, columns, panel_columns);
    if (const Rows* kept = kept_rows(which)) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i) meet(i, kept->row(i));
    } else {
        MatrixRows reader(graph_, which, columns, order_);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) meet(i, reader.any_order(i));
    }
    use_met();
    return finish();
}

}  // namespace gnnplan::data
