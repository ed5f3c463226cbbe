// Folders of .npy files, as of IGB, MAG240M and everything that numpy.save writes.
#pragma once

#include "runtime/read/array_archive.hpp"
#include "runtime/read/source.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gnnplan::data {

// Arrays are called by their files' names without ".npy". Files of the folder and of its folders count, so that IGB's
// "paper/node_feat.npy" beside "paper__cites__paper/edge_index.npy" is one archive.
class NpyFolder final : public ArrayArchive {
public:
    // Throws ErrorCode::data when two files have one name, as those of graphs with several kinds of edges do.
    explicit NpyFolder(const std::filesystem::path& folder);

    const char* form() const override { return "folder of .npy arrays"; }
    std::vector<std::string> arrays() const override;
    bool has(const std::string& array) const override { return files_.contains(array); }
    NpyReader open(const std::string& array) const override;

private:
    std::map<std::string, std::filesystem::path> files_;
};

// True of folders that hold the edges of a graph as .npy files: edge_index, or a SciPy matrix.
bool is_npy_folder(const Source& source);

}  // namespace gnnplan::data
