// Coefficients of a pool against counts by brute force, and the sums that they make unbiased.
#include "runtime/sample/pool.hpp"
#include "runtime/sample/walk.hpp"

#include "kernels/parallel.hpp"
#include "kernels/table.hpp"
#include "runtime/graph/partition.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gnnplan::sample {
namespace {

using data::Csr;
using data::Graph;

std::vector<Graph> graphs() {
    std::vector<Graph> made;
    made.push_back(data::testing::random_graph(30, 80, false, true, 1));
    made.push_back(data::testing::random_graph(30, 60, true, true, 2));
    made.push_back(data::testing::weighted_random_graph(30, 70, false, false, 3));
    made.push_back(data::testing::weighted_random_graph(30, 70, true, true, 4));
    made.push_back(data::testing::random_graph(40, 20, false, false, 5));  // with isolated vertices
    return made;
}

std::vector<Sampling> samplings() {
    std::vector<Sampling> made{
        {.sampler = Sampler::node, .budget = 12, .coverage = 30, .seed = 7},
        {.sampler = Sampler::edge, .budget = 6, .coverage = 30, .seed = 8},
        {.sampler = Sampler::walk, .budget = 4, .walk_length = 2, .coverage = 30, .seed = 9},
    };
    if (data::has_partitioner())
        made.push_back({.sampler = Sampler::cluster, .budget = 3, .clusters = 8, .coverage = 30, .seed = 10});
    return made;
}

struct Entry {
    std::int64_t row, column, nonzero;
    double weight;
};

std::vector<Entry> entries(const Csr& matrix) {
    std::vector<Entry> all;
    for (std::int64_t row = 0; row < matrix.rows(); ++row) {
        for (std::int64_t e = matrix.row_start[at(row)]; e < matrix.row_start[at(row) + 1]; ++e)
            all.push_back(
                {row, matrix.column[at(e)], e, matrix.weighted() ? static_cast<double>(matrix.weight[at(e)]) : 1});
    }
    return all;
}

// Whether each batch has each vertex.
std::vector<std::vector<bool>> membership(const Graph& graph, const Sampling& sampling, std::int64_t batches) {
    const Draws draws(graph, sampling);
    std::vector<std::vector<bool>> has(at(batches), std::vector<bool>(at(graph.vertices()), false));
    for (std::int64_t b = 0; b < batches; ++b) {
        for (const std::int32_t v : draws.vertices(b)) has[at(b)][at(v)] = true;
    }
    return has;
}

template <class Check>
void for_all_pools(const Check& check) {
    for (const Graph& graph : graphs()) {
        for (Sampling sampling : samplings()) {
            for (const bool coefficients : {true, false}) {
                sampling.coefficients = coefficients;
                const std::vector<std::uint8_t> subset = data::testing::third_trains(graph);
                Pool pool(graph, subset, sampling);
                pool.draw();
                SCOPED_TRACE(testing::Message() << "sampler " << static_cast<int>(sampling.sampler) << ", symmetric "
                                                << graph.symmetric << ", coefficients " << coefficients);
                check(graph, sampling, subset, pool);
            }
        }
    }
}

TEST(Pool, CountsItsBatches) {
    for_all_pools([](const Graph& graph, const Sampling& sampling, const auto& subset, const Pool& pool) {
        const auto has = membership(graph, sampling, pool.batches());
        std::int64_t drawn = 0, before_last = 0;
        for (std::int64_t b = 0; b < pool.batches(); ++b) {
            BatchSize size;
            for (std::int64_t v = 0; v < graph.vertices(); ++v) {
                if (!has[at(b)][at(v)]) continue;
                ++size.vertices;
                size.looked_at += graph.matrix(backward_matrix).degree(v);
                if (!graph.symmetric) size.looked_at += graph.matrix(forward_matrix).degree(v);
                if (subset[at(v)] == 0) ++size.training;
            }
            for (const Entry& e : entries(graph.matrix(forward_matrix)))
                size.nonzeros += has[at(b)][at(e.row)] && has[at(b)][at(e.column)] ? 1 : 0;
            EXPECT_EQ(pool.sizes()[at(b)], size);
            before_last = drawn, drawn += size.vertices;
        }
        EXPECT_GE(drawn, sampling.coverage * graph.vertices());
        EXPECT_LT(before_last, sampling.coverage * graph.vertices()) << "a batch too many";
        std::int64_t idle = 0;
        for (std::int64_t v = 0; v < graph.vertices(); ++v) {
            std::int64_t batches = 0;
            for (const auto& batch : has) batches += batch[at(v)] ? 1 : 0;
            EXPECT_EQ(pool.batches_with(v), batches);
            idle += batches == 0 && subset[at(v)] == 0 ? 1 : 0;
        }
        EXPECT_EQ(pool.uncovered_training(), idle);
        if (!sampling.coefficients) return;
        std::int64_t uncovered = 0;
        for (const MatrixId which : {forward_matrix, backward_matrix}) {
            for (const Entry& e : entries(graph.matrix(which))) {
                std::int64_t batches = 0;
                for (const auto& batch : has) batches += batch[at(e.row)] && batch[at(e.column)] ? 1 : 0;
                EXPECT_EQ(pool.batches_with(which, e.nonzero), batches);
                uncovered += batches == 0 && which == forward_matrix ? 1 : 0;
            }
        }
        EXPECT_EQ(pool.uncovered(), uncovered);
    });
}

// The mean of a target's sums over the batches that have it, as they are trained on, beside its sum over all edges that
// some batch has. Returns the largest difference; `target` is whether the target's count scales a value, as it should.
double largest_bias(const Graph& graph, const Pool& pool, bool target, bool rounded) {
    const Csr& matrix = graph.matrix(forward_matrix);
    std::vector<double> mean(at(graph.vertices()), 0), whole(at(graph.vertices()), 0);
    const auto x = [](std::int64_t v) { return 1 + std::sin(static_cast<double>(v)); };
    for (const Entry& e : entries(matrix)) {
        if (pool.batches_with(forward_matrix, e.nonzero) > 0) whole[at(e.row)] += e.weight * x(e.column);
    }
    Induced room(graph.vertices());
    for (std::int64_t b = 0; b < pool.batches(); ++b) {
        const std::vector<std::int64_t> numbers{b};
        const data::Clones made = pool.graphs(numbers, {0, std::ssize(numbers)}, room);
        for (const Entry& e : entries(made.graph.matrix(forward_matrix))) {
            const std::int64_t v = made.vertices.vertex_at(e.row), u = made.vertices.vertex_at(e.column);
            const auto first = matrix.column.begin() + matrix.row_start[at(v)];
            const std::int64_t nonzero =
                std::find(first, first + matrix.degree(v), static_cast<std::int32_t>(u)) - matrix.column.begin();
            const double weight = matrix.weighted() ? static_cast<double>(matrix.weight[at(nonzero)]) : 1;
            const double exact = weight / static_cast<double>(pool.batches_with(forward_matrix, nonzero));
            EXPECT_NEAR(e.weight, exact, 1e-6 * std::abs(exact));
            const auto of_vertex = static_cast<double>(pool.batches_with(target ? v : u));
            mean[at(v)] += (rounded ? e.weight : exact) * of_vertex * x(u) / static_cast<double>(pool.batches_with(v));
        }
    }
    double largest = 0;
    for (std::size_t v = 0; v < mean.size(); ++v) largest = std::max(largest, std::abs(mean[v] - whole[v]));
    return largest;
}

TEST(Pool, MakesSumsUnbiasedByTheTargetsCount) {
    for_all_pools([](const Graph& graph, const Sampling& sampling, const auto&, const Pool& pool) {
        if (!sampling.coefficients) return;
        EXPECT_LT(largest_bias(graph, pool, true, false), 1e-12);
        EXPECT_LT(largest_bias(graph, pool, true, true), 1e-5);
        if (sampling.sampler == Sampler::cluster) return;
        EXPECT_GT(largest_bias(graph, pool, false, false), 0.05) << "the source's count would do as well";
    });
}

TEST(Pool, CountsTheLossOfAVertexOnceInTheMean) {
    for_all_pools([](const Graph& graph, const Sampling& sampling, const auto& subset, const Pool& pool) {
        std::vector<double> counted(at(graph.vertices()), 0);
        Induced room(graph.vertices());
        double training = 0;
        for (const std::uint8_t s : subset) training += s == 0 ? 1 : 0;
        for (std::int64_t b = 0; b < pool.batches(); ++b) {
            const std::vector<std::int64_t> numbers{b};
            const data::Clones made = pool.graphs(numbers, {0, std::ssize(numbers)}, room);
            double of_batch = 0;
            for (std::size_t i = 0; i < made.counts_as.size(); ++i) {
                counted[at(made.vertices.vertex[i])] += static_cast<double>(made.counts_as[i]);
                of_batch += static_cast<double>(made.counts_as[i]);
            }
            const bool mean = !sampling.coefficients && pool.sizes()[at(b)].training > 0;
            if (mean) {
                EXPECT_NEAR(of_batch, training, 1e-4) << "a batch's loss is its mean";
            }
        }
        if (!sampling.coefficients) return;
        for (std::int64_t v = 0; v < graph.vertices(); ++v) {
            const bool counts = subset[at(v)] == 0 && pool.batches_with(v) > 0;
            EXPECT_NEAR(counted[at(v)] / static_cast<double>(pool.batches()), counts ? 1 : 0, 1e-5);
        }
    });
}

// Both matrices of the graphs of three groups: induced, transposes of each other, and within their group.
TEST(Pool, MakesGraphsOfBatches) {
    for_all_pools([](const Graph& graph, const Sampling& sampling, const auto&, const Pool& pool) {
        const auto has = membership(graph, sampling, pool.batches());
        const std::vector<std::int64_t> numbers{4, 0, 2};
        Induced room(graph.vertices());
        const data::Clones made = pool.graphs(numbers, {0, std::ssize(numbers)}, room);
        ASSERT_EQ(made.groups(), 3);
        for (const MatrixId which : {forward_matrix, backward_matrix}) {
            const Csr& matrix = made.graph.matrix(which);
            ASSERT_EQ(matrix.rows(), made.first.back());
            ASSERT_EQ(matrix.vertices, made.first.back());
            ASSERT_EQ(matrix.weighted(), matrix.nonzeros() > 0 && made.graph.weighted);
            const auto dense = data::testing::dense_pattern(graph, which.transposed);
            std::int64_t nonzeros = 0;
            for (int g = 0; g < 3; ++g) {
                const auto& of_batch = has[at(numbers[at(g)])];
                for (std::size_t v = 0; v < dense.size(); ++v) {
                    for (std::size_t u = 0; u < dense.size(); ++u)
                        nonzeros += of_batch[v] && of_batch[u] ? dense[v][u] : 0;
                }
            }
            EXPECT_EQ(matrix.nonzeros(), nonzeros);
            for (const Entry& e : entries(matrix)) {
                const auto group = std::ranges::upper_bound(made.first, e.row) - made.first.begin();
                EXPECT_GE(e.column, made.first[at(group) - 1]);
                EXPECT_LT(e.column, made.first[at(group)]) << "an edge between groups";
                EXPECT_EQ(dense[at(made.vertices.vertex_at(e.row))][at(made.vertices.vertex_at(e.column))], 1);
            }
        }
        const Graph& batches = made.graph;
        EXPECT_EQ(data::transpose(batches.out), batches.matrix(forward_matrix));
    });
}

// A rank draws the batches of its own group, and knows of the others how many vertices they have.
TEST(Pool, MakesGraphsOfOneGroupAsOfAll) {
    for_all_pools([](const Graph& graph, const Sampling&, const auto&, const Pool& pool) {
        const std::vector<std::int64_t> numbers{4, 0, 2, 1};
        Induced room(graph.vertices());
        const data::Clones all = pool.graphs(numbers, {0, 4}, room);
        const data::Clones made = pool.graphs(numbers, {1, 3}, room);
        ASSERT_EQ(made.first, all.first);
        const Range own{all.first[1], all.first[3]};
        for (const MatrixId which : {forward_matrix, backward_matrix}) {
            const Csr& some = made.graph.matrix(which);
            ASSERT_EQ(some.rows(), all.first.back());
            std::vector<Entry> wanted = entries(all.graph.matrix(which));
            std::erase_if(wanted, [&](const Entry& e) { return e.row < own.begin || e.row >= own.end; });
            const std::vector<Entry> found = entries(some);
            ASSERT_EQ(found.size(), wanted.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                EXPECT_EQ(found[i].row, wanted[i].row);
                EXPECT_EQ(found[i].column, wanted[i].column);
                EXPECT_EQ(found[i].weight, wanted[i].weight);
            }
        }
        for (std::int64_t clone = 0; clone < all.first.back(); ++clone) {
            const bool is_own = own.begin <= clone && clone < own.end;
            EXPECT_EQ(made.counts_as[at(clone)], is_own ? all.counts_as[at(clone)] : 0);
            if (is_own) {
                EXPECT_EQ(made.vertices.vertex[at(clone)], all.vertices.vertex[at(clone)]);
            }
        }
    });
}

// The same batches as of the training vertices' graph alone.
TEST(Pool, MayBeOfTheTrainingVertices) {
    for (const Graph& graph : graphs()) {
        const std::vector<std::uint8_t> subset = data::testing::third_trains(graph);
        std::vector<std::int32_t> training;
        for (std::size_t v = 0; v < subset.size(); ++v) {
            if (subset[v] == 0) training.push_back(static_cast<std::int32_t>(v));
        }
        const Graph alone = induced_graph(graph, training);
        for (const MatrixId which : {forward_matrix, backward_matrix}) {
            const auto all = data::testing::dense_pattern(graph, which.transposed);
            const auto some = data::testing::dense_pattern(alone, which.transposed);
            for (std::size_t i = 0; i < training.size(); ++i) {
                for (std::size_t j = 0; j < training.size(); ++j)
                    ASSERT_EQ(some[i][j], all[at(training[i])][at(training[j])]);
            }
        }
        Sampling sampling{.sampler = Sampler::walk, .budget = 3, .walk_length = 2, .coverage = 30, .seed = 9};
        Pool wanted(alone, {}, sampling);
        wanted.draw();
        sampling.training_graph = true;
        Pool pool(graph, subset, sampling);
        pool.draw();
        ASSERT_EQ(pool.sizes(), wanted.sizes());
        Induced room(graph.vertices());
        const std::vector<std::int64_t> numbers{0, 1};
        const data::Clones made = pool.graphs(numbers, {0, 2}, room), other = wanted.graphs(numbers, {0, 2}, room);
        EXPECT_EQ(made.graph.out, other.graph.out);
        EXPECT_EQ(made.counts_as, other.counts_as);
        for (std::size_t i = 0; i < made.vertices.vertex.size(); ++i) {
            EXPECT_EQ(made.vertices.vertex[i], training[at(other.vertices.vertex[i])]);
            EXPECT_EQ(pool.sampled(made.vertices.vertex[i]), other.vertices.vertex[i]);
        }
    }
    const Graph graph = data::testing::random_graph(30, 80, true, true, 1);
    Sampling sampling{.sampler = Sampler::walk, .budget = 3, .walk_length = 2, .training_graph = true};
    EXPECT_THROW(Pool(graph, std::vector<std::uint8_t>(30, 2), sampling), Error) << "no vertex trains";
}

// Each update draws anew; edges that are left out are weighed by those that are there.
TEST(Pool, DrawsNeighboursForEachUpdate) {
    for (const Graph& graph : graphs()) {
        constexpr std::int64_t fanout = 2;
        Pool pool(graph, {}, {.sampler = Sampler::neighbours, .budget = fanout, .seed = 4});
        pool.draw();
        EXPECT_EQ(pool.batches(), 0);
        Induced room(graph.vertices());
        std::vector<double> mean(at(graph.nonzeros()), 0);
        constexpr int updates = 2'000;
        const Csr& all = graph.matrix(forward_matrix);
        for (std::int64_t update = 0; update < updates; ++update) {
            const data::Clones made = pool.graphs(std::vector<std::int64_t>{update}, {0, 1}, room);
            const Csr& sources = made.graph.matrix(forward_matrix);
            ASSERT_EQ(sources.nonzeros(), pool.sizes().front().nonzeros);
            ASSERT_EQ(data::transpose(sources), made.graph.matrix(backward_matrix));
            for (const Entry& e : entries(sources)) {
                const auto first = all.column.begin() + all.row_start[at(e.row)];
                const auto found = std::find(first, first + all.degree(e.row), static_cast<std::int32_t>(e.column));
                ASSERT_NE(found, first + all.degree(e.row));
                mean[at(found - all.column.begin())] += e.weight / updates;
            }
        }
        for (const Entry& e : entries(all)) {
            // The deviation of a weight of degree / fanout with the chance fanout / degree, over all updates.
            const double deviation =
                std::abs(e.weight) * std::sqrt(static_cast<double>(all.degree(e.row)) / fanout / updates);
            EXPECT_NEAR(mean[at(e.nonzero)], e.weight, 6 * deviation);
        }
    }
}

TEST(Pool, IsTheSameHoweverManyThreadsCount) {
    const Graph graph = data::testing::random_graph(2'000, 9'000, false, true, 11);
    const Sampling sampling{.sampler = Sampler::walk, .budget = 50, .walk_length = 2, .coverage = 20, .seed = 12};
    const int before = kernels::max_threads();
    kernels::set_threads(1);
    const Pool one(graph, {}, sampling);
    kernels::set_threads(3);
    const Pool three(graph, {}, sampling);
    kernels::set_threads(before);
    EXPECT_EQ(one.sizes(), three.sizes());
    EXPECT_EQ(one.uncovered(), three.uncovered());
    for (std::int64_t e = 0; e < graph.nonzeros(); ++e)
        ASSERT_EQ(one.batches_with(backward_matrix, e), three.batches_with(backward_matrix, e));
    EXPECT_EQ(one.batches_of_epoch(), 14);
}

TEST(Pool, RefusesTooManyBatches) {
    const Graph graph = data::testing::random_graph(250'000, 10, true, true, 13);
    EXPECT_THROW(Pool(graph, {}, {.sampler = Sampler::node, .budget = 1, .coverage = 50}), Error);
}

// The planner's memory is that of these: no batches of an update need more rows or nonzeros in a group.
TEST(Pool, TheLargestGraphsHaveRoomForAnyBatches) {
    for (const Graph& graph : graphs()) {
        for (const Sampling& sampling : samplings()) {
            Pool pool(graph, {}, sampling);
            pool.draw();
            Induced room(graph.vertices());
            Walk walk(pool.batches(), sampling.seed);
            for (const int groups : {1, 2, 4}) {
                constexpr int batches = 4;
                const data::Clones most = pool.largest(batches, groups);
                ASSERT_EQ(most.groups(), groups);
                EXPECT_NE(most.first.back(), graph.vertices());
                for (std::int64_t update = 0; update < 20; ++update) {
                    const data::Clones some = pool.graphs(walk.of_update(update, batches), {0, batches}, room);
                    for (int group = 0; group < groups; ++group) {
                        const std::int64_t begin = some.first[at(group * batches / groups)];
                        const std::int64_t end = some.first[at((group + 1) * batches / groups)];
                        EXPECT_LE(end - begin, most.first[at(group + 1)] - most.first[at(group)]);
                        for (const Csr* matrix : {&some.graph.out, &some.graph.in}) {
                            if (matrix->row_start.empty()) continue;
                            const Csr& room_for = matrix == &some.graph.out ? most.graph.out : most.graph.in;
                            EXPECT_LE(matrix->row_start[at(end)] - matrix->row_start[at(begin)],
                                      room_for.row_start[at(most.first[at(group + 1)])] -
                                          room_for.row_start[at(most.first[at(group)])]);
                        }
                    }
                }
            }
        }
    }
}

TEST(Walk, MeetsEachBatchOnceInEachRound) {
    constexpr std::int64_t batches = 7;
    Walk walk(batches, 5), again(batches, 5), other(batches, 6);
    std::vector<std::int64_t> all, of_other;
    for (std::int64_t update = 0; update < 7; ++update) {
        for (const std::int64_t batch : walk.of_update(update, 3)) all.push_back(batch);
        for (const std::int64_t batch : other.of_update(update, 3)) of_other.push_back(batch);
    }
    for (std::int64_t round = 0; round < 3; ++round) {
        std::vector<std::int64_t> met(all.begin() + round * batches, all.begin() + (round + 1) * batches);
        std::ranges::sort(met);
        EXPECT_EQ(met, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
    }
    EXPECT_EQ(again.of_update(4, 3), (std::vector<std::int64_t>(all.begin() + 12, all.begin() + 15)))
        << "an update's batches do not depend on those asked for before";
    EXPECT_NE(all, of_other);
}

// Without a training vertex in any batch nothing would be learned: those of this graph that train have no edges.
TEST(Pool, IsRefusedWhereNoBatchTrains) {
    const Graph graph = data::testing::random_graph(40, 10, false, false, 5);
    std::vector<std::uint8_t> subset(40, 1);
    std::int64_t training = 0;
    for (std::int64_t v = 0; v < 40; ++v) {
        if (graph.out.degree(v) == 0) subset[at(v)] = 0, ++training;
    }
    ASSERT_GT(training, 5);
    Pool by_edges(graph, subset, {.sampler = Sampler::node, .budget = 5, .coverage = 20});
    by_edges.draw();
    EXPECT_EQ(by_edges.uncovered_training(), training);
    EXPECT_EQ(by_edges.isolated_training(), training);
    EXPECT_THROW(by_edges.refuse_idle(), Error);
    Pool walks(graph, subset, {.sampler = Sampler::walk, .budget = 5, .walk_length = 1, .coverage = 20});
    walks.draw();
    EXPECT_EQ(walks.uncovered_training(), 0);
    EXPECT_NO_THROW(walks.refuse_idle());
}

}  // namespace
}  // namespace gnnplan::sample
