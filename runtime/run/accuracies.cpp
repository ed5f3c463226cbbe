#include "runtime/run/accuracies.hpp"

#include "kernels/table.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <array>
#include <cstdint>
#include <sstream>
#include <vector>

namespace gnnplan::run {
namespace {

constexpr std::size_t subsets = 3;

// The vertices of each subset whose label has the largest of their logits, among the rows that this rank answers for.
std::array<double, subsets> correct_here(const VertexMatrix& logits, const data::Dataset& dataset) {
    std::array<double, subsets> all{};
    if (!answers_for_block(logits.executor, logits.tensor)) return all;
    const std::int64_t columns = logits.executor.block(logits.tensor.name).columns.size();
    ensure(columns == logits.tensor.columns, "logits are compared in whole rows");
    visit_rows(logits, [&](Range rows, const std::vector<float>& values) {
        std::vector<std::int32_t> label;
        std::vector<std::uint8_t> subset;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            const auto vertex = static_cast<std::size_t>(logits.rows.vertex(row));
            label.push_back(dataset.labels()[vertex]);
            subset.push_back(dataset.subset()[vertex]);
        }
        std::array<double, subsets> correct{};
        kernels::cpu_table().count_correct({values.data(), rows.size(), columns, columns}, label.data(), subset.data(),
                                           correct.data());
        for (std::size_t s = 0; s < subsets; ++s) all[s] += correct[s];
    });
    return all;
}

}  // namespace

Accuracies accuracies_of(comm::Communicator& comm, const VertexMatrix& logits, const data::Dataset& dataset) {
    std::array<double, subsets> correct{};
    std::ostringstream mine;
    for (const double count : correct_here(logits, dataset)) mine << static_cast<std::int64_t>(count) << ' ';
    for (const std::string& text : comm.control_all_gather(mine.str())) {
        std::istringstream counts(text);
        for (double& sum : correct) {
            std::int64_t count = 0;
            counts >> count;
            sum += static_cast<double>(count);
        }
    }
    const auto share = [&](data::Subset subset) -> std::optional<double> {
        const std::int64_t judged = dataset.labelled(subset);
        if (judged == 0) return std::nullopt;
        return correct[subset] / static_cast<double>(judged);
    };
    return {share(data::train), share(data::valid), share(data::test)};
}

}  // namespace gnnplan::run
