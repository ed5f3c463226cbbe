#include "runtime/read/integer_stream.hpp"
#include "runtime/read/npz_dataset.hpp"

namespace gnnplan::data {
namespace {

void read_labels(const NpzArchive& archive, std::int64_t vertices, Supervision& supervision) {
    NpyReader reader = archive.open("y");
    const std::vector<std::int64_t>& shape = reader.header().shape;
    const bool column = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
    if (!column) reader.fail("one label per vertex, [N] or [N, 1], expected, found " + reader.header().describe());
    if (shape[0] != vertices) {
        reader.fail(std::to_string(vertices) + " labels expected, found " + reader.header().describe());
    }
    std::vector<double> values(static_cast<std::size_t>(vertices));
    reader.read_doubles(values);
    reader.finish();
    supervision.label.reserve(values.size());
    for (std::size_t v = 0; v < values.size(); ++v) {
        supervision.add_label(values[v], [&](const std::string& what, const std::string& hint) {
            reader.fail("vertex " + std::to_string(v) + ": " + what, hint);
        });
    }
}

// visit(position, value, fail) for each element of a one-dimensional array.
template <class Visit>
void for_each_integer(NpyReader reader, Visit&& visit) {
    reader.expect_dimensions(1);
    IntegerStream stream(std::move(reader));
    const std::int64_t count = stream.reader().header().count();
    const Fail fail = [&](const std::string& what, const std::string& hint) { stream.reader().fail(what, hint); };
    for (std::int64_t i = 0; i < count; ++i) visit(i, stream.next(), fail);
    stream.reader().finish();
}

void read_split(const NpzArchive& archive, std::int64_t vertices, Supervision& supervision) {
    constexpr const char* prefixes[3][2] = {{"train", "train"}, {"valid", "val"}, {"test", "test"}};
    for (std::uint8_t s = 0; s < 3; ++s) {
        for (const std::string prefix : prefixes[s]) {
            if (archive.has(prefix + "_idx")) {
                for_each_integer(archive.open(prefix + "_idx"),
                                 [&](std::int64_t, std::int64_t vertex, const Fail& fail) {
                                     supervision.assign(vertex, s, vertices, fail);
                                 });
                break;
            }
            if (!archive.has(prefix + "_mask")) continue;
            NpyReader mask = archive.open(prefix + "_mask");
            if (mask.header().kind != 'b' || mask.header().shape != std::vector<std::int64_t>{vertices}) {
                mask.fail("bool [" + std::to_string(vertices) + "] expected, found " + mask.header().describe());
            }
            for_each_integer(std::move(mask), [&](std::int64_t vertex, std::int64_t chosen, const Fail& fail) {
                if (chosen != 0) supervision.assign(vertex, s, vertices, fail);
            });
            break;
        }
    }
}

}  // namespace

Supervision read_npz_supervision(const NpzArchive& archive, std::int64_t vertices) {
    Supervision supervision;
    if (archive.has("y")) read_labels(archive, vertices, supervision);
    read_split(archive, vertices, supervision);
    return supervision;
}

Supervision read_npz_supervision(const std::filesystem::path& path, const std::string& split, std::int64_t vertices) {
    refuse_split(split, path);
    return read_npz_supervision(NpzArchive(path), vertices);
}

}  // namespace gnnplan::data
