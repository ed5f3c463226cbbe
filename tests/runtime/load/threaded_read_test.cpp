// Threads read of a share what one reader would have read.
#include "runtime/load/threaded_read.hpp"

#include "kernels/table.hpp"
#include "tests/support/test_files.hpp"

#include <gnnplan/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gnnplan::load {
namespace {

using data::files::TempFolder;

constexpr std::int64_t vertices = 5000;
constexpr std::size_t block = data::EdgeList::block_edges;

class ThreadedRead : public ::testing::Test {
protected:
    ~ThreadedRead() override { kernels::set_threads(1); }

    // So many lines, of which those (from 0) are bad.
    std::filesystem::path write(const std::string& name, std::size_t lines, std::size_t bad = -1,
                                std::size_t bad_too = -1) {
        std::mt19937 random(3);
        std::string text;
        for (std::size_t i = 0; i < lines; ++i) {
            text += i == bad || i == bad_too
                        ? "bad" + std::to_string(i) + "\n"
                        : std::to_string(random() % vertices) + " " + std::to_string(random() % vertices) + "\n";
        }
        return folder_.write(name, text);
    }

    static data::Dataset open(const std::filesystem::path& path) {
        data::DatasetOptions options;
        options.in_shares = vertices;
        options.supervised = data::Supervised::no;
        return data::open_dataset(path, options);
    }

    TempFolder folder_;
};

struct Read {
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // sorted
    std::vector<std::size_t> blocks;                           // lengths, the longest first
    std::int64_t looked_at = 0;
    data::ParsedGraph found;
};

Read read(const data::Dataset& dataset, int threads, int rank = 0, int ranks = 1) {
    kernels::set_threads(threads);
    Read all;
    std::atomic<std::int64_t> looked_at = 0;
    const auto caller = std::this_thread::get_id();
    all.found = read_with_threads(dataset, rank, ranks,
                                  {[&](auto edges) { looked_at += std::ssize(edges); },
                                   [&](auto edges, auto) {
                                       EXPECT_EQ(std::this_thread::get_id(), caller);
                                       all.blocks.push_back(edges.size());
                                       for (const data::Edge& e : edges) all.edges.emplace_back(e.from, e.to);
                                   }});
    all.looked_at = looked_at;
    std::ranges::sort(all.edges);
    std::ranges::sort(all.blocks, std::greater<>());
    return all;
}

TEST_F(ThreadedRead, GivesTheSameEdgesInTheSameBlocks) {
    const std::string names[] = {"plain.txt", "packed.txt.gz"};
    for (const std::string& name : names) {
        const data::Dataset dataset = open(write(name, 5 * block + 77));
        for (const int ranks : {1, 3}) {
            for (int rank = 0; rank < ranks; ++rank) {
                const Read one = read(dataset, 1, rank, ranks);
                for (const int threads : {2, 3, 7}) {
                    const Read several = read(dataset, threads, rank, ranks);
                    EXPECT_EQ(several.edges, one.edges) << name << ", " << threads << " threads";
                    EXPECT_EQ(several.blocks, one.blocks);
                    EXPECT_EQ(several.looked_at, std::ssize(one.edges));
                    EXPECT_EQ(several.found.vertices, one.found.vertices);
                    EXPECT_EQ(several.found.edges_read, one.found.edges_read);
                    EXPECT_EQ(several.found.format, one.found.format);
                    EXPECT_EQ(several.found.divisible, one.found.divisible);
                }
            }
        }
    }
}

TEST_F(ThreadedRead, FewerLinesThanThreads) {
    const data::Dataset dataset = open(write("few.txt", 3));
    EXPECT_EQ(read(dataset, 5).edges, read(dataset, 1).edges);
    EXPECT_EQ(read(open(write("none.txt", 0)), 5).edges.size(), 0U);
}

TEST_F(ThreadedRead, TheFirstBadLineOfTheFileIsNamed) {
    for (const auto& [first, second] : {std::pair<std::size_t, std::size_t>{900, 3 * block}, {2 * block, 4 * block}}) {
        const data::Dataset dataset = open(write("bad.txt", 5 * block, first, second));
        for (const int threads : {1, 2, 4}) {
            try {
                read(dataset, threads);
                FAIL() << "bad lines were read";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::data);
                EXPECT_NE(error.where().find(":" + std::to_string(first + 1)), std::string::npos) << error.where();
            }
        }
    }
}

TEST_F(ThreadedRead, WhatTakingThrowsEndsReading) {
    const data::Dataset dataset = open(write("long.txt", 9 * block));
    for (const int threads : {1, 2, 4}) {
        kernels::set_threads(threads);
        int taken = 0;
        const auto take = [&](auto, auto) {
            if (++taken == 2) throw std::runtime_error("enough");
        };
        EXPECT_THROW(read_with_threads(dataset, 0, 1, {[](auto) {}, take}), std::runtime_error);
        EXPECT_EQ(taken, 2);
    }
}

}  // namespace
}  // namespace gnnplan::load
