#include "runtime/read/foreign_binary.hpp"

#include <cstddef>
#include <string_view>

namespace gnnplan::data {
namespace {

using std::string_view_literals::operator""sv;

struct Magic {
    std::size_t at;
    std::string_view bytes;
    ForeignBinary file;
};

constexpr ForeignBinary pytorch{
    "a file of torch.save (.pt), which may run any code when it is loaded",
    "if you trust it, load it in Python and save its arrays: data = torch.load(FILE, weights_only=False); "
    "np.savez('graph.npz', edge_index=data.edge_index, x=data.x, y=data.y, train_mask=data.train_mask, ...)"};

constexpr Magic magics[] = {
    {0,
     "PAR1"sv,
     {"a Parquet file",
      "save its edges as CSV: pandas.read_parquet(FILE)[['source', 'target']].to_csv('edges.csv', index=False)"}},
    {0,
     "ARROW1"sv,
     {"an Arrow (Feather) file",
      "save its edges as CSV: pandas.read_feather(FILE)[['source', 'target']].to_csv('edges.csv', index=False)"}},
    {0,
     "\x89HDF\r\n\x1a\n"sv,
     {"an HDF5 file",
      "save its arrays in Python: f = h5py.File(FILE); np.savez('graph.npz', edge_index=f['edge_index'][:], ...)"}},
    {0,
     "MATLAB 5.0 MAT-file"sv,
     {"a MATLAB file",
      "take the Matrix Market file that SuiteSparse has of the same matrix, or save the matrix in Python: "
      "scipy.sparse.save_npz('graph.npz', scipy.io.loadmat(FILE)['A'].tocsr())"}},
    {0,
     "\x3F\xA1\xB4\x46\xF0\x4F\x2E\xDD"sv,
     {"a file of dgl.save_graphs (.bin)",
      "save its arrays in Python: g = dgl.load_graphs(FILE)[0][0]; np.savez('graph.npz', "
      "edge_index=torch.stack(g.edges()), x=g.ndata['feat'], y=g.ndata['label'], ...)"}},
    {257,
     "ustar"sv,
     {"a tar archive",
      "unpack it with tar -xf FILE, and give the file or folder in it; archives of SuiteSparse hold an .mtx"}},
    {0, "BZh"sv, {"a bzip2 file", "unpack it: bunzip2 FILE"}},
    {0,
     "\xFD"
     "7zXZ\0"sv,
     {"an xz file", "unpack it: unxz FILE"}},
    {0, "\x28\xB5\x2F\xFD"sv, {"a Zstandard file", "unpack it: unzstd FILE"}},
    {0, "7z\xBC\xAF\x27\x1C"sv, {"a 7-Zip archive", "unpack it: 7z x FILE"}},
};

// torch.save writes a zip archive whose first member is data.pkl, in a folder.
bool is_pytorch(std::string_view head) {
    constexpr std::size_t name_at = 30, length_at = 26;
    if (!head.starts_with("PK\x03\x04") || head.size() < name_at) return false;
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(head[length_at]));
    return head.substr(name_at, length).ends_with("data.pkl");
}

}  // namespace

ForeignBinary foreign_binary(const Source& source) {
    const std::string_view head = source.head;
    for (const Magic& magic : magics) {
        if (head.size() >= magic.at && head.substr(magic.at).starts_with(magic.bytes)) return magic.file;
    }
    return is_pytorch(head) ? pytorch : ForeignBinary{};
}

}  // namespace gnnplan::data
