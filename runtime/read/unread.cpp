#include "runtime/read/unread.hpp"

#include "runtime/read/npz.hpp"
#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/npz_edges.hpp"
#include "runtime/read/npz_names.hpp"
#include "runtime/read/ogb.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

// Makes names safe to print: data of unknown origin chose them, and terminals obey control characters.
std::string shown(std::string name) {
    constexpr char delete_character = 0x7F;
    constexpr char first_byte_of_controls = '\xC2';
    std::ranges::replace_if(
        name,
        [](char c) {
            return (static_cast<unsigned char>(c) < ' ') || c == delete_character || c == first_byte_of_controls;
        },
        '?');
    return name;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](auto word) { return text.find(word) != std::string_view::npos; });
}

// Whether one of these words is a part of the name, between characters that are no letters.
bool has_part(std::string_view text, std::initializer_list<std::string_view> words) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_not_of(letters), text.size());
        if (std::ranges::find(words, text.substr(0, end)) != words.end()) return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

Unread by_name(const std::string& name) {
    const std::string text = lower(name);
    Unread unread{shown(name)};
    if (has_any(text, {"edge", "link"})) return unread;
    unread.features = has_any(text, {"feat", "attr", "embed"}) || has_part(text, {"x"});
    unread.labels = has_any(text, {"label", "target", "class"}) || has_part(text, {"y"});
    unread.split =
        has_any(text, {"split", "fold", "mask", "train", "valid", "role"}) || has_part(text, {"val", "test", "dev"});
    return unread;
}

// Notes what an array with a row or a number for each vertex may hold.
void add_by_shape(Unread& unread, const NpyHeader& header) {
    const bool flag = header.kind == 'b';
    if (!flag && !header.is_integer() && header.kind != 'f') return;
    const bool column = header.shape.size() == 1 || header.shape[1] == 1;
    unread.labels = unread.labels || column;
    unread.features = unread.features || (header.shape.size() == 2 && (!column || header.kind == 'f'));
    unread.split = unread.split || flag;
}

// The sizes of the graph that an archive holds, which tell arrays of vertices from others.
struct GraphShape {
    std::int64_t vertices = 0;
    std::int64_t edges = -1;
    bool declared = false;  // else the largest id says how many vertices there are, and more may be meant
};

bool has_row_for_each(const GraphShape& graph, const NpyHeader& header) {
    if (header.shape.empty() || header.shape.size() > 2) return false;
    const std::int64_t rows = header.shape[0];
    return rows == graph.vertices || (!graph.declared && rows > graph.vertices && rows != graph.edges);
}

Unread look_at(const ArrayArchive& archive, const std::string& name, const GraphShape& graph) {
    Unread unread = by_name(name);
    std::optional<NpyHeader> header;
    try {
        header = archive.open(name).header();
    } catch (const Error&) {
        return unread;  // an array that cannot be read, such as a pickle, is no error as long as it is not needed
    }
    if (header->kind == 'S' || header->kind == 'U' || header->count() <= 1) {
        unread = {unread.name};
    } else if (has_row_for_each(graph, *header) && !has_any(lower(name), {"edge", "link"})) {
        add_by_shape(unread, *header);
    }
    unread.name += " " + header->describe();
    return unread;
}

// The names of the arrays of an archive that are read.
std::vector<std::string> known_arrays(const ArrayArchive& archive) {
    std::vector<std::string> known{features_array(archive), feature_ids_array(archive), labels_array(archive)};
    for (std::uint8_t s = 0; s < 3; ++s) {
        if (const auto array = split_array(archive, s)) known.push_back(array->name);
    }
    if (archive.has("edge_index")) {
        known.insert(known.end(), {"edge_index", "num_edges_list", weights_array(archive), vertices_array(archive)});
    } else {
        known.insert(known.end(), {"format", "shape", "data", "indptr", "indices", "row", "col", "_is_array"});
    }
    return known;
}

GraphShape shape_of(const ArrayArchive& archive, std::int64_t vertices) {
    const bool listed = archive.has("edge_index");
    GraphShape graph{vertices};
    if (listed) graph.edges = archive.open("edge_index").header().count() / 2;
    graph.declared = !listed || !vertices_array(archive).empty() || !features_array(archive).empty() ||
                     !labels_array(archive).empty();
    return graph;
}

}  // namespace

std::vector<Unread> unread_arrays(const ArrayArchive& archive, std::int64_t vertices) {
    const GraphShape graph = shape_of(archive, vertices);
    const std::vector<std::string> known = known_arrays(archive);
    std::vector<Unread> unread;
    for (const std::string& name : archive.arrays()) {
        if (std::ranges::find(known, name) == known.end()) unread.push_back(look_at(archive, name, graph));
    }
    return unread;
}

namespace {

// The files of a folder of arrays that are no arrays, and may hold what these lack by their names (split_dict.pt).
std::vector<Unread> beside_arrays(const fs::path& folder) {
    std::error_code failed;
    if (!fs::is_directory(folder, failed)) return {};
    std::vector<Unread> files = unread_files(folder, "", {});
    std::erase_if(files, [](const Unread& file) {
        return file.name.ends_with(".npy") || (!file.features && !file.labels && !file.split);
    });
    return files;
}

// Adds the arrays of an archive that have a row for each vertex; none of one that cannot be read.
void add_rows_of(const fs::path& file, const GraphShape& graph, std::vector<Unread>& unread) {
    try {
        const NpzArchive archive(file);
        if (archive.has("edge_index") || is_scipy(archive)) return;  // a graph of its own
        for (const std::string& name : archive.arrays()) {
            Unread one = look_at(archive, name, graph);
            const bool rows = has_row_for_each(graph, archive.open(name).header());
            one.name.insert(0, shown(file.filename().string()) + ":");
            if (rows && (one.features || one.labels || one.split)) unread.push_back(std::move(one));
        }
    } catch (const Error&) {
        return;  // it is none of the files that were asked for
    }
}

// Arrays with a row for each vertex in the archives beside that of a bare matrix, as reddit_data.npz lies beside
// reddit_graph.npz.
std::vector<Unread> beside_matrix(const ArrayArchive& archive, const fs::path& path, std::int64_t vertices) {
    constexpr std::size_t looked_at_most = 16;
    const bool bare = features_array(archive).empty() && labels_array(archive).empty();
    std::error_code failed;
    if (!bare || !is_scipy(archive) || archive.has("edge_index") || !fs::is_regular_file(path, failed)) return {};
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::absolute(path).parent_path(), failed)) {
        std::error_code ignored;
        const fs::path& file = entry.path();
        if (file.extension() == ".npz" && entry.is_regular_file(ignored) && !fs::equivalent(file, path, ignored))
            files.push_back(file);
    }
    std::vector<Unread> unread;
    if (files.size() > looked_at_most) return unread;  // a folder of many data sets
    std::ranges::sort(files);
    for (const fs::path& file : files) add_rows_of(file, {vertices, -1, true}, unread);
    return unread;
}

}  // namespace

Leftovers npz_leftovers(const fs::path& path, std::int64_t vertices) {
    const std::unique_ptr<ArrayArchive> archive = open_arrays(path);
    Leftovers leftovers{unread_arrays(*archive, vertices), "x", "y", "train_idx or train_mask"};
    for (const auto& files : {beside_ogb_file(path), beside_arrays(path), beside_matrix(*archive, path, vertices)})
        leftovers.unread.insert(leftovers.unread.end(), files.begin(), files.end());
    return leftovers;
}

std::vector<Unread> unread_files(const fs::path& root, const std::string& folder,
                                 const std::vector<std::string>& known) {
    std::vector<Unread> unread;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(root / folder, missing)) {
        std::error_code ignored;
        if (!entry.is_regular_file(ignored)) continue;
        std::string name = entry.path().filename().string();
        const std::string plain = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
        if (std::ranges::find(known, plain) == known.end() && !name.starts_with("."))
            unread.push_back(by_name((fs::path(folder) / name).string()));
    }
    std::ranges::sort(unread, {}, &Unread::name);
    return unread;
}

std::string Leftovers::names(const std::vector<bool Unread::*>& kinds) const {
    constexpr int shown_at_most = 12;
    std::string list;
    int count = 0;
    for (const Unread& one : unread) {
        if (!kinds.empty() && std::ranges::none_of(kinds, [&](auto kind) { return one.*kind; })) continue;
        if (++count <= shown_at_most) list += (list.empty() ? "" : ", ") + one.name;
    }
    if (count > shown_at_most) list += " and " + std::to_string(count - shown_at_most) + " more";
    return list;
}

std::string Leftovers::names() const { return names({}); }

}  // namespace gnnplan::data
