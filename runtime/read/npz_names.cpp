#include "runtime/read/npz_names.hpp"

#include <initializer_list>

namespace gnnplan::data {
namespace {

std::string first_of(const ArrayArchive& archive, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        if (archive.has(name)) return name;
    }
    return {};
}

}  // namespace

std::string features_array(const ArrayArchive& archive) { return first_of(archive, {"x", "node_feat"}); }
std::string feature_ids_array(const ArrayArchive& archive) {
    const std::string array = features_array(archive);
    return array.empty() ? "" : first_of(archive, {(array + "_ids").c_str()});
}
std::string labels_array(const ArrayArchive& archive) {
    return first_of(archive, {"y", "node_label", "node_label_19"});
}
std::string vertices_array(const ArrayArchive& archive) { return first_of(archive, {"num_nodes", "num_nodes_list"}); }
std::string weights_array(const ArrayArchive& archive) { return first_of(archive, {"edge_weight", "edge_feat"}); }

std::optional<SplitArray> split_array(const ArrayArchive& archive, std::uint8_t subset) {
    constexpr const char* prefixes[3][2] = {{"train", "train"}, {"valid", "val"}, {"test", "test"}};
    for (const std::string prefix : prefixes[subset]) {
        for (const bool mask : {false, true}) {
            const std::string name = prefix + (mask ? "_mask" : "_idx");
            if (archive.has(name)) return SplitArray{name, mask};
        }
    }
    return std::nullopt;
}

std::string names_of(const ArrayArchive& archive) {
    std::string found;
    for (const std::string& name : archive.arrays()) found += (found.empty() ? "" : ", ") + name;
    return found.empty() ? "none" : found;
}

}  // namespace gnnplan::data
