// Some dense products of a pass become rings, each in place of two redistributions, and nothing else changes.
#include "planner/enumerate/grids.hpp"
#include "planner/enumerate/switches.hpp"
#include "planner/lower/lower.hpp"
#include "planner/lower/rules.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/applicable.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/models.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace gnnplan::lower {
namespace {

using Names = std::vector<std::string>;

ModelRecord model_of(const char* name, const std::function<void(ModelRecord&)>& change = {}) {
    ModelRecord model;
    model.name = name;
    model.widths = {13, 12, 8, 4};
    model.bias = true;
    if (change) change(model);
    return model;
}

Configuration configuration_on(const Distribution& on, const std::string& orders, bool ring) {
    Configuration c;
    c.sharing = on.sharing;
    c.grid = on.grid;
    c.forward = parse_orders(orders);
    c.exchange = on.grid.x > 1 ? Exchange::panels : Exchange::none;
    c.constant_input = true;
    c.ring = ring;
    return c;
}

GraphShape shape_of(std::int64_t vertices) {
    GraphShape shape;
    shape.vertices = vertices;
    shape.nonzeros = 5 * vertices;
    return shape;
}

Schedule lowered(const ModelRecord& model, const Configuration& configuration, std::int64_t vertices = 41) {
    const Schedule schedule = lower(sites_of(applied(models::build(model))), configuration, shape_of(vertices));
    validate(schedule);
    return schedule;
}

Names steps_of(const Schedule& schedule, const std::function<bool(const Operation&)>& wanted) {
    Names names;
    for (const Step& step : schedule.steps) {
        if (wanted(step.operation)) names.push_back(step.name);
    }
    return names;
}

Names rings_of(const Schedule& schedule) {
    return steps_of(schedule, [](const Operation& operation) { return !tiled(operation).empty(); });
}

Names rings_of(const ModelRecord& model, const Grid& grid, const std::string& orders) {
    return rings_of(lowered(model, configuration_on({Sharing::replicated, grid}, orders, true)));
}

// Layer 1 that transforms first reads features, which are there as whole rows, and the last layer's logits are wanted
// as such. A layer that aggregates first leaves columns only if the next one does, too.
TEST(Ring, TakesTheProductsBetweenColumns) {
    const ModelRecord gcn = model_of("gcn");
    const std::pair<const char*, Names> cases[] = {{"SSS", {"forward.1.gemm", "forward.2.gemm"}},
                                                   {"DDD", {"forward.2.gemm", "forward.3.gemm"}},
                                                   {"SSD", {"forward.1.gemm"}},
                                                   {"DDS", {"forward.2.gemm"}},
                                                   {"DSS", {"forward.2.gemm"}},
                                                   {"SDD", {"forward.3.gemm"}},
                                                   {"SDS", {}},
                                                   {"DSD", {}}};
    for (const auto& [orders, rings] : cases) {
        EXPECT_EQ(rings_of(gcn, {2, 2, 1}, orders), rings) << orders;
        EXPECT_EQ(rings_of(gcn, {1, 3, 2}, orders), rings) << orders;
    }
}

TEST(Ring, LeavesOutWhatSomebodyWantsInWholeRows) {
    const auto heads = [](ModelRecord& m) { m.heads = 4, m.output_heads = 2; };
    EXPECT_EQ(rings_of(model_of("gat", heads), {2, 2, 1}, "DDD"), (Names{"forward.2.gemm", "forward.3.gemm"}));
    EXPECT_EQ(rings_of(model_of("gat", heads), {1, 4, 1}, "DDD"), Names{"forward.2.gemm"}) << "y cuts the last heads";
    EXPECT_EQ(rings_of(model_of("gat", heads), {1, 3, 1}, "DDD"), Names()) << "y cuts heads";
    EXPECT_EQ(rings_of(model_of("gin"), {2, 2, 1}, "DSS"), Names{"forward.1.mlp.1.gemm"});
    EXPECT_EQ(rings_of(model_of("gin"), {2, 2, 1}, "SSS"), Names()) << "its second weight takes whole rows";
    EXPECT_EQ(rings_of(model_of("sage"), {2, 2, 1}, "DDD"), Names()) << "so does the vertex's own weight";
    EXPECT_EQ(rings_of(model_of("gcn",
                                [](ModelRecord& m) {
                                    m.jk = JumpingKnowledge::concat, m.widths = {13, 8, 8, 4};
                                }),
                       {2, 2, 1}, "DDD"),
              Names())
        << "logits are made of whole rows of every layer";
}

// All kinds of models, without restrictions.
const std::vector<ModelRecord>& models_of_all_kinds() {
    static const std::vector<ModelRecord> all = [] {
        const auto aggregator = [](const char* name) { return [name](ModelRecord& m) { m.aggregator = name; }; };
        std::vector<ModelRecord> models = {model_of("gcn"), model_of("gin"),
                                           model_of("agnn",
                                                    [](ModelRecord& m) {
                                                        m.widths = {13, 8, 8, 4};
                                                    }),
                                           model_of("gat", [](ModelRecord& m) { m.heads = 4, m.output_heads = 4; })};
        for (const char* name : {"mean", "max", "pool", "gcn"}) models.push_back(model_of("sage", aggregator(name)));
        for (std::size_t i = models.size(); i-- > 0;) {
            if (models[i].name == "agnn") continue;  // which has neither
            models.push_back(models[i]), models.back().residual = Residual::input;
            models.push_back(models[i]), models.back().jk = JumpingKnowledge::concat,
                                         models.back().widths = {13, 8, 8, 4};
        }
        return models;
    }();
    return all;
}

bool fits(const SiteGraph& model, const std::string& orders, const Distribution& on) {
    for (int l = 1; l <= model.depth; ++l) {
        const auto only = model.product(l).only_orders();
        if (only && parse_orders(orders)[static_cast<std::size_t>(l - 1)] != only->forward) return false;
        if (only && on.splits_neighbourhoods()) return false;
        if (!model.product(l).maps() && on.sends_nonzeros()) return false;
    }
    return true;
}

// Every rank sends as much with rings as without, in two redistributions less for each of them.
TEST(Ring, TakesThePlaceOfTwoRedistributions) {
    const UniformStats graph(41, 200, false);
    int compared = 0, rings_seen = 0;
    for (const ModelRecord& record : models_of_all_kinds()) {
        const SiteGraph model = sites_of(applied(models::build(record)));
        for (const int ranks : {2, 3, 4, 6, 8}) {
            for (const Distribution& on : enumerate::distributions(ranks, {})) {
                if (why_no_ring(model, on)) continue;
                for (const std::string orders : {"SSS", "SSD", "SDS", "SDD", "DSS", "DSD", "DDS", "DDD"}) {
                    if (!fits(model, orders, on)) continue;
                    SCOPED_TRACE(record.name + " " + record.aggregator +
                                 (record.residual != Residual::none ? " residual " : " ") +
                                 (record.jk != JumpingKnowledge::none ? "jk " : "") + on.grid.text() + " " + orders);
                    const Configuration with = configuration_on(on, orders, true);
                    const Schedule rung = lowered(record, with);
                    const Schedule plain = lowered(record, configuration_on(on, orders, false));
                    const auto rings = std::ssize(rings_of(rung));
                    EXPECT_EQ(Rules(model, with).any_rings(), rings > 0);
                    const auto moves = [](const Schedule& s) {
                        return std::ssize(steps_of(s, [](const Operation& o) { return redistributed(o).has_value(); }));
                    };
                    EXPECT_EQ(moves(plain) - moves(rung), 2 * rings);
                    EXPECT_EQ(std::ssize(plain.steps) - std::ssize(rung.steps), 2 * rings);
                    EXPECT_EQ(std::ssize(plain.tensors) - std::ssize(rung.tensors), 2 * rings);
                    const TrafficTotal a = total_traffic(plain, Phase::epoch, graph);
                    const TrafficTotal b = total_traffic(rung, Phase::epoch, graph);
                    EXPECT_EQ(a.total_bytes, b.total_bytes);
                    EXPECT_EQ(a.max_rank_bytes, b.max_rank_bytes);
                    ++compared, rings_seen += rings > 0 ? 1 : 0;
                    if (HasFailure()) return;
                }
            }
        }
    }
    EXPECT_GT(compared, 1000);
    EXPECT_GT(rings_seen, 150);
}

// The wide hidden matrices, which take most of the memory, are there once, by columns; in whole rows there are tiles.
TEST(Ring, LowersThePeakByMatricesInWholeRows) {
    constexpr std::int64_t vertices = 40'000;
    const UniformStats graph(vertices, vertices, false);
    const ModelRecord wide = model_of("gcn", [](ModelRecord& m) { m.widths = {32, 16, 512, 16}; });
    for (const int y : {2, 4, 8}) {
        const Distribution on{Sharing::replicated, {1, y, 1}};
        const auto arena = [&](bool ring) {
            return plan_memory(lowered(wide, configuration_on(on, "DDD", ring), vertices), graph, 0).arena_bytes;
        };
        const std::int64_t block = 4 * vertices * 512 / y;
        EXPECT_LT(10 * (arena(true) + block * (y - 1) / y), 11 * arena(false)) << y;
        EXPECT_LT(arena(true), arena(false) - block * (y - 1) / y * 9 / 10) << y;
    }
}

TEST(Ring, IsRefusedWhereItCannotBe) {
    const auto refused = [](const SiteGraph& model, const Configuration& c) {
        try {
            lower(model, c, shape_of(41));
            return std::string("accepted");
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return error.where();
        }
    };
    const OpGraph gcn = models::build(model_of("gcn"));
    EXPECT_EQ(refused(sites_of(applied(gcn)), configuration_on({Sharing::replicated, {4, 1, 1}}, "SSS", true)), "ring");
    EXPECT_EQ(refused(sites_of(applied(gcn)), configuration_on({Sharing::block_distributed, {2, 2, 1}}, "SSS", true)),
              "ring");
    Configuration training = configuration_on({Sharing::replicated, {2, 2, 1}}, "SSS", true);
    training.backward = parse_orders("SS-"), training.operands = parse_operands("TTT");
    EXPECT_EQ(refused(sites_of(gcn), training), "ring");
    training.ring = false;
    EXPECT_NO_THROW(lower(sites_of(gcn), training, shape_of(41)));
}

TEST(Ring, IsAChoiceOfPassesThatOnlyGoForward) {
    using Choices = std::vector<bool>;
    const Distribution split{Sharing::replicated, {2, 2, 1}}, rows{Sharing::replicated, {4, 1, 1}};
    const Distribution dealt{Sharing::block_distributed, {2, 2, 1}};
    const OpGraph trained = models::build(model_of("gcn"));
    const SiteGraph inference = sites_of(applied(trained)), training = sites_of(trained);
    const auto rings = [](const SiteGraph& model, const Distribution& on, std::optional<bool> pin) {
        enumerate::Asked asked{model};
        asked.pins.ring = pin;
        Choices found;
        for (const Switches& switches : enumerate::lowered_switches(asked, on, false)) {
            if (!switches.permutation) found.push_back(switches.ring);
        }
        return found;
    };
    EXPECT_EQ(rings(inference, split, {}), (Choices{false, true}));
    EXPECT_EQ(rings(inference, split, true), Choices{true});
    EXPECT_EQ(rings(inference, split, false), Choices{false});
    EXPECT_EQ(rings(training, split, {}), Choices{false});
    for (const Distribution& on : {rows, dealt}) {
        EXPECT_EQ(rings(inference, on, {}), Choices{false});
        EXPECT_EQ(rings(inference, on, true), Choices());
    }
}

}  // namespace
}  // namespace gnnplan::lower
