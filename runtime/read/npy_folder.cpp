#include "runtime/read/npy_folder.hpp"

#include "runtime/read/npz.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

// The .npy files of a folder and of its folders, by name. None of a folder that cannot be read.
std::vector<fs::path> npy_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code failed;
    const auto add = [&](const fs::path& path) {
        if (path.extension() == ".npy" && fs::is_regular_file(path, failed)) files.push_back(path);
    };
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        add(entry.path());
        if (!fs::is_directory(entry.path(), failed)) continue;
        for (const auto& inner : fs::directory_iterator(entry.path(), failed)) add(inner.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

NpyFolder::NpyFolder(const fs::path& folder) : ArrayArchive(folder.string()) {
    for (const fs::path& file : npy_files(folder)) {
        const auto [known, is_new] = files_.try_emplace(file.stem().string(), file);
        if (is_new) continue;
        throw Error(ErrorCode::data,
                    "there are two arrays of the name " + file.stem().string() + ": " +
                        fs::relative(known->second, folder).string() + " and " + fs::relative(file, folder).string(),
                    name(),
                    "a graph has one kind of vertices and of edges: link the arrays of one kind into a folder of "
                    "their own");
    }
}

std::vector<std::string> NpyFolder::arrays() const {
    std::vector<std::string> names;
    names.reserve(files_.size());
    for (const auto& [array, file] : files_) names.push_back(array);
    return names;
}

NpyReader NpyFolder::open(const std::string& array) const {
    const auto found = files_.find(array);
    if (found == files_.end())
        throw Error(ErrorCode::data, "the folder has no array of this name", name() + ":" + array);
    std::unique_ptr<InputStream> input = open_input(found->second);
    const std::optional<std::int64_t> bytes = input->size();
    return {std::move(input), bytes};
}

bool is_npy_folder(const Source& source) {
    if (!source.folder) return false;
    const std::vector<fs::path> files = npy_files(source.path);
    return std::any_of(files.begin(), files.end(), [](const fs::path& file) {
        const std::string array = file.stem().string();
        return array == "edge_index" || array == "indptr" || array == "row";
    });
}

std::unique_ptr<ArrayArchive> open_arrays(const fs::path& path) {
    std::error_code failed;
    if (fs::is_directory(path, failed)) return std::make_unique<NpyFolder>(path);
    return std::make_unique<NpzArchive>(path);
}

}  // namespace gnnplan::data
