#include "runtime/load/exchange_values.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace gnnplan::load {
namespace {

// Every rank of the group sends `made` to all others, and gets their parts in the order of the group, `counts` of each.
template <class Vector>
Vector all_of_group(comm::Communicator& comm, const std::vector<int>& group, const Vector& made,
                    const std::vector<std::int64_t>& counts) {
    std::int64_t total = 0;
    for (const std::int64_t count : counts) total += count;
    Vector all(at(total));
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
        sends.push_back({group[i], std::as_bytes(std::span(made))});
        receives.push_back({group[i], std::as_writable_bytes(std::span(all).subspan(at(first), at(counts[i])))});
        first += counts[i];
    }
    comm.exchange(sends, receives);
    return all;
}

std::vector<std::int64_t> rows_of_each(const RowShares& shares, const std::vector<int>& group) {
    std::vector<std::int64_t> rows(group.size());
    std::transform(group.begin(), group.end(), rows.begin(), [&](int rank) { return shares.made(rank).size(); });
    return rows;
}

}  // namespace

data::Csr share_rows(comm::Communicator& comm, const RowShares& shares, data::Csr made, bool weighted) {
    const std::vector<int>& group = shares.group(comm.rank());
    if (group.size() == 1) return made;
    // Lengths of rows in place of starts, which begin anew on every rank.
    std::vector<std::int64_t> lengths;
    for (std::int64_t row = 0; row < made.rows(); ++row) lengths.push_back(made.degree(row));
    const std::vector<std::int64_t> rows = rows_of_each(shares, group);
    const std::vector<std::int64_t> all_lengths = all_of_group(comm, group, lengths, rows);
    data::Csr all;
    all.vertices = made.vertices;
    all.first_row = shares.kept(comm.rank()).begin;
    all.row_start.assign(1, 0);
    std::vector<std::int64_t> nonzeros;
    std::size_t row = 0;
    for (const std::int64_t count : rows) {
        const std::int64_t before = all.row_start.back();
        for (const std::size_t end = row + at(count); row < end; ++row)
            all.row_start.push_back(all.row_start.back() + all_lengths[row]);
        nonzeros.push_back(all.row_start.back() - before);
    }
    all.row_start.shrink_to_fit();
    all.column = all_of_group(comm, group, made.column, nonzeros);
    if (weighted) all.weight = all_of_group(comm, group, made.weight, nonzeros);
    return all;
}

std::vector<double> share_values(comm::Communicator& comm, const RowShares& shares, std::vector<double> made) {
    const std::vector<int>& group = shares.group(comm.rank());
    if (group.size() == 1) return made;
    return all_of_group(comm, group, made, rows_of_each(shares, group));
}

std::vector<double> values_of(comm::Communicator& comm, const RowShares& shares, const data::VertexSet& rows,
                              const std::vector<double>& made) {
    const int peers = comm.size();
    const std::int64_t first = shares.made(comm.rank()).begin;
    std::vector<std::vector<std::int32_t>> wanted(at(peers)), asked(at(peers));
    std::vector<std::int64_t> how_many(at(peers)), how_many_asked(at(peers));
    for (int p = 0; p < peers; ++p) {
        wanted[at(p)] = rows.members(shares.made(p));
        how_many[at(p)] = std::ssize(wanted[at(p)]);
    }
    const auto exchange = [&](auto&& sent, auto&& received) {
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        for (int p = 0; p < peers; ++p) {
            sends.push_back({p, std::as_bytes(sent(at(p)))});
            receives.push_back({p, std::as_writable_bytes(received(at(p)))});
        }
        comm.exchange(sends, receives);
    };
    exchange([&](std::size_t p) { return std::span(&how_many[p], 1); },
             [&](std::size_t p) { return std::span(&how_many_asked[p], 1); });
    for (std::size_t p = 0; p < asked.size(); ++p) asked[p].resize(at(how_many_asked[p]));
    exchange([&](std::size_t p) { return std::span(wanted[p]); }, [&](std::size_t p) { return std::span(asked[p]); });
    std::vector<std::vector<double>> answers(asked.size());
    for (std::size_t p = 0; p < asked.size(); ++p) {
        for (const std::int32_t row : asked[p]) answers[p].push_back(made[at(row - first)]);
    }
    // The parts of the peers follow each other in the order of their rows, whatever that of the ranks.
    std::vector<double> values(at(rows.size()));
    exchange([&](std::size_t p) { return std::span(answers[p]); },
             [&](std::size_t p) {
                 const std::int64_t place = wanted[p].empty() ? 0 : rows.find(wanted[p].front());
                 return std::span(values).subspan(at(place), wanted[p].size());
             });
    return values;
}

}  // namespace gnnplan::load
