#include "runtime/run/vertex_matrix.hpp"

#include "planner/io/draft.hpp"
#include "planner/io/files.hpp"
#include "runtime/run/npy.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnplan::run {
namespace {

// Whole rows of vertices that follow each other are written together.
void write_block(io::PartWriter& file, std::size_t header, const VertexMatrix& matrix, ValuesSeen& seen) {
    const Range columns = matrix.executor.block(matrix.tensor.name).columns;
    const bool whole = columns.size() == matrix.tensor.columns;
    visit_written(matrix, seen, [&](Range rows, const std::vector<float>& values) {
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

}  // namespace

std::int64_t vertex_matrix_bytes(std::int64_t vertices, std::int64_t columns) {
    return static_cast<std::int64_t>(npy_matrix_header(vertices, columns).size()) + 4 * vertices * columns;
}

void write_vertex_matrix(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& path,
                         const std::function<void(const std::string& hash)>& before_named) {
    const std::string header = npy_matrix_header(matrix.tensor.rows, matrix.tensor.columns);
    std::optional<io::Draft> draft;
    std::string place;
    comm::agree(comm, [&] {
        if (comm.rank() != 0) return;
        const io::Target target = io::target_of(path);
        if (target.direct) throw Error(ErrorCode::cannot_create, "not a regular file, which ranks could share", path);
        draft.emplace(target, matrix.one_process ? io::Draft::Use::alone : io::Draft::Use::shared);
        draft->begin(header, vertex_matrix_bytes(matrix.tensor.rows, matrix.tensor.columns));
        place = draft->place();
    });
    place = comm.control_all_gather(place).front();
    ValuesSeen seen(matrix.tensor.columns);
    comm::agree(comm, [&] {
        if (!answers_for_block(matrix.executor, matrix.tensor)) return;
        if (!matrix.one_process) place = io::beside(path, std::filesystem::path(place).filename().string());
        io::PartWriter writer(path, place);
        write_block(writer, header.size(), matrix, seen);
        writer.close();
    });
    refuse_not_finite(comm, seen, path);
    const std::string hash = before_named ? seen.hash(comm) : "";
    comm::agree(comm, [&] {
        if (comm.rank() != 0) return;
        if (before_named) before_named(hash);
        draft->publish();
    });
}

VertexMatrixFile::VertexMatrixFile(std::string path, std::int64_t vertices, std::int64_t columns)
    : path_(std::move(path)), columns_(columns), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) throw Error(ErrorCode::missing_input, "cannot open: " + io::system_reason(errno), path_);
    const std::string header = npy_matrix_header(vertices, columns);
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

void VertexMatrixFile::read(const deploy::OutputRows& rows, Range part, Range columns, float* values) const {
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
        if (count <= 0)
            throw Error(ErrorCode::io, count < 0 ? "cannot read: " + io::system_reason(errno) : "is cut off", path_);
        out += count;
        at += count;
        left -= static_cast<std::size_t>(count);
    }
}

std::string read_vertex_matrix(comm::Communicator& comm, exec::Executor& executor, TensorId tensor,
                               const deploy::OutputRows& rows, const std::string& path) {
    const Tensor& t = tensor_of(executor.schedule(), tensor);
    const Range columns = executor.block(tensor).columns;
    ValuesSeen seen(t.columns);
    comm::agree(comm, [&] {
        const VertexMatrixFile file(path, t.rows, t.columns);
        const bool counts = answers_for_block(executor, t);
        executor.load(tensor, [&](Range part, float* values) {
            file.read(rows, part, columns, values);
            const auto count = static_cast<std::size_t>(part.size() * columns.size());
            if (counts) seen.look(rows, part, columns, {values, count});
        });
    });
    return seen.hash(comm);
}

}  // namespace gnnplan::run
