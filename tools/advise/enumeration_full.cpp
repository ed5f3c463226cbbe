#include "tools/advise/enumeration.hpp"

#include "planner/cost/executed_units.hpp"
#include "planner/enumerate/units.hpp"
#include "planner/io/plan_keys.hpp"
#include "planner/search/full_space.hpp"
#include "tools/advise/step_bytes.hpp"

#include <gnnplan/catalog.hpp>

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

namespace gnnplan::tools {
namespace {

constexpr double bytes_per_element = 4;
constexpr int max_sharded_ranks = 128;

// A machine on which only redistributed bytes and sparse products take time, a redistribution unit `weight` times that
// of a sparse unit.
Machine weighing_machine(const io::EnumerationDocument& document, double weight) {
    constexpr double unlimited = 1e30;
    constexpr Link link{0, 1e9};
    Machine machine = preset("cpu-node");
    machine.intra_node = link;
    machine.inter_node = link;
    machine.network_cards.reset();
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
    const bool formula = configuration.sharing == Sharing::replicated && configuration.grid.z == 1;
    if (!formula) return static_cast<double>(entry.total_bytes) / bytes_per_element;
    return communication_elements({entry.redistribution_units, entry.sparse_units}, document.vertices, document.ranks,
                                  configuration.grid.y);
}

// Lists configurations with their units, the fastest first: all of them, or the fastest and the front where they are
// too many. Exchanges change no units, and overlap moves nothing more or less.
class Listing {
public:
    Listing(const search::Space& space, search::NumberedGraphs& graphs, io::EnumerationDocument& document)
        : space_(space), graphs_(graphs), document_(document) {}

    void add(const search::Members& all) {
        std::map<std::uint32_t, Units> units_of;  // by choices
        std::vector<Units> units;                 // by member
        units.reserve(all.members.size());
        for (const search::Member& member : all.members) {
            const auto [known, is_new] = units_of.try_emplace(member.choices);
            if (is_new) known->second = cost::executed_units(lowered(configuration_of(all, member)));
            units.push_back(known->second);
        }
        const bool too_many = units.size() > max_listed;
        const std::vector<bool> front = too_many ? enumerate::pareto_front(units) : std::vector<bool>();
        document_.truncated = document_.truncated || too_many;
        for (std::size_t i = 0; i < units.size(); ++i) {
            const Configuration configuration = configuration_of(all, all.members[i]);
            if (too_many && i >= fastest_listed && !(front[i] && first_of_its_kind(configuration, units[i]))) continue;
            if (!new_to_list(configuration)) continue;
            document_.configurations.push_back(enumerated(configuration, units[i], document_));
            document_.configurations.back().configuration = configuration;
        }
    }

    void finish(bool front_only) {
        mark_pareto(document_);
        if (front_only) std::erase_if(document_.configurations, [](const auto& entry) { return !entry.pareto; });
        std::int64_t id = 0;
        for (io::EnumeratedConfiguration& entry : document_.configurations) {
            entry.id = id++;
            entry.total_bytes = bytes_of(*entry.configuration);
            entry.communication_elements = elements_moved(*entry.configuration, entry, document_);
        }
    }

private:
    static Configuration configuration_of(const search::Members& all, const search::Member& member) {
        return search::configuration_of(all.frames[member.frame], all.choices[member.choices]);
    }

    Schedule lowered(const Configuration& configuration) const {
        return lower::lower(space_.model, configuration, space_.shape);
    }

    std::int64_t bytes_of(Configuration configuration) {
        configuration.overlap = false;
        const Schedule schedule = lowered(configuration);
        return bytes_.of_epoch(schedule, graphs_.numbered(schedule.numbering));
    }

    // Many members of the front have the same units; the fastest of each scheme and grid is enough.
    bool first_of_its_kind(const Configuration& configuration, const Units& units) {
        return kinds_.emplace(configuration.sharing, configuration.grid.text(), units.redistribution, units.sparse)
            .second;
    }

    // Searches of one deep network by several weights find the same configurations again.
    bool new_to_list(const Configuration& configuration) {
        const bool deep = space_.model.depth > search::max_enumerated_layers;
        return !deep || known_.insert(io::dump(io::encode(configuration))).second;
    }

    const search::Space& space_;
    search::NumberedGraphs& graphs_;
    io::EnumerationDocument& document_;
    std::set<std::string> known_;
    std::set<std::tuple<Sharing, std::string, double, double>> kinds_;
    StepBytes bytes_;
};

// On many ranks sharded nonzeros take minutes to weigh: without a scheme that is asked for they are left out, which is
// noted.
std::vector<Distribution> grids_to_list(const search::Space& space, Enumeration& listed) {
    std::vector<Distribution> grids = space.grids;
    if (space.options.scheme || space.ranks <= max_sharded_ranks) return grids;
    const auto left_out = std::erase_if(grids, [](const Distribution& on) { return on.sends_nonzeros(); });
    if (left_out == 0) return grids;
    listed.document.truncated = true;
    listed.note = fmt::format(
        "above {} ranks 2d and 3d are listed with --scheme only: on the same grid rdm moves the same dense rows and no "
        "nonzeros",
        max_sharded_ranks);
    return grids;
}

}  // namespace

Enumeration enumerate_full_space(const EnumerateOptions& options) {
    Enumeration listed{enumeration_question(options), {}};
    io::EnumerationDocument& document = listed.document;
    const LoadedProblem loaded = load_problem(options.shape, {});
    SelectOptions asked;
    asked.scheme = options.scheme;
    asked.replication = document.replication;
    const bool deep = static_cast<int>(document.widths.size()) - 1 > search::max_enumerated_layers;
    if (deep) {  // switches change no units: their plainest values stand for all
        asked.exchange = Exchange::panels;
        asked.overlap = false;
    }
    const search::Space space = search::make_space(loaded.problem, weighing_machine(document, 1), asked);
    search::NumberedGraphs graphs(*space.graph);
    const std::vector<Distribution> grids = grids_to_list(space, listed);
    Listing listing(space, graphs, document);
    const auto rank = [&](double weight) {
        return search::rank_members(space, grids, weighing_machine(document, weight), graphs);
    };
    if (deep) {
        document.truncated = true;
        for (const double weight : {1.0 / 64, 1.0 / 4, 1.0, 4.0, 64.0}) listing.add(rank(weight));
    } else {
        listing.add(rank(1));
    }
    listing.finish(deep);
    return listed;
}

}  // namespace gnnplan::tools
