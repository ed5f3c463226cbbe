// Arrays of NumPy as a data set, under a name that plans and runs open.
#include "tools/python/bind.hpp"

#include "runtime/data/loan.hpp"

#include <gnnplan/base/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::python {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Ids in 32 or 64 bits, as NumPy, SciPy and PyTorch have them.
using Ids = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

template <class Id>
struct IdsOf {
    explicit IdsOf(const Ids& ids) : first(static_cast<const Id*>(ids.data())), stride(ids.stride(0)) {}
    Id operator[](std::size_t at) const { return first[static_cast<std::int64_t>(at) * stride]; }

    const Id* first;
    std::int64_t stride;
};

// The ends that are row starts, and not one id for each edge: sources in compressed sparse rows, targets in columns.
enum class Compressed : std::uint8_t { none, sources, targets };

// The arrays stay where they are; Python keeps them for as long as this object.
struct Lent {
    std::string name;
    std::int64_t vertices = 0;
    Ids sources, targets;
    Compressed compressed = Compressed::none;
    std::optional<Vector<float>> weights;
    std::optional<Rows<float>> features;
    std::optional<Vector<std::int32_t>> labels;
    std::int64_t label_columns = 0;  // of several labels a vertex, whose bits these are
    std::optional<Vector<std::uint8_t>> bits, known;
    std::optional<Vector<std::uint8_t>> split;

    std::size_t edges() const { return compressed == Compressed::targets ? sources.size() : targets.size(); }

    data::Arrays arrays() const {
        data::Arrays lent{.name = name, .vertices = vertices, .edges = data::EdgeList(weights.has_value())};
        sources.dtype() == nb::dtype<std::int32_t>() ? add_edges<std::int32_t>(lent.edges)
                                                     : add_edges<std::int64_t>(lent.edges);
        if (features) {
            lent.features = static_cast<std::int64_t>(features->shape(1));
            lent.borrowed = {features->data(), features->size()};
        }
        if (labels) lent.label = copied(*labels);
        if (split) lent.subset = copied(*split);
        if (bits)
            lent.bits = {vertices, label_columns, copied(*bits), known ? copied(*known) : std::vector<std::uint8_t>{}};
        return lent;
    }

private:
    template <class T>
    static std::vector<T> copied(const Vector<T>& array) {
        return {array.data(), array.data() + array.size()};
    }

    std::int32_t narrow(std::int64_t id) const {
        if (id == static_cast<std::int32_t>(id)) return static_cast<std::int32_t>(id);
        throw Error(ErrorCode::data, "vertex id " + std::to_string(id) + " is out of range", name);
    }

    template <class Id>
    void add_edges(data::EdgeList& to) const {
        const IdsOf<Id> from(sources), into(targets);
        const auto add = [&](std::size_t e, std::int64_t source, std::int64_t target) {
            to.add(narrow(source), narrow(target), weights ? weights->data()[e] : 1.0F);
        };
        if (compressed == Compressed::none) {
            for (std::size_t e = 0; e < edges(); ++e) add(e, from[e], into[e]);
            return;
        }
        const bool rows = compressed == Compressed::sources;
        const IdsOf<Id> starts(rows ? sources : targets), others(rows ? targets : sources);
        for (std::int64_t v = 0; v < vertices; ++v) {
            const auto end = static_cast<std::size_t>(starts[static_cast<std::size_t>(v) + 1]);
            for (auto e = static_cast<std::size_t>(starts[static_cast<std::size_t>(v)]); e < end; ++e)
                rows ? add(e, v, others[e]) : add(e, others[e], v);
        }
    }
};

// Throws Error{data} of starts that lead out of the array of their other ends.
template <class Id>
void check_starts(const Lent& lent) {
    const bool rows = lent.compressed == Compressed::sources;
    const Ids& given = rows ? lent.sources : lent.targets;
    const IdsOf<Id> starts(given);
    bool good = static_cast<std::int64_t>(given.size()) == lent.vertices + 1 && starts[0] == 0 &&
                starts[given.size() - 1] == static_cast<Id>(lent.edges());
    for (std::size_t v = 1; good && v < given.size(); ++v) good = starts[v - 1] <= starts[v];
    if (!good) throw Error(ErrorCode::data, "starts of rows ascend from 0 to the number of nonzeros", "matrix");
}

void check(const Lent& lent) {
    const bool narrow = lent.sources.dtype() == nb::dtype<std::int32_t>();
    ensure(
        lent.sources.dtype() == lent.targets.dtype() && (narrow || lent.sources.dtype() == nb::dtype<std::int64_t>()),
        "both ends are int32 or int64");
    ensure(!lent.weights || lent.weights->size() == lent.edges(), "an edge has one weight");
    if (lent.compressed == Compressed::none) {
        ensure(lent.sources.size() == lent.targets.size(), "edges have two ends");
    } else {
        narrow ? check_starts<std::int32_t>(lent) : check_starts<std::int64_t>(lent);
    }
}

// Lent under the name until Python lets it go.
class LentArrays {
public:
    explicit LentArrays(Lent lent)
        : lent_(std::make_shared<const Lent>(std::move(lent))),
          loan_(lent_->name, [lent = lent_] { return lent->arrays(); }) {}

    const std::string& name() const { return loan_.name(); }

private:
    std::shared_ptr<const Lent> lent_;
    data::Loan loan_;
};

}  // namespace

void add_data(nb::module_& module) {
    nb::enum_<Compressed>(module, "Compressed")
        .value("none", Compressed::none)
        .value("sources", Compressed::sources)
        .value("targets", Compressed::targets);
    nb::class_<LentArrays>(module, "LentArrays")
        .def(
            "__init__",
            [](LentArrays* self, std::string name, std::int64_t vertices, Ids sources, Ids targets,
               Compressed compressed, std::optional<Vector<float>> weights, std::optional<Rows<float>> features,
               std::optional<Vector<std::int32_t>> labels, std::int64_t label_columns,
               std::optional<Vector<std::uint8_t>> bits, std::optional<Vector<std::uint8_t>> known,
               std::optional<Vector<std::uint8_t>> split) {
                Lent lent{std::move(name), vertices,           std::move(sources),  std::move(targets),
                          compressed,      std::move(weights), std::move(features), std::move(labels),
                          label_columns,   std::move(bits),    std::move(known),    std::move(split)};
                check(lent);
                new (self) LentArrays(std::move(lent));
            },
            nb::arg("name"), nb::arg("vertices"), nb::arg("sources"), nb::arg("targets"), nb::arg("compressed"),
            nb::arg("weights").none(), nb::arg("features").none(), nb::arg("labels").none(), nb::arg("label_columns"),
            nb::arg("bits").none(), nb::arg("known").none(), nb::arg("split").none())
        .def_prop_ro("name", &LentArrays::name);
}

}  // namespace gnnplan::python
