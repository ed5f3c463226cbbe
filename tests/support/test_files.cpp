#include "tests/support/test_files.hpp"

#include <zip.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace gnnplan::data::files {
namespace fs = std::filesystem;

fs::path TempFolder::write(const std::string& name, const std::string& content) const {
    fs::path file = path() / name;
    fs::create_directories(file.parent_path());
    if (!name.ends_with(".gz")) {
        write_bytes(file, content);
        return file;
    }
    gzFile stream = gzopen(file.c_str(), "wb");
    if (stream == nullptr) throw std::runtime_error("gzopen failed");
    gzwrite(stream, content.data(), static_cast<unsigned>(content.size()));
    gzclose(stream);
    return file;
}

std::string read_bytes(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string npy_bytes(const Array& array) {
    std::string header =
        "{'descr': '" + array.type + "', 'fortran_order': " + (array.fortran_order ? "True" : "False") + ", 'shape': (";
    for (const std::int64_t size : array.shape) header += std::to_string(size) + ",";
    header += ")}\n";
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size() & 255U);
    file += static_cast<char>(header.size() >> 8U);
    return file + header + array.bytes;
}

fs::path write_npz(const TempFolder& folder, const std::vector<Array>& arrays, bool stored) {
    fs::path path = folder.path() / "graph.npz";
    zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    if (archive == nullptr) throw std::runtime_error("zip_open failed");
    std::vector<std::string> files;  // libzip reads them when it closes
    files.reserve(arrays.size());
    for (const Array& array : arrays) files.push_back(npy_bytes(array));
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        zip_source_t* source = zip_source_buffer(archive, files[i].data(), files[i].size(), 0);
        const zip_int64_t index = zip_file_add(archive, (arrays[i].name + ".npy").c_str(), source, 0);
        if (stored) zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    }
    if (zip_close(archive) != 0) throw std::runtime_error("zip_close failed");
    return path;
}

void expect_error(ErrorCode code, const std::vector<std::string>& parts, const std::function<void()>& action) {
    try {
        action();
        ADD_FAILURE() << "no error was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        for (const std::string& part : parts) EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
}

}  // namespace gnnplan::data::files
