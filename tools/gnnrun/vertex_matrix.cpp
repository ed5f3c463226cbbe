#include "tools/gnnrun/vertex_matrix.hpp"

#include "planner/io/document.hpp"
#include "planner/io/files.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

// Format 1.0 of NumPy's files: a multiple of 64 bytes.
std::string npy_header(std::string_view type, const std::string& shape) {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
    constexpr std::size_t before = 10;
    text.append(63 - (before + text.size()) % 64, ' ');
    text += '\n';
    std::string header = "\x93NUMPY";
    header += '\x01';
    header += '\0';
    header += static_cast<char>(text.size() % 256);
    header += static_cast<char>(text.size() / 256);
    return header + text;
}

std::string matrix_header(std::int64_t rows, std::int64_t columns) {
    return npy_header("<f4", fmt::format("{}, {}", rows, columns));
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Of ranks that hold the same block, the first one writes it.
bool writes(const VertexMatrix& matrix) {
    const Tensor& t = matrix.tensor;
    const Grid& grid = matrix.executor.schedule().grid;
    const auto block = [&](int rank) { return block_of(t.rows, t.columns, t.layout, grid, rank); };
    const Block mine = block(matrix.executor.rank());
    if (mine.rows.empty() || mine.columns.empty()) return false;
    for (int rank = 0; rank < matrix.executor.rank(); ++rank) {
        const Block other = block(rank);
        if (other.rows == mine.rows && other.columns == mine.columns) return false;
    }
    return true;
}

// Calls visit(first, values) for the rows of this rank's block, not too many at a time: they are copied.
template <class Visit>
void visit_rows(const VertexMatrix& matrix, const Visit& visit) {
    constexpr std::int64_t most_rows = 4096;
    const Range rows = matrix.executor.block(matrix.tensor.name).rows;
    for (std::int64_t begin = 0; begin < rows.size(); begin += most_rows) {
        const Range part{begin, std::min(rows.size(), begin + most_rows)};
        visit(Range{rows.begin + part.begin, rows.begin + part.end}, matrix.executor.values(matrix.tensor.name, part));
    }
}

// Whole rows of vertices that follow each other are written together.
void write_block(io::PartWriter& file, std::size_t header, const VertexMatrix& matrix) {
    const Range columns = matrix.executor.block(matrix.tensor.name).columns;
    const bool whole = columns.size() == matrix.tensor.columns;
    visit_rows(matrix, [&](Range rows, const std::vector<float>& values) {
        std::int64_t begin = rows.begin;
        while (begin < rows.end) {
            const std::int64_t vertex = matrix.rows.vertex(begin);
            std::int64_t end = begin + 1;
            while (whole && end < rows.end && matrix.rows.vertex(end) == vertex + (end - begin)) ++end;
            const std::int64_t at = 4 * (vertex * matrix.tensor.columns + columns.begin);
            file.write(static_cast<std::int64_t>(header) + at,
                       bytes_of(values).substr(static_cast<std::size_t>(4 * (begin - rows.begin) * columns.size()),
                                               static_cast<std::size_t>(4 * (end - begin) * columns.size())));
            begin = end;
        }
    });
}

std::string part_file(const char* what, int rank) { return fmt::format("{}-{:05}.npy", what, rank); }

// A file that this rank writes alone.
template <class Write>
void write_file(const std::string& path, const std::string& header, std::int64_t bytes, const Write& write) {
    const io::PartedFile file = io::begin_parted(path, header, static_cast<std::int64_t>(header.size()) + bytes);
    try {
        io::PartWriter writer(file);
        auto at = static_cast<std::int64_t>(header.size());
        write([&](std::string_view part) {
            writer.write(at, part);
            at += static_cast<std::int64_t>(part.size());
        });
        writer.close();
    } catch (...) {
        io::abandon_parted(file);
        throw;
    }
    io::finish_parted(file);
}

void write_part(const VertexMatrix& matrix, const std::string& folder) {
    const Block block = matrix.executor.block(matrix.tensor.name);
    ensure(block.columns.size() == matrix.tensor.columns, "parts are of whole rows");
    const std::int64_t rows = block.rows.size();
    const int rank = matrix.executor.rank();
    write_file(folder + "/" + part_file("vertices", rank), npy_header("<i8", fmt::format("{},", rows)), 8 * rows,
               [&](const auto& add) {
                   std::vector<std::int64_t> vertices(static_cast<std::size_t>(rows));
                   for (std::int64_t i = 0; i < rows; ++i)
                       vertices[static_cast<std::size_t>(i)] = matrix.rows.vertex(block.rows.begin + i);
                   add(bytes_of(vertices));
               });
    write_file(folder + "/" + part_file("part", rank), matrix_header(rows, matrix.tensor.columns),
               4 * rows * matrix.tensor.columns, [&](const auto& add) {
                   visit_rows(matrix, [&](Range, const std::vector<float>& values) { add(bytes_of(values)); });
               });
}

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

std::int64_t vertex_matrix_bytes(std::int64_t vertices, std::int64_t columns) {
    return static_cast<std::int64_t>(matrix_header(vertices, columns).size()) + 4 * vertices * columns;
}

void write_vertex_matrix(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& path) {
    const std::string header = matrix_header(matrix.tensor.rows, matrix.tensor.columns);
    io::PartedFile file;
    comm::agree(comm, [&] {
        if (comm.rank() == 0) {
            file = io::begin_parted(path, header, vertex_matrix_bytes(matrix.tensor.rows, matrix.tensor.columns));
        }
    });
    if (comm.rank() != 0) file.path = path;  // rank 0 knows where a link leads
    file.temporary = comm.control_all_gather(file.temporary).front();
    try {
        comm::agree(comm, [&] {
            if (!writes(matrix)) return;
            io::PartWriter writer(file);
            write_block(writer, header.size(), matrix);
            writer.close();
        });
    } catch (...) {
        if (comm.rank() == 0) io::abandon_parted(file);
        throw;
    }
    comm::agree(comm, [&] {
        if (comm.rank() == 0) io::finish_parted(file);
    });
}

std::string index_of_parts(const std::string& folder) { return folder + "/index.json"; }

std::int64_t write_vertex_parts(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& folder) {
    comm::agree(comm, [&] { std::filesystem::create_directories(folder); });
    const bool mine = writes(matrix);
    comm::agree(comm, [&] {
        if (mine) write_part(matrix, folder);
    });
    const std::int64_t rows = mine ? matrix.executor.block(matrix.tensor.name).rows.size() : 0;
    const std::vector<std::string> all = comm.control_all_gather(std::to_string(rows));
    std::int64_t bytes = 0, rows_of_all = 0;
    io::Document parts = io::Document::array();
    for (int rank = 0; rank < comm.size(); ++rank) {
        const std::int64_t of_rank = std::stoll(all[static_cast<std::size_t>(rank)]);
        if (of_rank == 0) continue;
        parts.push(io::Document::object(
            {{"rows", of_rank}, {"values", part_file("part", rank)}, {"vertices", part_file("vertices", rank)}}));
        rows_of_all += of_rank;
        bytes += vertex_matrix_bytes(of_rank, matrix.tensor.columns) +
                 static_cast<std::int64_t>(npy_header("<i8", fmt::format("{},", of_rank)).size()) + 8 * of_rank;
    }
    ensure(rows_of_all == matrix.tensor.rows, "every vertex is in one part");
    comm::agree(comm, [&] {
        if (comm.rank() != 0) return;
        const io::Document index = io::Document::object({{"format", "gnnplan.embeddings/1"},
                                                         {"vertices", matrix.tensor.rows},
                                                         {"columns", matrix.tensor.columns},
                                                         {"parts", parts}});
        io::write_file_atomically(index_of_parts(folder), io::dump(index, 2) + "\n");
    });
    return bytes;
}

VertexMatrixFile::VertexMatrixFile(std::string path, std::int64_t vertices, std::int64_t columns)
    : path_(std::move(path)), columns_(columns), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) throw Error(ErrorCode::missing_input, "cannot open: " + reason(errno), path_);
    const std::string header = matrix_header(vertices, columns);
    header_bytes_ = static_cast<std::int64_t>(header.size());
    std::string found(header.size(), '\0');
    struct stat status {};
    // O_NONBLOCK: a pipe would be waited for.
    const bool readable =
        ::pread(descriptor_, found.data(), found.size(), 0) >= 0 && ::fstat(descriptor_, &status) == 0;
    const std::int64_t expected = vertex_matrix_bytes(vertices, columns);
    std::string what;
    if (!readable || found != header) {
        what = fmt::format("is no .npy of {} x {} floats", vertices, columns);
    } else if (status.st_size != expected) {
        what = fmt::format("has {} bytes, where {} belong", status.st_size, expected);
    }
    if (what.empty()) return;
    ::close(descriptor_);
    throw Error(ErrorCode::data, what, path_);
}

VertexMatrixFile::~VertexMatrixFile() { ::close(descriptor_); }

void VertexMatrixFile::read(const train::OutputRows& rows, Range part, Range columns, float* values) const {
    const bool whole = columns.size() == columns_;
    std::int64_t begin = part.begin;
    while (begin < part.end) {
        const std::int64_t vertex = rows.vertex(begin);
        std::int64_t end = begin + 1;
        while (whole && end < part.end && rows.vertex(end) == vertex + (end - begin)) ++end;
        const auto count = static_cast<std::size_t>((end - begin) * columns.size());
        read(vertex, columns, {values, count});
        values += count;
        begin = end;
    }
}

void VertexMatrixFile::read(std::int64_t vertex, Range columns, std::span<float> values) const {
    auto* out = reinterpret_cast<char*>(values.data());
    std::size_t left = values.size_bytes();
    std::int64_t at = header_bytes_ + 4 * (vertex * columns_ + columns.begin);
    while (left > 0) {
        const ssize_t count = ::pread(descriptor_, out, left, at);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) throw Error(ErrorCode::io, count < 0 ? "cannot read: " + reason(errno) : "is cut off", path_);
        out += count;
        at += count;
        left -= static_cast<std::size_t>(count);
    }
}

}  // namespace gnnplan::tools
