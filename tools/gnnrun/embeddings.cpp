#include "tools/gnnrun/embeddings.hpp"

#include "planner/io/files.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <span>

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

// Rows whose vertices follow each other are written together.
void write_rows(io::PartWriter& file, std::size_t header, std::span<const float> values, const train::OutputRows& rows,
                Range block, std::int64_t columns) {
    std::int64_t begin = 0;
    while (begin < block.size()) {
        const std::int64_t vertex = rows.vertex(begin, block.begin);
        std::int64_t end = begin + 1;
        while (end < block.size() && rows.vertex(end, block.begin) == vertex + (end - begin)) ++end;
        const std::span<const float> part = values.subspan(static_cast<std::size_t>(begin * columns),
                                                           static_cast<std::size_t>((end - begin) * columns));
        file.write(static_cast<std::int64_t>(header) + vertex * columns * 4,
                   {reinterpret_cast<const char*>(part.data()), part.size_bytes()});
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
            write_rows(writer, header.size(), executor.values(outputs.name), rows, block, outputs.columns);
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
