#include "runtime/run/vertex_matrix.hpp"

#include "planner/io/document.hpp"
#include "planner/io/draft.hpp"
#include "planner/io/files.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace gnnplan::run {
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

// Visits rows that are written: all their values pass through here.
template <class Visit>
void visit_written(const VertexMatrix& matrix, ValuesSeen& seen, const Visit& visit) {
    const Range columns = matrix.executor.block(matrix.tensor.name).columns;
    visit_rows(matrix, [&](Range rows, const std::vector<float>& values) {
        seen.look(matrix.rows, rows, columns, values);
        visit(rows, values);
    });
}

// Throws if any value is not finite: files with such values are not written.
void refuse_not_finite(comm::Communicator& comm, const ValuesSeen& seen, const std::string& path) {
    if (const std::optional<NotFinite> found = seen.not_finite(comm)) throw NotFiniteError(*found, path);
}

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

std::string part_file(const char* what, int rank) { return fmt::format("{}-{:05}.npy", what, rank); }

// The files that a rank writes alone into a folder.
struct RankFiles {
    std::string vertices, values;
    io::Draft draft_of_vertices, draft_of_values;

    RankFiles(const std::string& folder, int rank)
        : vertices(folder + "/" + part_file("vertices", rank)),
          values(folder + "/" + part_file("part", rank)),
          draft_of_vertices(io::target_of(vertices)),
          draft_of_values(io::target_of(values)) {}

    void publish() {
        draft_of_vertices.publish();
        draft_of_values.publish();
    }
    void remove() const {
        for (const std::string& file : {vertices, values}) ::unlink(file.c_str());
    }
};

// Writes a whole draft: the header, and behind it the parts that write(add) hands to add(part).
template <class Write>
void write_draft(io::Draft& draft, const std::string& path, const std::string& header, std::int64_t bytes,
                 const Write& write) {
    auto at = static_cast<std::int64_t>(header.size());
    draft.begin(header, at + bytes);
    io::PartWriter writer(path, draft.place());
    write([&](std::string_view part) {
        writer.write(at, part);
        at += static_cast<std::int64_t>(part.size());
    });
    writer.close();
}

std::string vertices_header(std::int64_t rows) { return npy_header("<i8", fmt::format("{},", rows)); }

void write_part(const VertexMatrix& matrix, RankFiles& files, ValuesSeen& seen) {
    const Block block = matrix.executor.block(matrix.tensor.name);
    ensure(block.columns.size() == matrix.tensor.columns, "parts are of whole rows");
    const std::int64_t rows = block.rows.size();
    write_draft(files.draft_of_vertices, files.vertices, vertices_header(rows), 8 * rows, [&](const auto& add) {
        std::vector<std::int64_t> vertices(static_cast<std::size_t>(rows));
        for (std::int64_t i = 0; i < rows; ++i)
            vertices[static_cast<std::size_t>(i)] = matrix.rows.vertex(block.rows.begin + i);
        add(bytes_of(vertices));
    });
    write_draft(files.draft_of_values, files.values, matrix_header(rows, matrix.tensor.columns),
                4 * rows * matrix.tensor.columns, [&](const auto& add) {
                    visit_written(matrix, seen,
                                  [&](Range, const std::vector<float>& values) { add(bytes_of(values)); });
                });
}

// Throws unless rank 0 finds both files of a rank in the folder, and both are whole.
void check_part(const std::string& folder, int rank, std::int64_t rows, std::int64_t columns) {
    try {
        const VertexMatrixFile values(folder + "/" + part_file("part", rank), rows, columns);
        const std::string vertices = folder + "/" + part_file("vertices", rank);
        std::error_code failure;
        const auto bytes = std::filesystem::file_size(vertices, failure);
        if (failure) throw Error(ErrorCode::io, "cannot open: " + failure.message(), vertices);
        if (bytes != vertices_header(rows).size() + 8 * static_cast<std::size_t>(rows))
            throw Error(ErrorCode::io, "is not whole", vertices);
    } catch (const Error& error) {
        throw Error(ErrorCode::io,
                    fmt::format("rank {} has written its rows, and rank 0 does not find them: {}", rank, error.what()),
                    folder, "name a folder that all ranks share");
    }
}

// Writes index.json, which lists the ranks and how many rows each has.
void write_index(const std::string& folder, const Tensor& tensor, const std::vector<std::int64_t>& rows) {
    io::Document parts = io::Document::array();
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
        if (rows[rank] == 0) continue;
        const auto number = static_cast<int>(rank);
        check_part(folder, number, rows[rank], tensor.columns);
        parts.push(io::Document::object({{"rows", rows[rank]},
                                         {"values", part_file("part", number)},
                                         {"vertices", part_file("vertices", number)}}));
    }
    const io::Document index = io::Document::object(
        {{"schema", "gnnplan.embeddings/1"}, {"vertices", tensor.rows}, {"columns", tensor.columns}, {"parts", parts}});
    io::write_file_atomically(index_of_parts(folder), io::dump(index, 2) + "\n");
}

}  // namespace

bool answers_for_block(const exec::Executor& executor, const Tensor& t) {
    const auto block = [&](int rank) { return block_of(executor.schedule(), t, rank); };
    const Block mine = block(executor.rank());
    if (mine.rows.empty() || mine.columns.empty()) return false;
    for (int rank = 0; rank < executor.rank(); ++rank) {
        const Block other = block(rank);
        if (other.rows == mine.rows && other.columns == mine.columns) return false;
    }
    return true;
}

void visit_rows(const VertexMatrix& matrix,
                const std::function<void(Range rows, const std::vector<float>& values)>& visit) {
    constexpr std::int64_t most_rows = 4096;
    const Block block = matrix.executor.block(matrix.tensor.name);
    for (std::int64_t begin = 0; begin < block.rows.size(); begin += most_rows) {
        const Range part{begin, std::min(block.rows.size(), begin + most_rows)};
        visit({block.rows.begin + part.begin, block.rows.begin + part.end},
              matrix.executor.values(matrix.tensor.name, part));
    }
}

std::int64_t vertex_matrix_bytes(std::int64_t vertices, std::int64_t columns) {
    return static_cast<std::int64_t>(matrix_header(vertices, columns).size()) + 4 * vertices * columns;
}

NotFiniteError::NotFiniteError(const NotFinite& values, const std::string& path)
    : AgreedError(
          ErrorCode::answer_no,
          fmt::format("{} of the values are not finite, of {} {}, the first of them vertex {}: nothing is written",
                      values.values, values.vertices, values.vertices == 1 ? "vertex" : "vertices",
                      values.first_vertex),
          path),
      found(values) {}

void write_vertex_matrix(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& path,
                         const std::function<void(const std::string& hash)>& before_named) {
    const std::string header = matrix_header(matrix.tensor.rows, matrix.tensor.columns);
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

std::string index_of_parts(const std::string& folder) { return folder + "/index.json"; }

bool is_part(const std::string& name) {
    constexpr std::string_view ending = ".npy";
    for (const std::string_view what : {"part-", "vertices-"}) {
        if (!name.starts_with(what) || !name.ends_with(ending) || name.size() <= what.size() + ending.size()) continue;
        const std::string_view number =
            std::string_view(name).substr(what.size(), name.size() - what.size() - ending.size());
        return number.find_first_not_of("0123456789") == std::string_view::npos;
    }
    return false;
}

std::int64_t write_vertex_parts(comm::Communicator& comm, const VertexMatrix& matrix, const std::string& folder) {
    std::optional<RankFiles> files;
    ValuesSeen seen(matrix.tensor.columns);
    comm::agree(comm, [&] {
        if (!answers_for_block(matrix.executor, matrix.tensor)) return;
        files.emplace(folder, comm.rank());
        write_part(matrix, *files, seen);
    });
    refuse_not_finite(comm, seen, folder);
    const std::int64_t mine = files ? matrix.executor.block(matrix.tensor.name).rows.size() : 0;
    std::vector<std::int64_t> rows;
    std::int64_t bytes = 0;
    for (const std::string& text : comm.control_all_gather(std::to_string(mine))) {
        rows.push_back(std::stoll(text));
        if (rows.back() == 0) continue;
        bytes += vertex_matrix_bytes(rows.back(), matrix.tensor.columns) +
                 static_cast<std::int64_t>(vertices_header(rows.back()).size()) + 8 * rows.back();
    }
    ensure(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) == matrix.tensor.rows,
           "every vertex is in one part");
    try {
        comm::agree(comm, [&] {
            if (files) files->publish();
        });
        comm::agree(comm, [&] {
            if (comm.rank() == 0) write_index(folder, matrix.tensor, rows);
        });
    } catch (...) {
        if (files) files->remove();
        throw;
    }
    return bytes;
}

VertexMatrixFile::VertexMatrixFile(std::string path, std::int64_t vertices, std::int64_t columns)
    : path_(std::move(path)), columns_(columns), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) throw Error(ErrorCode::missing_input, "cannot open: " + io::system_reason(errno), path_);
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
