// A data set: graph, labels, split, and features that are read when a rank asks for its block of them.
#pragma once

#include "runtime/data/report.hpp"
#include "runtime/graph/arrays.hpp"
#include "runtime/graph/csr.hpp"
#include "runtime/graph/features.hpp"
#include "runtime/graph/label_bits.hpp"
#include "runtime/graph/order.hpp"
#include "runtime/graph/subset.hpp"
#include "runtime/read/parsed_graph.hpp"

#include <gnnplan/base/loss.hpp>
#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::data {

// Whether labels and a split are read.
enum class Supervised : std::uint8_t {
    no,
    where_there,  // for accuracies: where the data has both; why they cannot be read is a remark, and no error
    classes,      // for how many there are
    yes,          // for training: generated where they are missing, and the training vertices have labels
};

class Dataset;
struct Origin;

struct DatasetOptions {
    Preparation preparation = {};
    IndexBase index_base = IndexBase::unsaid;
    std::string split = {};              // the folder under split/; empty takes the only one there is
    std::int64_t generate_features = 0;  // width to generate when the graph has no features
    std::int64_t generate_classes = 0;   // classes to generate when the graph has no labels
    bool generate_several = false;       // as several labels a vertex
    std::uint64_t seed = 0;              // of generated features, labels and split
    FeatureNorm feature_norm = FeatureNorm::none;
    // Neighbours that layers draw of the prepared graph, from `seed` (runtime/sample); empty: none.
    std::vector<std::int64_t> fanout = {};
    bool drawn_weighted = false;  // with what each of them stands for
    bool graph_only = false;      // read the graph, not features, labels and split
    Supervised supervised = Supervised::yes;
    // > 0: so many vertices are expected, and the graph, of this fingerprint if it has one, is left to be read in
    // shares.
    std::int64_t in_shares = 0;
    std::string expected_fingerprint = {};
    // Called when the graph is there and before features, labels and split are; throws to refuse it.
    std::function<void(const Dataset&)> check_graph = {};
};

class Dataset {
public:
    Dataset() = default;  // of nothing

    const Graph& graph() const { return graph_; }
    const DatasetOptions& options() const { return options_; }
    bool in_shares() const { return options_.in_shares > 0; }
    // Reads a share of the edges as they are listed, and hands them on in blocks. Throws what open_dataset() throws for
    // what the file has. Only for a data set that was opened to be read in shares; safe to call from several threads.
    ParsedGraph read_share(const FileShare& share, const EdgeList::Take& take) const;
    // Frees the graph once its blocks are built; vertices(), report() and fingerprint() stay.
    void release_graph() { graph_ = {}; }

    const LoadReport& report() const { return report_; }
    // It is that of the prepared graph (graph/fingerprint.hpp), or of the one expected where it is read in shares.
    const std::string& fingerprint() const { return fingerprint_; }

    std::int64_t vertices() const { return report_.vertices; }
    std::int64_t nonzeros() const { return report_.nonzeros; }  // of the prepared matrix
    std::int64_t features() const { return features_ ? features_->columns() : 0; }
    std::int64_t classes() const { return classes_; }

    // The class of each vertex; -1: unlabelled; empty: no labels, or several for a vertex, which are bits.
    const std::vector<std::int32_t>& labels() const { return labels_; }
    const LabelBits& label_bits() const { return label_bits_; }
    bool has_labels() const { return !labels_.empty() || !label_bits_.empty(); }
    // The loss that fits the labels.
    Loss loss() const;
    std::string label_fingerprint() const;                               // "": no labels
    const std::vector<std::uint8_t>& subset() const { return subset_; }  // Subset; empty: no split
    std::int64_t subset_size(Subset subset) const { return subset == unused ? 0 : subset_size_[subset]; }
    // The number of vertices of a subset that have a label; scores are over these. All training vertices have a class.
    std::int64_t labelled(Subset subset) const { return subset == unused ? 0 : labelled_[subset]; }
    // The number of labels of a subset's vertices that are known: a mean loss is over these.
    std::int64_t known_labels(Subset subset) const { return subset == unused ? 0 : known_[subset]; }

    // Writes features (rows x columns) to out, row-major: element (i, j) of the block at out[i * stride + j]. `rows`
    // count in `order`; null or the identity: in the file. Clones are of one group. Streams them from the file, or
    // generates them, unless cached. Safe to call from several threads.
    void read_features(Range rows, Range columns, float* out, std::int64_t stride,
                       const VertexOrder* order = nullptr) const;
    // Whether ranks read features together, a share of their files each, and give each other rows: where the graph is
    // read in shares, and rows are not found in place.
    bool features_in_shares() const { return in_shares() && feature_files() != nullptr; }
    // Null where rows are found in place, or there are none.
    const FeatureFiles* feature_files() const { return features_ ? features_->files() : nullptr; }
    // Makes a row of a file, all its columns, what read_features() would have made of it.
    void normalise(std::span<float> row) const;
    // The sum of row_hash() over these rows of the file, which are read for it.
    std::uint64_t feature_hash(Range rows) const;
    // Reads all features (vertices x features floats) once, so that ranks as threads copy their blocks from memory.
    void cache_features();
    void release_features();  // frees that memory
    bool features_in_memory() const { return !cache_.empty() || features() == 0; }

private:
    friend Dataset open_dataset(const std::filesystem::path&, const DatasetOptions&);
    friend Dataset make_dataset(Arrays, const DatasetOptions&);

    Dataset(Origin origin, const DatasetOptions& options);
    void read_graph(ParsedGraph parsed);
    void read_vertices(const Origin& origin);
    void count_subsets();

    void stream_features(Range rows, Range columns, float* out, std::int64_t stride, const VertexOrder* order) const;

    DatasetOptions options_;
    Graph graph_;
    LoadReport report_;
    std::string fingerprint_;
    std::unique_ptr<FeatureSource> features_;
    FeatureNorm feature_norm_ = FeatureNorm::none;
    std::vector<float> cache_;  // vertices x features, normalised; empty unless cached
    std::vector<std::int32_t> labels_;
    LabelBits label_bits_;
    std::int64_t classes_ = 0;
    std::vector<std::uint8_t> subset_;
    std::int64_t subset_size_[3] = {0, 0, 0};
    std::int64_t labelled_[3] = {0, 0, 0};
    std::int64_t known_[3] = {0, 0, 0};
};

// Opens arrays that are lent under this name (data/loan.hpp), an OGB raw folder, an .npz data set, a SciPy CSR .npz,
// Matrix Market, SNAP or CSV edge list, gzipped or not; which one is found out from the path and the content. Not
// collective: each process opens its own. Throws ErrorCode::missing_input when nothing is there, ErrorCode::data with
// file and line or array name when it is malformed, ErrorCode::usage when an option does not fit the data.
Dataset open_dataset(const std::filesystem::path& path, const DatasetOptions& options = {});

// Makes a data set of arrays, which need no file; options mean the same. Throws ErrorCode::data when the arrays are not
// as data::Arrays says or do not fit together, and ErrorCode::usage when an option does not fit them.
Dataset make_dataset(Arrays arrays, const DatasetOptions& options = {});

// Fingerprints of the graph, the features, the labels and the split, for a plan; "" for what is not there or is
// generated. Reads all features once, and throws ErrorCode::data when one is not finite.
Fingerprints fingerprints_of(const Dataset& dataset);

// Throws ErrorCode::data when there are no training vertices. That they have labels was found out by open_dataset().
void check_training_set(const Dataset& dataset);

}  // namespace gnnplan::data
