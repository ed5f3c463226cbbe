#include "runtime/read/foreign_file.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

constexpr ForeignFile foreign_files[] = {
    {"PAR1", ".parquet", "a Parquet file",
     "convert it: t = pandas.read_parquet(FILE); numpy.savez(\"graph.npz\", edge_index=t[[\"source\", "
     "\"target\"]].to_numpy().T), with the names of its two columns of ids"},
    {"ARROW1", ".feather", "an Arrow file",
     "convert it: t = pandas.read_feather(FILE); numpy.savez(\"graph.npz\", edge_index=t[[\"source\", "
     "\"target\"]].to_numpy().T), with the names of its two columns of ids"},
    {"\x89HDF\r\n", ".h5", "an HDF5 file",
     "convert it: f = h5py.File(FILE); numpy.savez(\"graph.npz\", edge_index=f[\"edge_index\"][:]), with its own "
     "names"},
    {"MATLAB ", ".mat", "a MATLAB file",
     "convert it: scipy.sparse.save_npz(\"graph.npz\", scipy.io.loadmat(FILE)[\"A\"].tocsr()), with the name of its "
     "matrix"},
    // Archives of PyTorch begin with this member; its place is looked for, as the archive's name is a part of it.
    {"/data.pkl", ".pt", "a PyTorch file; Python pickles are never loaded",
     "convert it in Python: numpy.savez(\"graph.npz\", edge_index=data.edge_index, x=data.x, y=data.y, "
     "train_mask=data.train_mask, val_mask=data.val_mask, test_mask=data.test_mask)"},
    {"", "metadata.yaml", "an on-disk data set of DGL",
     "link its arrays into a folder under the names of docs/data.md: edge_index.npy, x.npy, y.npy, train_idx.npy"},
};

bool begins_as(std::string_view head, const ForeignFile& form) {
    const std::string_view begin = form.begin;
    if (begin.starts_with('/')) return head.starts_with("PK") && head.find(begin) != std::string_view::npos;
    return !begin.empty() && head.starts_with(begin);
}

bool holds_file(const fs::path& folder, const ForeignFile& form) {
    std::error_code failed;
    return std::any_of(fs::directory_iterator(folder, failed), fs::directory_iterator(),
                       [&](const auto& entry) { return entry.path().filename().string().ends_with(form.suffix); });
}

}  // namespace

const ForeignFile* foreign_file(const Source& source) {
    const auto* const found = std::ranges::find_if(foreign_files, [&](const ForeignFile& form) {
        return source.folder ? holds_file(source.path, form) : begins_as(source.head, form);
    });
    return found == std::end(foreign_files) ? nullptr : found;
}

}  // namespace gnnplan::data
