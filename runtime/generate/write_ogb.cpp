#include "runtime/generate/write_forms.hpp"

#include <gnnplan/base/error.hpp>

#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <vector>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

// Numbers as gzipped text, level 1.
class GzipText {
public:
    explicit GzipText(const fs::path& path) : name_(path.string()), file_(gzopen(path.c_str(), "wb1")) {
        if (file_ == nullptr)
            throw Error(ErrorCode::cannot_create, std::string("cannot create: ") + std::strerror(errno), name_);
        gzbuffer(file_, 256 * 1024);
    }
    GzipText(const GzipText&) = delete;
    GzipText& operator=(const GzipText&) = delete;
    ~GzipText() {
        if (file_ != nullptr) gzclose(file_);
    }

    template <class Number>
    void put(Number value, char separator) {
        if (used_ + longest_number > buffer_.size()) flush();
        char* begin = buffer_.data() + used_;
        char* stop = std::to_chars(begin, begin + longest_number - 1, value).ptr;
        *stop = separator;
        used_ += static_cast<std::size_t>(stop - begin) + 1;
    }

    void close() {
        flush();
        const int status = gzclose(file_);
        file_ = nullptr;
        if (status != Z_OK) fail();
    }

private:
    static constexpr std::size_t longest_number = 32;

    void flush() {
        if (used_ > 0 && gzwrite(file_, buffer_.data(), static_cast<unsigned>(used_)) == 0) fail();
        used_ = 0;
    }

    [[noreturn]] void fail() const {
        throw Error(ErrorCode::io, std::string("write failed: ") + std::strerror(errno), name_);
    }

    std::string name_;
    gzFile file_;
    std::size_t used_ = 0;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 15);
};

void create_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw Error(ErrorCode::cannot_create, "cannot create the folder: " + error.message(), path.string());
}

void write_count(const fs::path& path, std::int64_t count) {
    GzipText text(path);
    text.put(count, '\n');
    text.close();
}

void write_features(const GeneratedGraph& graph, const fs::path& path) {
    GzipText text(path);
    const auto fill = feature_rows(graph);
    std::vector<float> row(static_cast<std::size_t>(graph.features));
    for (std::int64_t v = 0; v < graph.vertices; ++v) {
        fill(v, row.data());
        for (std::size_t j = 0; j < row.size(); ++j) text.put(row[j], j + 1 < row.size() ? ',' : '\n');
    }
    text.close();
}

}  // namespace

void write_ogb(const GeneratedGraph& graph, const fs::path& folder) {
    create_folder(folder / "raw");
    GzipText edges(folder / "raw/edge.csv.gz");
    graph.edges.for_each([&](Edge e) {
        edges.put(e.from, ',');
        edges.put(e.to, '\n');
    });
    edges.close();
    write_count(folder / "raw/num-node-list.csv.gz", graph.vertices);
    write_count(folder / "raw/num-edge-list.csv.gz", graph.edges.size());
    if (graph.features == 0) return;

    write_features(graph, folder / "raw/node-feat.csv.gz");
    GzipText labels(folder / "raw/node-label.csv.gz");
    for (const std::int32_t label : graph.labels) labels.put(label, '\n');
    labels.close();
    create_folder(folder / "split/random");
    constexpr const char* files[] = {"train.csv.gz", "valid.csv.gz", "test.csv.gz"};
    for (std::uint8_t s = 0; s < 3; ++s) {
        GzipText list(folder / "split/random" / files[s]);
        for (std::size_t v = 0; v < graph.subset.size(); ++v) {
            if (graph.subset[v] == s) list.put(static_cast<std::int64_t>(v), '\n');
        }
        list.close();
    }
}

}  // namespace gnnplan::data
