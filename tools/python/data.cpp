// Arrays of NumPy as a data set, under a name that plans and runs open.
#include "tools/python/bind.hpp"

#include "runtime/data/loan.hpp"

#include <gnnplan/base/error.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gnnplan::python {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The arrays stay where they are; Python keeps them for as long as this object.
struct Lent {
    std::string name;
    std::int64_t vertices = 0;
    Vector<std::int32_t> sources, targets;
    std::optional<Vector<float>> weights;
    std::optional<Rows<float>> features;
    std::optional<Vector<std::int32_t>> labels;
    std::optional<Vector<std::uint8_t>> split;

    data::Arrays arrays() const {
        data::Arrays lent{.name = name, .vertices = vertices, .edges = data::EdgeList(weights.has_value())};
        for (std::size_t e = 0; e < sources.size(); ++e)
            lent.edges.add(sources.data()[e], targets.data()[e], weights ? weights->data()[e] : 1.0F);
        if (features) {
            lent.features = static_cast<std::int64_t>(features->shape(1));
            lent.borrowed = {features->data(), features->size()};
        }
        if (labels) lent.label.assign(labels->data(), labels->data() + labels->size());
        if (split) lent.subset.assign(split->data(), split->data() + split->size());
        return lent;
    }
};

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
    nb::class_<LentArrays>(module, "LentArrays")
        .def(
            "__init__",
            [](LentArrays* self, std::string name, std::int64_t vertices, Vector<std::int32_t> sources,
               Vector<std::int32_t> targets, std::optional<Vector<float>> weights, std::optional<Rows<float>> features,
               std::optional<Vector<std::int32_t>> labels, std::optional<Vector<std::uint8_t>> split) {
                ensure(sources.size() == targets.size() && (!weights || weights->size() == sources.size()),
                       "edges have two ends and one weight");
                new (self) LentArrays({std::move(name), vertices, std::move(sources), std::move(targets),
                                       std::move(weights), std::move(features), std::move(labels), std::move(split)});
            },
            nb::arg("name"), nb::arg("vertices"), nb::arg("sources"), nb::arg("targets"), nb::arg("weights").none(),
            nb::arg("features").none(), nb::arg("labels").none(), nb::arg("split").none())
        .def_prop_ro("name", &LentArrays::name);
}

}  // namespace gnnplan::python
