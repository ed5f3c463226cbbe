#include "fuzz.hpp"
#include "runtime/read/npz.hpp"
#include "runtime/read/npz_dataset.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gnnplan;
    fuzz::expect_read_or_refused([&] {
        const data::NpzArchive archive("input", fuzz::as_text(data, size));
        data::ParsedGraph parsed = data::read_npz_graph(archive);
        const std::int64_t vertices = parsed.vertices;
        fuzz::check_graph(std::move(parsed));
        if (vertices > 0 && vertices <= 4096) {
            const data::Supervision supervision = data::read_npz_supervision(archive, "", vertices);
            if (!supervision.label.empty()) data::check_classes(supervision, 0, "input");
        }
    });
    fuzz::expect_read_or_refused([&] {
        const data::NpzArchive archive("input", fuzz::as_text(data, size));
        fuzz::check_graph(data::read_npz_graph(archive, {data::IndexBase::unsaid, true}));
    });
    return 0;
}
