#include "runtime/run/vertex_parts.hpp"

#include "planner/io/document.hpp"
#include "planner/io/draft.hpp"
#include "planner/io/files.hpp"
#include "runtime/run/npy.hpp"
#include "runtime/run/vertex_matrix.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace gnnplan::run {
namespace {

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

void write_part(const VertexMatrix& matrix, RankFiles& files, ValuesSeen& seen) {
    const Block block = matrix.executor.block(matrix.tensor.name);
    ensure(block.columns.size() == matrix.tensor.columns, "parts are of whole rows");
    const std::int64_t rows = block.rows.size();
    write_draft(files.draft_of_vertices, files.vertices, npy_list_header(rows), 8 * rows, [&](const auto& add) {
        std::vector<std::int64_t> vertices(static_cast<std::size_t>(rows));
        for (std::int64_t i = 0; i < rows; ++i)
            vertices[static_cast<std::size_t>(i)] = matrix.rows.vertex(block.rows.begin + i);
        add(bytes_of(vertices));
    });
    write_draft(files.draft_of_values, files.values, npy_matrix_header(rows, matrix.tensor.columns),
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
        if (bytes != npy_list_header(rows).size() + 8 * static_cast<std::size_t>(rows))
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
                 static_cast<std::int64_t>(npy_list_header(rows.back()).size()) + 8 * rows.back();
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

}  // namespace gnnplan::run
