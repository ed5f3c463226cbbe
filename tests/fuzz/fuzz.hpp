// The common rule of the fuzz targets: input must be read or refused as malformed, nothing else.
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/read/parsed_graph.hpp"

#include <gnnplan/base/error.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

namespace gnnplan::fuzz {

inline void check(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "fuzz: %s\n", what);
    std::abort();
}

inline std::span<const char> as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Runs a reader; an Error must be about the data.
template <class Read>
void expect_read_or_refused(Read&& read) {
    try {
        read();
    } catch (const Error& error) {
        check(error.code() == ErrorCode::data, error.what());
    }
}

// Checks the promises of every parsed graph, and that it can be built.
inline void check_graph(data::ParsedGraph parsed) {
    const std::int64_t n = parsed.vertices;
    check(n >= 0 && n <= data::largest_vertices, "number of vertices");
    parsed.edges.for_each([&](data::Edge e, float weight) {
        check(e.from >= 0 && e.from < n && e.to >= 0 && e.to < n, "edge out of range");
        check(std::isfinite(weight), "weight not finite");
    });
    if (n == 0 || n > 4096) return;  // building a large one tells nothing more
    const bool weighted = parsed.edges.weighted();
    data::PreparationCounts counts;
    const data::Graph graph = data::build_graph(std::move(parsed.edges), n, {false, true, weighted}, counts);
    check(graph.out.nonzeros() >= n, "self loops");
    check(graph.out.weight.size() == (weighted ? graph.out.column.size() : 0), "a weight for each nonzero");
    check(graph.symmetric || data::transpose(graph.out) == graph.in, "transpose");
}

}  // namespace gnnplan::fuzz
