// Loading takes at most three times the bytes of the graph it gives, counted at operator new, and where memory on huge
// pages is allocated and freed (the linker puts our functions in place of those that the loader calls).
#include "runtime/generate/generate.hpp"
#include "runtime/graph/csr.hpp"
#include "runtime/read/edge_list.hpp"

#include <gtest/gtest.h>

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

namespace {

std::atomic<std::int64_t> live_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};

void count(void* memory) {
    const std::int64_t live = live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
    std::int64_t peak = peak_bytes;
    while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
    }
}

void* counted_allocate(std::size_t size) {
    void* memory = std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    count(memory);
    return memory;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker gives these names.
extern "C" {
void __real_free(void* memory);
int __real_posix_memalign(void** memory, std::size_t alignment, std::size_t size);

void __wrap_free(void* memory) {
    if (memory != nullptr) live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
    __real_free(memory);
}
int __wrap_posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    const int failed = __real_posix_memalign(memory, alignment, size);
    if (failed == 0) count(*memory);
    return failed;
}
}
// NOLINTEND(bugprone-reserved-identifier)

void* operator new(std::size_t size) { return counted_allocate(size); }
void* operator new[](std::size_t size) { return counted_allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace gnnplan::data {
namespace {

std::int64_t bytes_of(const Csr& csr) {
    return static_cast<std::int64_t>(csr.row_start.size() * sizeof(std::int64_t) +
                                     csr.column.size() * sizeof(std::int32_t) + csr.weight.size() * sizeof(float));
}

std::string text_of(const EdgeList& edges, bool lower_only, const std::string& end = "\n") {
    std::string text;
    edges.for_each([&](Edge e) {
        if (!lower_only || e.to < e.from) text += std::to_string(e.from) + "\t" + std::to_string(e.to) + end;
    });
    return text;
}

void expect_three_times_at_most(const std::string& text, const Preparation& preparation) {
    const std::int64_t before = live_bytes;
    peak_bytes = before;
    TextReader reader(memory_input("edges", text));
    ParsedGraph parsed = read_edge_list(reader, {IndexBase::zero, preparation.edge_weights});
    PreparationCounts counts;
    const Graph graph = build_graph(std::move(parsed.edges), parsed.vertices, preparation, counts);
    const std::int64_t result = bytes_of(graph.out) + bytes_of(graph.in);
    constexpr std::int64_t room =
        4 << 20;  // that the last block of edges has, and that takes no memory before it is used
    EXPECT_LE(peak_bytes - before, 3 * result + room) << "the graph takes " << result << " bytes";
    EXPECT_GE(peak_bytes - before, result) << "allocations are not counted";
    EXPECT_LE(live_bytes - before, result + (1 << 20)) << "nothing but the graph and the text buffer is left";
}

TEST(Memory, IsAtMostThreeTimesTheGraph) {
    RmatOptions options{.vertices = 1 << 16, .nonzeros = 1500000, .seed = 4};
    const GeneratedGraph both = generate_rmat(options);
    expect_three_times_at_most(text_of(both.edges, false), {false, true});  // undirected, both directions listed
    expect_three_times_at_most(text_of(both.edges, false), {true, true});
    expect_three_times_at_most(text_of(both.edges, true), {true, true});  // undirected, listed once
    expect_three_times_at_most(text_of(both.edges, false, "\t0.5\n"), {false, true, true});
    expect_three_times_at_most(text_of(both.edges, true, "\t0.5\n"), {true, true, true});
    options.symmetrise = false;
    expect_three_times_at_most(text_of(generate_rmat(options).edges, false), {false, true});  // directed
    expect_three_times_at_most(text_of(generate_rmat(options).edges, false), {false, false});
}

}  // namespace
}  // namespace gnnplan::data
