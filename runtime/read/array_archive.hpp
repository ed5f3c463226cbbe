// Named NumPy arrays: the members of an .npz archive, or the .npy files of a folder.
#pragma once

#include "runtime/read/npy.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace gnnplan::data {

class ArrayArchive {
public:
    explicit ArrayArchive(std::string name) : name_(std::move(name)) {}
    virtual ~ArrayArchive() = default;
    ArrayArchive(const ArrayArchive&) = delete;
    ArrayArchive& operator=(const ArrayArchive&) = delete;

    const std::string& name() const { return name_; }  // for messages: the path
    virtual const char* form() const = 0;              // "NumPy .npz data set"
    virtual std::vector<std::string> arrays() const = 0;
    virtual bool has(const std::string& array) const = 0;
    // A new stream over the array; several may be read in turn, and outlive this. Throws ErrorCode::data where there is
    // none of this name.
    virtual NpyReader open(const std::string& array) const = 0;

private:
    std::string name_;
};

// The archive, or the folder, at `path`. Throws as the constructors of NpzArchive and NpyFolder do.
std::unique_ptr<ArrayArchive> open_arrays(const std::filesystem::path& path);

}  // namespace gnnplan::data
