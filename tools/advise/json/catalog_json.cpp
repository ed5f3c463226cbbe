#include "tools/advise/json/catalog_json.hpp"

#include "planner/catalog/machines.hpp"
#include "planner/io/machine.hpp"
#include "planner/io/parse.hpp"

#include <cstdint>
#include <utility>

namespace gnnplan::tools {
namespace {

io::Document known(std::int64_t value) { return value > 0 ? io::Document(value) : io::Document(); }

io::Document card_object(const catalog::Card& card) {
    io::Document replication = io::Document::array();
    for (const double factor : card.replication) replication.push(factor);
    return io::Document::object({{"name", card.name},
                                 {"variant", card.variant},
                                 {"selector", catalog::selector_of(card)},
                                 {"vertices", card.vertices},
                                 {"edges", card.edges},
                                 {"nonzeros", card.nonzeros},
                                 {"symmetric", card.symmetric},
                                 {"rounded", card.rounded},
                                 {"features", known(card.features)},
                                 {"classes", known(card.classes)},
                                 {"several_labels", card.several_labels},
                                 {"training_vertices", known(card.training_vertices.value_or(0))},
                                 {"replication", std::move(replication)},
                                 {"source", card.source},
                                 {"note", card.note}});
}

io::Document calibration_object(const KeptCalibration& kept) {
    const auto& calibration = kept.profile.machine.calibration;
    io::Document error;
    if (calibration) error = calibration->error_median;
    return io::Document::object({{"name", kept.name},
                                 {"kind", calibration_kind(kept.profile)},
                                 {"ranks_are", calibration_ranks(kept.profile)},
                                 {"accelerators", kept.profile.machine.accelerators},
                                 {"date", calibration_date(kept.profile)},
                                 {"measurements", static_cast<std::int64_t>(kept.profile.samples.size())},
                                 {"error_median", std::move(error)},
                                 {"busy", calibration ? calibration->busy : 0.0},
                                 {"stale", kept.stale},
                                 {"file", kept.file}});
}

}  // namespace

io::Document encode_datasets(std::span<const catalog::Card> cards) {
    io::Document list = io::Document::array();
    for (const catalog::Card& card : cards) list.push(card_object(card));
    return io::Document::object({{"schema", "gnnplan.datasets/1"}, {"datasets", std::move(list)}});
}

io::Document encode_dataset(const catalog::Card& card) {
    io::Document document = io::Document::object({{"schema", "gnnplan.dataset/1"}});
    const io::Document encoded = card_object(card);
    for (const auto& [key, value] : *encoded.get_if<io::Document::Object>()) document.set(key, value);
    return document;
}

io::Document encode_calibrations(const std::vector<KeptCalibration>& calibrations,
                                 const std::vector<KeptCalibration>& probes) {
    io::Document list = io::Document::array(), probed = io::Document::array();
    for (const KeptCalibration& kept : calibrations) list.push(calibration_object(kept));
    for (const KeptCalibration& kept : probes) {
        probed.push(io::Document::object({{"kind", calibration_kind(kept.profile)},
                                          {"date", calibration_date(kept.profile)},
                                          {"file", kept.file},
                                          {"stale", kept.stale}}));
    }
    return io::Document::object(
        {{"schema", "gnnplan.calibrations/1"}, {"calibrations", std::move(list)}, {"probes", std::move(probed)}});
}

io::Document encode_machines() {
    io::Document list = io::Document::array();
    for (const Machine& machine : catalog::machines()) {
        list.push(io::parse(io::write_machine(machine), machine.name));
    }
    return io::Document::object({{"schema", "gnnplan.machines/1"}, {"machines", std::move(list)}});
}

}  // namespace gnnplan::tools
