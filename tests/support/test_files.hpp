// Small input files in a folder that goes away, and the check for errors about them.
#pragma once

#include "tests/support/temporary_folder.hpp"

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace gnnplan::data::files {

class TempFolder : public test::TemporaryFolder {
public:
    // Writes a file, gzipped when its name ends in .gz, and returns its path. Folders are created.
    std::filesystem::path write(const std::string& name, const std::string& content) const;
};

std::string read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

// An array of an archive: the bytes need not fit the shape.
struct Array {
    std::string name;
    std::string type;
    std::vector<std::int64_t> shape;
    std::string bytes;
    bool fortran_order = false;
};

// The array as NumPy saves it.
std::string npy_bytes(const Array& array);

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
    return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(T)};
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// An archive "graph.npz" in the folder, made with libzip alone; `stored`: as numpy.savez makes it, not compressed.
std::filesystem::path write_npz(const TempFolder& folder, const std::vector<Array>& arrays, bool stored = false);

// Runs `action` and expects an Error of this code whose message holds all of `parts`.
void expect_error(ErrorCode code, const std::vector<std::string>& parts, const std::function<void()>& action);

}  // namespace gnnplan::data::files
