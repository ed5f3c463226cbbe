// NumPy archives: zip files whose members are .npy arrays.
#pragma once

#include "runtime/read/npy.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct zip;

namespace gnnplan::data {

class NpzArchive {
public:
    // Throws ErrorCode::missing_input when the file cannot be opened, ErrorCode::data when it is no zip archive,
    // or holds two members of one name.
    explicit NpzArchive(const std::filesystem::path& path);
    // An archive in memory that outlives this.
    NpzArchive(std::string name, std::span<const char> bytes);

    const std::string& name() const { return name_; }
    std::vector<std::string> arrays() const;  // without ".npy"
    bool has(const std::string& array) const;
    // A new stream over the array; several may be read in turn. Keeps the archive open.
    NpyReader open(const std::string& array) const;

private:
    std::vector<std::string> members() const;
    void refuse_doubles() const;

    std::string name_;
    std::shared_ptr<zip> archive_;
};

}  // namespace gnnplan::data
