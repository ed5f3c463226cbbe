#include "tools/gnnrun/embeddings.hpp"

#include "planner/io/files.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gnnplan::tools {
namespace {

// Format 1.0 of NumPy's files: a multiple of 64 bytes.
std::string npy_header(std::int64_t rows, std::int64_t columns) {
    std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(columns) + "), }";
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

// Rows whose vertices follow each other are written together, not too many at a time: they are copied.
void write_rows(io::PartWriter& file, std::size_t header, const exec::Executor& executor, const Tensor& outputs,
                const train::OutputRows& rows, Range block) {
    constexpr std::int64_t most_rows = 4096;
    std::int64_t begin = 0;
    while (begin < block.size()) {
        const std::int64_t vertex = rows.vertex(begin, block.begin);
        const std::int64_t last = std::min(block.size(), begin + most_rows);
        std::int64_t end = begin + 1;
        while (end < last && rows.vertex(end, block.begin) == vertex + (end - begin)) ++end;
        const std::vector<float> part = executor.values(outputs.name, {begin, end});
        file.write(static_cast<std::int64_t>(header) + vertex * outputs.columns * 4,
                   {reinterpret_cast<const char*>(part.data()), part.size() * sizeof(float)});
        begin = end;
    }
}

}  // namespace

void write_embeddings(comm::Communicator& comm, const exec::Executor& executor, const train::OutputRows& rows,
                      const std::string& path) {
    const Schedule& schedule = executor.schedule();
    const Tensor& outputs = train::outputs_of(schedule);
    const std::string header = npy_header(outputs.rows, outputs.columns);
    io::PartedFile file;
    comm::agree(comm, [&] {
        if (comm.rank() == 0) {
            const auto bytes = static_cast<std::int64_t>(header.size()) + 4 * outputs.rows * outputs.columns;
            file = io::begin_parted(path, header, bytes);
        }
    });
    file.path = path;
    file.temporary = comm.control_all_gather(file.temporary).front();
    try {
        comm::agree(comm, [&] {
            const Range block = train::output_rows(schedule, comm.rank());
            io::PartWriter writer(file);
            write_rows(writer, header.size(), executor, outputs, rows, block);
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

}  // namespace gnnplan::tools
