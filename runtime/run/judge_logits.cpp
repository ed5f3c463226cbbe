#include "runtime/run/judge_logits.hpp"

#include "kernels/table.hpp"
#include "runtime/data/judge.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <vector>

namespace gnnplan::run {
namespace {

// The labels of some rows of logits, as kernels read them.
struct LabelsOfRows {
    std::vector<std::int32_t> label;
    std::vector<std::uint8_t> subset, value, known;

    LabelsOfRows(const VertexMatrix& logits, Range rows, std::int64_t columns, const data::Dataset& dataset) {
        const data::LabelBits& bits = dataset.label_bits();
        const auto bytes = static_cast<std::size_t>(bits.empty() ? 0 : (rows.size() * columns + 7) / 8);
        value.resize(bytes), known.resize(bytes);
        std::size_t at = 0;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            const std::int64_t vertex = logits.rows.vertex(row);
            subset.push_back(dataset.subset()[static_cast<std::size_t>(vertex)]);
            if (bits.empty()) label.push_back(dataset.labels()[static_cast<std::size_t>(vertex)]);
            for (std::int64_t j = 0; j < bits.columns; ++j, ++at) {
                const auto bit = static_cast<std::uint8_t>(1U << (at % 8));
                if (bits.has(vertex, j)) value[at / 8] |= bit;
                if (bits.is_known(vertex, j)) known[at / 8] |= bit;
            }
        }
    }
};

// As ScoreStep counts, without a loss, among the rows that this rank answers for.
std::vector<double> counts_here(const VertexMatrix& logits, const data::Dataset& dataset) {
    const bool several = !dataset.label_bits().empty();
    std::vector<double> all(static_cast<std::size_t>(several ? ScoreStep::decided : ScoreStep::classified));
    if (!answers_for_block(logits.executor, logits.tensor)) return all;
    const std::int64_t columns = logits.executor.block(logits.tensor.name).columns.size();
    ensure(columns == logits.tensor.columns, "logits are compared in whole rows");
    visit_rows(logits, [&](Range rows, const std::vector<float>& values) {
        const LabelsOfRows of(logits, rows, columns, dataset);
        std::vector<double> counts(all.size());
        const kernels::ConstMatrix z{values.data(), rows.size(), columns, columns};
        const kernels::Table& table = kernels::cpu_table();
        several ? table.count_labels(z, {of.value.data(), of.known.data()}, of.subset.data(), counts.data())
                : table.count_correct(z, of.label.data(), of.subset.data(), counts.data());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += counts[i];
    });
    return all;
}

}  // namespace

bool can_judge(const data::Dataset& dataset, std::int64_t columns) {
    return dataset.has_labels() && (dataset.label_bits().empty() || dataset.label_bits().columns == columns);
}

Judgement judge_logits(comm::Communicator& comm, const VertexMatrix& logits, const data::Dataset& dataset) {
    std::ostringstream mine;
    const std::vector<double> here = counts_here(logits, dataset);
    for (const double count : here) mine << static_cast<std::int64_t>(count) << ' ';
    std::vector<double> all(here.size());
    for (const std::string& text : comm.control_all_gather(mine.str())) {
        std::istringstream counts(text);
        for (double& sum : all) {
            std::int64_t count = 0;
            counts >> count;
            sum += static_cast<double>(count);
        }
    }
    return data::judge(all, {}, dataset).judgement;
}

}  // namespace gnnplan::run
