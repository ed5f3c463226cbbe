#include "fuzz.hpp"
#include "runtime/read/matrix_market.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gnnplan;
    fuzz::expect_read_or_refused([&] {
        data::TextReader reader(data::memory_input("input", fuzz::as_text(data, size)));
        fuzz::check_graph(data::read_matrix_market(reader));
    });
    fuzz::expect_read_or_refused([&] {
        data::TextReader reader(data::memory_input("input", fuzz::as_text(data, size)));
        fuzz::check_graph(data::read_matrix_market(reader, {data::IndexBase::unsaid, true}));
    });
    return 0;
}
