#include "fuzz.hpp"
#include "runtime/read/edge_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gnnplan;
    fuzz::expect_read_or_refused([&] {
        data::TextReader reader(data::memory_input("input", fuzz::as_text(data, size)));
        fuzz::check_graph(data::read_edge_list(reader));
    });
    fuzz::expect_read_or_refused([&] {
        data::TextReader reader(data::memory_input("input", fuzz::as_text(data, size)));
        fuzz::check_graph(data::read_edge_list(reader, {data::IndexBase::zero, true}));
    });
    return 0;
}
