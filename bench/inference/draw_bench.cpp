// The cost of drawing neighbours for three layers in one visit of every vertex, beside drawing for one.
//
//   draw_bench [GRAPH [FANOUT [ROUNDS]]]     GRAPH: arxiv, mid or VERTICES:NONZEROS
#include "bench/kernels/named_rmat.hpp"
#include "runtime/graph/csr.hpp"
#include "runtime/sample/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace gnnplan;

double seconds_of(const data::Csr& matrix, const std::vector<std::int64_t>& fanout, bool weighted) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<data::Csr> drawn = sample::draw_neighbours(matrix, fanout, 1, weighted);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return took.count();
}

std::string figures(std::vector<double> seconds) {
    std::ranges::sort(seconds);
    return fmt::format("{:.1f} ({:.1f}-{:.1f})", 1e3 * seconds[seconds.size() / 2], 1e3 * seconds.front(),
                       1e3 * seconds.back());
}

void measure(const std::string& name, std::int64_t fanout, int rounds) {
    data::GeneratedGraph rmat = data::generate_rmat(bench::named_rmat(name));
    data::PreparationCounts counts;
    const data::Csr matrix = data::build_graph(std::move(rmat.edges), rmat.vertices, {}, counts).out;
    for (const bool weighted : {true, false}) {
        std::vector<double> one, three;
        for (int round = 0; round < rounds; ++round) {
            one.push_back(seconds_of(matrix, {fanout}, weighted));
            three.push_back(seconds_of(matrix, std::vector<std::int64_t>(3, fanout), weighted));
        }
        std::vector<double> ratio;
        for (std::size_t i = 0; i < one.size(); ++i) ratio.push_back(three[i] / one[i]);
        std::ranges::sort(ratio);
        fmt::print("{}, fan-out {}, {}: one {} ms, three {} ms, ratio {:.2f}\n", name, fanout,
                   weighted ? "weighted" : "not weighted", figures(one), figures(three), ratio[ratio.size() / 2]);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        measure(argc > 1 ? argv[1] : "arxiv", argc > 2 ? std::stoll(argv[2]) : 50, argc > 3 ? std::stoi(argv[3]) : 9);
    } catch (const std::exception& failure) {
        fmt::print(stderr, "draw_bench: {}\n", failure.what());
        return 2;
    }
}
