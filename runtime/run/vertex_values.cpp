#include "runtime/run/vertex_values.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <optional>

namespace gnnplan::run {

NotFiniteError::NotFiniteError(const NotFinite& values, const std::string& path)
    : AgreedError(
          ErrorCode::answer_no,
          fmt::format("{} of the values are not finite, of {} {}, the first of them vertex {}: nothing is written",
                      values.values, values.vertices, values.vertices == 1 ? "vertex" : "vertices",
                      values.first_vertex),
          path),
      found(values) {}

bool answers_for_block(const exec::Executor& executor, const Tensor& t) {
    const auto block = [&](int rank) { return block_of(executor.schedule(), t, rank); };
    const Block mine = block(executor.rank());
    if (mine.rows.empty() || mine.columns.empty()) return false;
    for (int rank = 0; rank < executor.rank(); ++rank) {
        const Block other = block(rank);
        if (other.rows == mine.rows && other.columns == mine.columns) return false;
    }
    return true;
}

void refuse_not_finite(comm::Communicator& comm, const ValuesSeen& seen, const std::string& path) {
    if (const std::optional<NotFinite> found = seen.not_finite(comm)) throw NotFiniteError(*found, path);
}

}  // namespace gnnplan::run
