#include "runtime/load/counts.hpp"

#include "runtime/blocks/block.hpp"

#include <gnnplan/base/error.hpp>

#include <array>
#include <cstring>
#include <string>

namespace gnnplan::load {
namespace {

// Any numbers as the text of a message.
template <class Numbers>
std::string packed(const Numbers& numbers) {
    std::string text(numbers.size() * sizeof(numbers[0]), '\0');
    if (!text.empty()) std::memcpy(text.data(), numbers.data(), text.size());
    return text;
}

template <class T>
std::vector<T> unpacked(const std::string& text) {
    std::vector<T> values(text.size() / sizeof(T));
    if (!text.empty()) std::memcpy(values.data(), text.data(), text.size());
    return values;
}

}  // namespace

ShareCounts::ShareCounts(const GraphShare& share)
    : graph_(&share.graph),
      own_(share.rows),
      order_(share.order),
      vertices_(share.report.vertices),
      nonzeros_(share.report.nonzeros),
      symmetric_(share.graph.symmetric),
      weighted_(share.graph.weighted),
      samples_(static_cast<int>(share.graph.drawn.size())),
      samples_weighted_(share.drawn_weighted) {}

std::int64_t ShareCounts::count(const Question& question) const {
    const MatrixId matrix(question[2] != 0, static_cast<int>(question[1]));
    const Range rows{question[3], question[4]}, columns{question[5], question[6]};
    switch (static_cast<Kind>(question[0])) {
        case Kind::nonzeros: return data::block_nonzeros(*graph_, matrix, rows, columns);
        case Kind::distinct: return data::distinct_columns(*graph_, matrix, rows, columns);
        case Kind::met: return data::columns_met(*graph_, matrix.transposed, rows, columns);
    }
    return 0;
}

std::int64_t ShareCounts::answer(Kind kind, MatrixId matrix, Range rows, Range columns) const {
    if (rows.empty() || columns.empty()) return 0;
    // One matrix serves both directions of a symmetric graph.
    const bool transposed = matrix.transposed || (symmetric_ && matrix.sample == 0);
    const Question question{static_cast<std::int64_t>(kind),
                            matrix.sample,
                            transposed ? 1 : 0,
                            rows.begin,
                            rows.end,
                            columns.begin,
                            columns.end};
    const auto known = known_.find(question);
    if (known != known_.end()) return known->second;
    if (rows.begin >= own_.begin && rows.end <= own_.end) return known_[question] = count(question);
    ensure(asking_, "a rank knows beforehand what it asks of others' rows");
    open_.insert(question);
    return 0;
}

void ShareCounts::answer_together(comm::Communicator& comm, const std::function<void()>& ask) {
    asking_ = true;
    for (;;) {
        open_.clear();
        comm::agree(comm, ask);
        // Ranks ask much the same: what rank 0 asks need not be said by others.
        const std::vector<Question> wanted(open_.begin(), open_.end());
        const std::string first = comm.control_all_gather(comm.rank() == 0 ? packed(wanted) : std::string()).front();
        std::set<Question> others = open_;
        const std::vector<Question> of_first = unpacked<Question>(first);
        for (const Question& question : of_first) others.erase(question);
        std::vector<Question> all = of_first;
        const std::vector<std::string> more =
            comm.control_all_gather(packed(std::vector<Question>(others.begin(), others.end())));
        for (const std::string& text : more)
            for (const Question& question : unpacked<Question>(text)) all.push_back(question);
        if (all.empty()) break;
        std::vector<std::int64_t> answers(all.size(), -1);
        comm::agree(comm, [&] {
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (all[i][3] < own_.begin || all[i][4] > own_.end) continue;
                const auto known = known_.find(all[i]);
                answers[i] = known != known_.end() ? known->second : count(all[i]);
            }
        });
        for (const std::string& text : comm.control_all_gather(packed(answers))) {
            const std::vector<std::int64_t> of_rank = unpacked<std::int64_t>(text);
            for (std::size_t i = 0; i < all.size(); ++i)
                if (of_rank[i] >= 0) known_[all[i]] = of_rank[i];
        }
        for (const Question& question : all)
            ensure(known_.contains(question), "questions are about the rows of one rank");
    }
    asking_ = false;
}

std::int64_t ShareCounts::row_nonzeros(MatrixId matrix, Range rows) const {
    if (rows == Range{0, vertices_} && matrix.sample == 0) return nonzeros_;
    return answer(Kind::nonzeros, matrix, rows, {0, vertices_});
}

std::int64_t ShareCounts::block_nonzeros(MatrixId matrix, Range rows, Range columns) const {
    return answer(Kind::nonzeros, matrix, rows, columns);
}

std::int64_t ShareCounts::distinct_columns(MatrixId matrix, Range rows, Range columns) const {
    return answer(Kind::distinct, matrix, rows, columns);
}

std::int64_t ShareCounts::columns_met(bool transposed, Range rows, Range columns) const {
    return answer(Kind::met, MatrixId(transposed), rows, columns);
}

std::int64_t ShareCounts::training_vertices() const {
    ensure(false, "a share does not know who trains");
    return 0;
}

std::vector<std::int64_t> ShareCounts::loss_rows(int) const {
    ensure(false, "a share does not know which rows the loss needs");
    return {};
}

std::shared_ptr<const GraphStats> ShareCounts::numbered(const Numbering&) const {
    ensure(false, "a share has the numbering of its schedule");
    return nullptr;
}

}  // namespace gnnplan::load
