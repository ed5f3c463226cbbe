// NumPy archives: zip files whose members are .npy arrays.
#pragma once

#include "runtime/read/array_archive.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct zip;

namespace gnnplan::data {

class NpzArchive final : public ArrayArchive {
public:
    // Throws ErrorCode::missing_input when the file cannot be opened, ErrorCode::data when it is no zip archive,
    // or holds two members of one name.
    explicit NpzArchive(const std::filesystem::path& path);
    // An archive in memory that outlives this.
    NpzArchive(std::string name, std::span<const char> bytes);

    const char* form() const override { return "NumPy .npz data set"; }
    std::vector<std::string> arrays() const override;  // without ".npy"
    bool has(const std::string& array) const override;
    NpyReader open(const std::string& array) const override;

private:
    std::vector<std::string> members() const;
    void refuse_doubles() const;

    std::shared_ptr<zip> archive_;
};

}  // namespace gnnplan::data
