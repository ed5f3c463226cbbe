#include "runtime/comm/reduce_scatter.hpp"

#include "contract.hpp"

#include "runtime/comm/counting.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace gnnplan::comm {
namespace {

using Offsets = std::vector<std::int64_t>;

// Block sizes for g ranks: even, uneven with empty ones, one alone, none; the second starts behind unused values.
std::vector<Offsets> all_offsets(int ranks) {
    std::vector<Offsets> all(4, Offsets{0});
    all[1][0] = 5;
    for (int i = 0; i < ranks; ++i) {
        all[0].push_back(all[0].back() + 1000);
        all[1].push_back(all[1].back() + (i * 7 + 3) % 4 * 11);
        all[2].push_back(all[2].back() + (i == ranks / 2 ? 61 : 0));
        all[3].push_back(0);
    }
    return all;
}

struct Job {
    std::vector<int> group;
    Offsets offsets;
    int index = 0;  // of this rank in the group

    std::int64_t total() const { return offsets.back() - offsets.front(); }
    std::int64_t block(int i) const {
        const std::size_t at = static_cast<std::size_t>(i) % group.size();
        return offsets[at + 1] - offsets[at];
    }
    int ranks() const { return static_cast<int>(group.size()); }
};

// Runs `check` for every division of the values over this rank's group.
void for_all_divisions(const std::vector<int>& group, int rank, const std::function<void(const Job&)>& check) {
    const auto place = std::find(group.begin(), group.end(), rank);
    if (place == group.end()) return;
    for (const Offsets& offsets : all_offsets(static_cast<int>(group.size())))
        check({group, offsets, static_cast<int>(place - group.begin())});
}

// All ranks; all of them backwards; two groups at the same time; one while the others stay away.
void for_all_jobs(const Communicator& comm, const std::function<void(const Job&)>& check) {
    std::vector<int> all(static_cast<std::size_t>(comm.size()));
    std::iota(all.begin(), all.end(), 0);
    for_all_divisions(all, comm.rank(), check);
    for_all_divisions({all.rbegin(), all.rend()}, comm.rank(), check);
    std::vector<int> even;
    std::vector<int> odd;
    for (const int rank : all) (rank % 2 == 0 ? even : odd).push_back(rank);
    for_all_divisions(comm.rank() % 2 == 0 ? even : odd, comm.rank(), check);
    for_all_divisions(odd, comm.rank(), check);
}

using Term = std::function<float(int index, std::int64_t position)>;

std::vector<float> reduced(Communicator& comm, const Job& job, const Term& term) {
    std::vector<float> values(static_cast<std::size_t>(job.offsets.back()));
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = term(job.index, static_cast<std::int64_t>(j));
    std::int64_t largest = 0;
    for (int i = 0; i < job.ranks(); ++i) largest = std::max(largest, job.block(i));
    std::vector<float> scratch(static_cast<std::size_t>(largest));
    std::vector<float> mine(static_cast<std::size_t>(job.block(job.index)), -1);
    reduce_scatter(comm, kernels::reference_table(), job.group, values, job.offsets, mine, scratch);
    return mine;
}

TEST_P(Contract, ReduceScatterSumsExactly) {
    on_ranks([](Communicator& comm) {
        const Term term = [](int index, std::int64_t j) {
            return static_cast<float>((index + 1) * (j % 17) - index + j % 5);
        };
        for_all_jobs(comm, [&](const Job& job) {
            const std::vector<float> mine = reduced(comm, job, term);
            for (std::size_t j = 0; j < mine.size(); ++j) {
                const std::int64_t position =
                    job.offsets[static_cast<std::size_t>(job.index)] + static_cast<std::int64_t>(j);
                float sum = 0;
                for (int index = 0; index < job.ranks(); ++index) sum += term(index, position);
                ASSERT_EQ(mine[j], sum) << "index " << job.index << " of " << job.ranks() << ", element " << j;
            }
        });
    });
}

// Terms of very different size: another order of summation would show.
TEST_P(Contract, ReduceScatterSumsInTheDocumentedOrder) {
    on_ranks([](Communicator& comm) {
        const Term term = [](int index, std::int64_t j) {
            return ((j + index) % 3 == 0 ? 1e6F : -0.1F) / static_cast<float>(3 + j + 7 * index);
        };
        for_all_jobs(comm, [&](const Job& job) {
            const std::vector<float> mine = reduced(comm, job, term);
            for (std::size_t j = 0; j < mine.size(); ++j) {
                const std::int64_t position =
                    job.offsets[static_cast<std::size_t>(job.index)] + static_cast<std::int64_t>(j);
                float sum = term((job.index + 1) % job.ranks(), position);
                for (int k = 2; k <= job.ranks(); ++k) sum += term((job.index + k) % job.ranks(), position);
                ASSERT_EQ(mine[j], sum) << "index " << job.index << " of " << job.ranks() << ", element " << j;
            }
        });
    });
}

TEST_P(Contract, ReduceScatterSendsAllButTheOwnBlock) {
    on_ranks([](Communicator& comm) {
        for_all_jobs(comm, [&](const Job& job) {
            Traffic expected;
            if (job.ranks() > 1) {
                expected.sent_bytes = 4 * (job.total() - job.block(job.index));
                expected.received_bytes = 4 * (job.total() - job.block(job.index + job.ranks() - 1));
                for (int i = 0; i < job.ranks(); ++i) expected.messages += i != job.index && job.block(i) > 0 ? 1 : 0;
            }
            Traffic traffic;
            CountingCommunicator counting(comm, traffic);
            reduced(counting, job, [](int, std::int64_t) { return 1.0F; });
            EXPECT_EQ(traffic, expected) << "index " << job.index << " of " << job.ranks();
        });
    });
}

// Some blocks take several messages of 1 MiB, others one, and one is empty. Devices have whole blocks in any case.
TEST_P(Contract, ReduceScatterSumsLongBlocks) {
    for (const char* device : {"Staged", "Peers", "Emulated", "Wanted"})
        if (GetParam().name.starts_with(device)) return;
    on_ranks([](Communicator& comm) {
        Job job{std::vector<int>(static_cast<std::size_t>(comm.size())), {0}, comm.rank()};
        std::iota(job.group.begin(), job.group.end(), 0);
        for (int i = 0; i < comm.size(); ++i)
            job.offsets.push_back(job.offsets.back() + std::array{600'000, 262'144, 100, 0, 7}[std::min(i, 4)]);
        Traffic traffic;
        CountingCommunicator counting(comm, traffic);
        const std::vector<float> mine = reduced(counting, job, [](int index, std::int64_t position) {
            return static_cast<float>(position % 1009 * (index + 1));
        });
        const auto terms = static_cast<std::int64_t>(comm.size() * (comm.size() + 1) / 2);
        std::int64_t wrong = 0;
        for (std::size_t j = 0; j < mine.size(); ++j) {
            const std::int64_t position =
                job.offsets[static_cast<std::size_t>(job.index)] + static_cast<std::int64_t>(j);
            wrong += mine[j] == static_cast<float>(position % 1009 * terms) ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(traffic.sent_bytes, comm.size() == 1 ? 0 : 4 * (job.total() - job.block(job.index)));
    });
}

// The sum of `count` values over the ranks of a job, each rank having other ones.
std::vector<float> summed(Communicator& comm, const Job& job, std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t j = 0; j < values.size(); ++j)
        values[j] = static_cast<float>((job.index + 1) * static_cast<int>(j % 17) - job.index);
    const auto largest = balanced_block({0, count}, 0, job.ranks()).size();
    std::vector<float> scratch(static_cast<std::size_t>(largest));
    all_reduce(comm, kernels::reference_table().add, job.group, values, scratch);
    return values;
}

TEST_P(Contract, AllReduceOverAGroupSumsExactly) {
    on_ranks([](Communicator& comm) {
        for_all_jobs(comm, [&](const Job& job) {
            for (const std::int64_t count : {0, 1, 2, 1000, 1003}) {
                const std::vector<float> values = summed(comm, job, count);
                const int g = job.ranks();
                for (std::size_t j = 0; j < values.size(); ++j) {
                    const auto sum = g * (g + 1) / 2 * static_cast<int>(j % 17) - g * (g - 1) / 2;
                    ASSERT_EQ(values[j], static_cast<float>(sum)) << "element " << j << " of " << count;
                }
            }
        });
    });
}

// Twice all but two blocks, as over all ranks.
TEST_P(Contract, AllReduceOverAGroupSendsWhatItSays) {
    on_ranks([](Communicator& comm) {
        for_all_jobs(comm, [&](const Job& job) {
            for (const std::int64_t count : {0, 1, 2, 1000, 1003}) {
                Traffic traffic;
                CountingCommunicator counting(comm, traffic);
                summed(counting, job, count);
                const int g = job.ranks();
                const auto without = [&](int i) { return count - balanced_block({0, count}, i % g, g).size(); };
                const std::int64_t sent = g > 1 ? without(job.index + 1) + without(job.index + 2) : 0;
                EXPECT_EQ(traffic.sent_bytes, 4 * sent) << "index " << job.index << " of " << g;
            }
        });
    });
}

TEST_P(Contract, ReduceScatterRefusesWhatDoesNotFit) {
    on_ranks([](Communicator& comm) {
        std::vector<float> values(4);
        std::vector<float> mine(4);
        std::vector<float> scratch(4);
        const auto refused = [&](const std::vector<int>& group, const Offsets& offsets, std::size_t own = 4,
                                 std::size_t scratch_size = 4) {
            EXPECT_THROW(reduce_scatter(comm, kernels::reference_table(), group, values, offsets,
                                        std::span(mine).first(own), std::span(scratch).first(scratch_size)),
                         Error);
        };
        const int me = comm.rank();
        refused({}, {0});
        refused({me + 1}, {0, 4});
        refused({me, me}, {0, 2, 4}, 2);
        refused({me}, {0});
        refused({me}, {0, 5}, 4);
        refused({me}, {-1, 3});
        refused({me}, {3, 0}, 0);
        refused({me}, {0, 4}, 3);
        refused({me}, {0, 4}, 4, 3);
        EXPECT_NO_THROW(
            reduce_scatter(comm, kernels::reference_table(), std::vector{me}, values, Offsets{0, 4}, mine, scratch));
    });
}

}  // namespace
}  // namespace gnnplan::comm
