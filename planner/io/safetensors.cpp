#include "planner/io/safetensors.hpp"

#include "planner/io/cursor.hpp"
#include "planner/io/parse.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace gnnplan::io {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t max_header = 100'000'000;  // as the format's own library allows
constexpr std::int64_t max_bytes = std::int64_t{1} << 40;
constexpr std::size_t max_dimensions = 16;
constexpr std::size_t longest_name = 1024;
constexpr const char* metadata_key = "__metadata__";

struct ElementType {
    std::string_view name;
    std::int64_t bytes;
};
constexpr std::array<ElementType, 14> types{{{"F64", 8},
                                             {"F32", 4},
                                             {"F16", 2},
                                             {"BF16", 2},
                                             {"F8_E4M3", 1},
                                             {"F8_E5M2", 1},
                                             {"I64", 8},
                                             {"U64", 8},
                                             {"I32", 4},
                                             {"U32", 4},
                                             {"I16", 2},
                                             {"I8", 1},
                                             {"U8", 1},
                                             {"BOOL", 1}}};

std::uint64_t read_length(std::string_view file) {
    std::uint64_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;) length = length << 8U | static_cast<unsigned char>(file[i]);
    return length;
}

std::int64_t element_bytes(const Cursor& type) {
    const auto known =
        std::find_if(types.begin(), types.end(), [&](const ElementType& t) { return t.name == type.string(); });
    if (known == types.end()) type.fail(in_quotes(type.string()) + " is no type of safetensors");
    return known->bytes;
}

struct Entry {
    StoredTensor tensor;
    std::int64_t begin = 0;
};

Entry read_entry(const std::string& name, const Cursor& entry, std::string_view values) {
    if (name.size() > longest_name) entry.fail("the name of a tensor has more than 1024 bytes");
    entry.only({"dtype", "shape", "data_offsets"});
    std::int64_t bytes = element_bytes(entry.member("dtype"));
    Entry read{{name, entry.member("dtype").string(), {}, {}}, 0};
    for (const Cursor& extent : entry.member("shape").elements(max_dimensions)) {
        const std::int64_t size = extent.integer(0, max_bytes);
        if (size > 0 && bytes > max_bytes / size) extent.fail("the tensor is larger than any file");
        bytes *= size;
        read.tensor.shape.push_back(size);
    }
    const Cursor offsets = entry.member("data_offsets");
    const std::vector<Cursor> range = offsets.elements(2);
    if (range.size() != 2) offsets.fail("expected the begin and the end of the values");
    read.begin = range[0].integer(0, max_bytes);
    const std::int64_t end = range[1].integer(0, max_bytes);
    if (end - read.begin != bytes) offsets.fail("the values take other bytes than type and shape say");
    if (end > static_cast<std::int64_t>(values.size())) offsets.fail("the values end after the file");
    read.tensor.bytes = values.substr(static_cast<std::size_t>(read.begin), static_cast<std::size_t>(bytes));
    return read;
}

}  // namespace

std::string safetensors_header(const Safetensors& content) {
    Document header = Document::object();
    if (!content.metadata.empty()) {
        Document metadata = Document::object();
        for (const auto& [key, value] : content.metadata) metadata.set(key, value);
        header.set(metadata_key, std::move(metadata));
    }
    std::int64_t offset = 0;
    for (const StoredTensor& tensor : content.tensors) {
        const std::int64_t end = offset + static_cast<std::int64_t>(tensor.bytes.size());
        header.set(tensor.name, Document::object({{"dtype", tensor.type},
                                                  {"shape", tensor.shape},
                                                  {"data_offsets", std::vector<std::int64_t>{offset, end}}}));
        offset = end;
    }
    std::string text = dump(header);
    text.resize((text.size() + length_bytes - 1) / length_bytes * length_bytes, ' ');  // values begin aligned
    std::string file;
    for (std::size_t i = 0; i < length_bytes; ++i) file += static_cast<char>(text.size() >> (8 * i) & 0xFFU);
    return file + text;
}

std::string write_safetensors(const Safetensors& content) {
    std::string file = safetensors_header(content);
    for (const StoredTensor& tensor : content.tensors) file += tensor.bytes;
    return file;
}

bool is_safetensors(std::string_view file) {
    return file.size() > length_bytes && read_length(file) <= file.size() - length_bytes && file[length_bytes] == '{';
}

Safetensors read_safetensors(std::string_view file, const std::string& where) {
    const auto fail = [&](const std::string& what) { throw Error(ErrorCode::data, what, where); };
    if (file.size() < length_bytes) fail("is no safetensors file: it is shorter than 8 bytes");
    const std::uint64_t length = read_length(file);
    if (const std::string kind = binary_kind(file); !kind.empty()) {
        throw Error(ErrorCode::data, "is " + kind + ", and no safetensors file", where,
                    "save the weights in Python: safetensors.numpy.save_file({name: array, ...}, path)");
    }
    if (length > max_header || length > file.size() - length_bytes) {
        fail("is no safetensors file, or was cut: its header would take " + std::to_string(length) + " bytes");
    }
    const std::string_view values = file.substr(length_bytes + static_cast<std::size_t>(length));
    const Document header = parse(file.substr(length_bytes, static_cast<std::size_t>(length)), where,
                                  {.depth = 4, .members = std::size_t{1} << 16U});
    if (header.get_if<Document::Object>() == nullptr) fail("the header of a safetensors file is an object");

    Safetensors content;
    std::vector<Entry> entries;
    for (const auto& [name, value] : Cursor(header, where).members()) {
        if (name != metadata_key) {
            entries.push_back(read_entry(std::string(name), value, values));
            continue;
        }
        if (value.document().get_if<Document::Object>() == nullptr) value.fail("expected an object of texts");
        for (const auto& [key, text] : value.members()) content.metadata.emplace_back(key, text.string());
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
    std::int64_t end = 0;
    for (Entry& entry : entries) {
        if (entry.begin != end)
            fail("the values of " + in_quotes(entry.tensor.name) + " overlap others or leave a gap");
        end += static_cast<std::int64_t>(entry.tensor.bytes.size());
        content.tensors.push_back(std::move(entry.tensor));
    }
    if (end != static_cast<std::int64_t>(values.size())) fail("bytes follow the last tensor");
    return content;
}

}  // namespace gnnplan::io
