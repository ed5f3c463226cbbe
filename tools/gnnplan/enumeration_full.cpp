#include "tools/gnnplan/enumeration.hpp"

#include "planner/cost/executed_units.hpp"
#include "planner/io/plan_keys.hpp"
#include "planner/search/full_space.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <map>
#include <set>

namespace gnnplan::tools {
namespace {

constexpr double bytes_per_element = 4;

// A machine on which only redistributed bytes and sparse products take time, a redistribution unit `weight` times that
// of a sparse unit.
Machine weighing_machine(const io::EnumerationDocument& document, double weight) {
    constexpr double unlimited = 1e30;
    constexpr Link link{0, 1e9};
    Machine machine = load_machine("cpu-node");
    machine.intra_node = link;
    machine.inter_node = link;
    const double redistribution = static_cast<double>(document.vertices) * bytes_per_element / link.bytes_per_second;
    const double sparse = redistribution / weight;
    machine.spmm = {{1, 2 * static_cast<double>(document.nonzeros) / sparse}};
    machine.gemm_flops_per_second = unlimited;
    machine.memory_bytes_per_second = unlimited;
    machine.step_seconds = 0;
    return machine;
}

// Elements that an epoch moves: the formula of two units for RDM's grids (P / R_A, R_A, 1), 1D among them; for others
// what their steps move.
double elements_moved(const Configuration& configuration, const io::EnumeratedConfiguration& entry,
                      const io::EnumerationDocument& document) {
    const bool formula = configuration.scheme == "rdm" || configuration.scheme == "1d";
    if (!formula || configuration.grid.z > 1) return static_cast<double>(entry.total_bytes) / bytes_per_element;
    return communication_elements({entry.redistribution_units, entry.sparse_units}, document.vertices, document.ranks,
                                  configuration.grid.y);
}

std::int64_t bytes_moved(const Schedule& schedule, const GraphStats& graph) {
    std::int64_t bytes = 0;
    for (const Step& step : schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        for (const RankTraffic& rank : traffic_of(schedule, step, graph)) bytes += rank.sent_bytes;
    }
    return bytes;
}

// Lists configurations with their units; afterwards the bytes of those that stay.
class Listing {
public:
    Listing(const search::Space& space, search::Views& views, io::EnumerationDocument& document)
        : space_(space), views_(views), document_(document) {}

    void add(const search::Members& all) {
        std::map<std::uint32_t, Units> units_of;  // switches change no units
        for (const search::Member& member : all.members) {
            const Configuration configuration =
                search::configuration_of(all.frames[member.frame], all.choices[member.choices]);
            auto known = units_of.find(member.choices);
            if (known == units_of.end()) {
                const Units units = cost::executed_units(lower::lower(space_.layers, configuration, space_.shape));
                known = units_of.emplace(member.choices, units).first;
            }
            if (!new_to_list(configuration)) continue;
            document_.configurations.push_back(enumerated(configuration, known->second, document_));
            document_.configurations.back().configuration = configuration;
        }
    }

    void finish() {
        mark_pareto(document_);
        if (document_.truncated)
            std::erase_if(document_.configurations, [](const auto& entry) { return !entry.pareto; });
        std::int64_t id = 0;
        for (io::EnumeratedConfiguration& entry : document_.configurations) {
            entry.id = id++;
            entry.total_bytes = bytes_of(*entry.configuration);
            entry.communication_elements = elements_moved(*entry.configuration, entry, document_);
        }
    }

private:
    // Overlap moves nothing more or less.
    std::int64_t bytes_of(Configuration configuration) {
        configuration.overlap = false;
        const auto [known, added] = bytes_.emplace(io::dump(io::encode(configuration)), 0);
        if (added) {
            const Schedule schedule = lower::lower(space_.layers, configuration, space_.shape);
            known->second = bytes_moved(schedule, views_.numbered(schedule.numbering));
        }
        return known->second;
    }

    // Searches of one deep network by several weights find the same configurations again.
    bool new_to_list(const Configuration& configuration) {
        const bool deep = static_cast<int>(space_.layers.size()) > search::max_enumerated_layers;
        return !deep || known_.insert(io::dump(io::encode(configuration))).second;
    }

    const search::Space& space_;
    search::Views& views_;
    io::EnumerationDocument& document_;
    std::set<std::string> known_;
    std::map<std::string, std::int64_t> bytes_;
};

}  // namespace

io::EnumerationDocument enumerate_full_space(const EnumerateOptions& options) {
    io::EnumerationDocument document = enumeration_question(options);
    const LoadedProblem loaded = load_problem(options.shape, {}, "gcn", false);
    SelectOptions asked;
    asked.scheme = options.scheme;
    asked.replication = document.replication;
    const bool deep = static_cast<int>(document.widths.size()) - 1 > search::max_enumerated_layers;
    if (deep) {  // switches change no units: their plainest values stand for all
        asked.exchange = Exchange::panels;
        asked.overlap = false;
    }
    const search::Space space = search::make_space(loaded.problem, weighing_machine(document, 1), asked);
    search::Views views(*space.graph);
    Listing listing(space, views, document);
    const auto rank = [&](double weight) {
        return search::rank_members(space, space.grids, weighing_machine(document, weight), views);
    };
    if (deep) {
        document.truncated = true;
        for (const double weight : {1.0 / 64, 1.0 / 4, 1.0, 4.0, 64.0}) listing.add(rank(weight));
    } else {
        const search::Members all = rank(1);
        document.truncated = all.members.size() > max_listed;
        listing.add(all);
    }
    listing.finish();
    return document;
}

}  // namespace gnnplan::tools
