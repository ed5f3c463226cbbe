#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/graph_stats.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnnplan {
namespace {

// How much of `total`, spread evenly over `whole`, falls into `part`, rounded so that the parts of any cut of the whole
// add up to the total.
std::int64_t share(std::int64_t total, Range whole, Range part) {
    const Range common = intersect(whole, part);
    if (common.empty()) return 0;
    std::int64_t most = 0;
    const bool wide = __builtin_mul_overflow(total, whole.size(), &most);  // of the largest graphs
    const auto up_to = [&](std::int64_t end) {
        if (!wide) return total * (end - whole.begin) / whole.size();
        return static_cast<std::int64_t>(static_cast<__int128>(total) * (end - whole.begin) / whole.size());
    };
    return up_to(common.end) - up_to(common.begin);
}

// The logarithm of the chance that none of `nonzeros` falls into one of `columns` columns; finite unless there is one
// column, which is then met for certain.
double log_of_miss(std::int64_t nonzeros, std::int64_t columns) {
    return nonzeros == 0 ? 0 : static_cast<double>(nonzeros) * std::log1p(-1 / static_cast<double>(columns));
}

}  // namespace

UniformStats::UniformStats(std::int64_t vertices, std::int64_t nonzeros, bool symmetric, double train_fraction,
                           bool weighted)
    : vertices_(vertices),
      nonzeros_(nonzeros),
      symmetric_(symmetric),
      train_fraction_(train_fraction),
      weighted_(weighted),
      bands_{{{0, vertices}, {0, vertices}, nonzeros}} {
    if (vertices < 1) throw Error(ErrorCode::usage, "a graph needs at least one vertex", "vertices");
    if (nonzeros < 0) throw Error(ErrorCode::usage, "the number of nonzeros is negative", "nonzeros");
    if (!(train_fraction >= 0 && train_fraction <= 1)) {
        throw Error(ErrorCode::usage, "the fraction of training vertices is not between 0 and 1", "train_fraction");
    }
}

// By expectation where several matrices are asked for, as for one.
std::int64_t GraphStats::columns_met(bool transposed, Range rows, Range columns) const {
    if (samples() == 0 || columns.empty()) return distinct_columns(MatrixId(transposed), rows, columns);
    double none = 0;
    for (int layer = 1; layer <= samples(); ++layer)
        none += log_of_miss(block_nonzeros(MatrixId(transposed, layer), rows, columns), columns.size());
    return std::llround(static_cast<double>(columns.size()) * -std::expm1(none));
}

std::vector<std::int64_t> GraphStats::marks_of_rows(MatrixId /*matrix*/, Range rows) const {
    return {rows.begin, rows.end};
}

std::int64_t UniformStats::Band::of_rows(bool transposed, Range r) const {
    return share(nonzeros, transposed ? rows : columns, r);
}

std::int64_t UniformStats::Band::block(bool transposed, Range r, Range c) const {
    return share(of_rows(transposed, r), transposed ? columns : rows, c);
}

UniformStats UniformStats::drawn(const std::vector<std::int64_t>& fanout, bool self_loops, bool weighted) const {
    UniformStats drawing = *this;
    drawing.drawn_weighted_ = weighted;
    const Range all{0, vertices_};
    for (const std::int64_t k : fanout) {
        const std::int64_t each = k + (self_loops ? 1 : 0);
        const std::int64_t most = each > nonzeros_ / vertices_ ? nonzeros_ : std::min(nonzeros_, vertices_ * each);
        drawing.drawn_.push_back({{all, all, most}});
    }
    return drawing;
}

UniformStats UniformStats::with_replication(std::vector<double> factors) const {
    UniformStats known = *this;
    known.replication_ = std::move(factors);
    return known;
}

std::optional<double> UniformStats::replication(int parts) const {
    if (parts < 2) return std::nullopt;
    const double place = std::log2(parts) - 1;
    const auto below = static_cast<std::size_t>(place), above = static_cast<std::size_t>(std::ceil(place));
    if (above >= replication_.size() || replication_[below] == 0 || replication_[above] == 0) return std::nullopt;
    const double factor = std::lerp(replication_[below], replication_[above], place - static_cast<double>(below));
    return std::min(factor, static_cast<double>(parts));
}

std::vector<std::int64_t> UniformStats::groups() const {
    std::vector<std::int64_t> first;
    for (const Band& band : groups_) first.push_back(band.rows.begin);
    if (!first.empty()) first.push_back(groups_.back().rows.end);
    return first;
}

UniformStats UniformStats::with_groups(std::vector<std::int64_t> first) const {
    UniformStats known = *this;
    known.known_groups_ = std::move(first);
    return known;
}

// Evenly: as many clones of an owner's vertices in each other group, and as many in each bin.
std::int64_t UniformStats::shared_clones(int group, int owner, int bin) const {
    const std::int64_t others = (groups_.back().rows.end - vertices_) / std::ssize(groups_);
    const std::int64_t shared =
        group == owner ? std::min(others, vertices_ / std::ssize(groups_)) : others / (std::ssize(groups_) - 1);
    return balanced_block({0, shared}, bin, bins_of(delay_)).size();
}

std::vector<UniformStats::Band> UniformStats::bands_of_groups(const Numbering& numbering) const {
    if (numbering.batches) return bands_of_batches(numbering.parts);
    const int parts = numbering.parts;
    std::int64_t clones = std::llround(replication(parts).value_or(parts) * static_cast<double>(vertices_));
    if (!known_groups_.empty()) clones = known_groups_.back();
    const std::int64_t loops = nonzeros_ >= vertices_ && numbering.delay != 0 ? clones - vertices_ : 0;
    std::vector<Band> bands;
    for (int part = 0; part < parts; ++part) {
        const auto group = static_cast<std::size_t>(part);
        const Range rows = known_groups_.empty() ? balanced_block({0, clones}, part, parts)
                                                 : Range{known_groups_[group], known_groups_[group + 1]};
        bands.push_back({rows, rows, share(nonzeros_ + loops, {0, clones}, rows)});
    }
    return bands;
}

double UniformStats::met_by(int part, Range rows) const {
    ensure(parts_ > 1, "parts are those of the numbering's cut");
    const std::int64_t own = intersect(rows, balanced_block({0, vertices_}, part, parts_)).size();
    const double of_others = (replication(parts_).value_or(parts_) - 1) / (parts_ - 1);
    return static_cast<double>(own) + of_others * static_cast<double>(rows.size() - own);
}

// The nonzeros of a band in a block follow from those that it has in the rows.
std::vector<std::int64_t> UniformStats::marks_of_rows(MatrixId matrix, Range rows) const {
    std::vector<std::int64_t> marks;
    marks.reserve(bands_of(matrix).size());
    for (const Band& band : bands_of(matrix)) marks.push_back(band.of_rows(matrix.transposed, rows));
    return marks;
}

std::int64_t UniformStats::row_nonzeros(MatrixId matrix, Range rows) const {
    std::int64_t count = 0;
    for (const Band& band : bands_of(matrix)) count += band.of_rows(matrix.transposed, rows);
    return count;
}

std::int64_t UniformStats::block_nonzeros(MatrixId matrix, Range rows, Range columns) const {
    if (matrix.is_part()) {
        const auto of_rows = [&](Range range) {
            return met_by(matrix.part, range) / met_by(matrix.part, {0, vertices_});
        };
        return std::llround(static_cast<double>(nonzeros_) / parts_ * of_rows(rows) * of_rows(columns));
    }
    std::int64_t count = 0;
    for (const Band& band : bands_of(matrix)) count += band.block(matrix.transposed, rows, columns);
    return count;
}

// Columns between two neighbouring edges of bands have the same chance to be met.
std::int64_t UniformStats::distinct_columns(MatrixId matrix, Range rows, Range columns) const {
    if (matrix.is_part()) return std::llround(met_by(matrix.part, columns));
    const std::vector<Band>& bands = bands_of(matrix);
    double expected = 0;
    for (std::int64_t begin = columns.begin; begin < columns.end;) {
        std::int64_t end = columns.end;
        for (const Band& band : bands) {
            const Range across = matrix.transposed ? band.columns : band.rows;
            if (across.begin > begin) end = std::min(end, across.begin);
            if (across.end > begin) end = std::min(end, across.end);
        }
        double log_miss = 0;
        for (const Band& band : bands) {
            const Range common = intersect(matrix.transposed ? band.columns : band.rows, columns);
            if (common.begin > begin || common.end < end) continue;
            log_miss += log_of_miss(band.block(matrix.transposed, rows, columns), common.size());
        }
        expected -= static_cast<double>(end - begin) * std::expm1(log_miss);
        begin = end;
    }
    return std::llround(expected);
}

std::int64_t UniformStats::training_vertices() const {
    return std::max<std::int64_t>(1, std::llround(train_fraction_ * static_cast<double>(vertices_)));
}

std::vector<std::int64_t> UniformStats::loss_rows(int layers) const {
    const auto all = static_cast<double>(vertices_);
    const double degree = static_cast<double>(nonzeros_) / all;
    std::vector<std::int64_t> rows(static_cast<std::size_t>(layers) + 1);
    rows.back() = training_vertices();
    for (std::size_t l = rows.size() - 1; l > 0; --l) {
        const double outside = 1 - static_cast<double>(rows[l]) / all;
        rows[l - 1] = std::clamp<std::int64_t>(std::llround(all * (1 - std::pow(outside, degree))), rows[l], vertices_);
    }
    return rows;
}

std::shared_ptr<const GraphStats> UniformStats::numbered(const Numbering& numbering) const {
    auto result = std::make_shared<UniformStats>(vertices_, nonzeros_, symmetric_, train_fraction_, weighted_);
    result->drawn_ = drawn_, result->drawn_weighted_ = drawn_weighted_;
    result->replication_ = replication_;
    if (numbering.cut != CutRule::none) result->parts_ = numbering.parts;
    result->known_groups_ = known_groups_;
    result->batches_ = numbering.batches;
    if (numbering.has_clones()) result->groups_ = result->bands_of_groups(numbering);
    result->delay_ = numbering.delay;
    if (numbering.loss_layers == 0) return result;
    const std::vector<std::int64_t> needed = loss_rows(numbering.loss_layers);
    std::vector<Band>& bands = result->bands_;
    bands.clear();
    std::int64_t begin = 0;
    for (std::size_t l = needed.size(); l-- > 0;) {
        // Layer 0 stands for all other vertices as well: nothing is known of their neighbours.
        const Range rows = {begin, l == 0 ? vertices_ : needed[l]};
        const Range columns = {0, l == 0 ? vertices_ : needed[l - 1]};
        if (!rows.empty()) bands.push_back({rows, columns, share(nonzeros_, {0, vertices_}, rows)});
        begin = rows.end;
    }
    return result;
}

}  // namespace gnnplan
