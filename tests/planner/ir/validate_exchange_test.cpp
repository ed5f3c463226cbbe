// Errors of a stranger's schedule about exchanges, sums over an axis, cached products and column-parallel
// steps.
#include "tests/planner/lower/full_configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace gnnplan {
namespace {

// 1.5D without replication, needed rows, the first aggregation cached; rdm with the input in F and the loss in C;
// CAGNET's 1.5D. All with pruned rows, whose dropout is keyed by vertices.
Schedule valid(int which) {
    constexpr auto S = Order::sparse_first, D = Order::dense_first;
    constexpr auto T = Operand::product, G = Operand::gradient;
    lower::FullCase full{{Sharing::replicated, {2, 1, 2}}, {}, Exchange::rows, which == 0, true};
    if (which == 0) full.choices = {{S, Order::none, T, true, true}, {S, S, G}};
    if (which == 1) {
        full.on = {Sharing::replicated, {2, 2, 1}};
        full.choices = {{D, Order::none, G, true, false, true}, {D, D, T, false, false, false, true}};
    }
    if (which == 2) {
        full.on = {Sharing::block_distributed, {2, 2, 1}};
        full.exchange = Exchange::panels;
        full.choices = {{S, Order::none, G}, {D, S, G}};
    }
    return lower::lowered(full, {13, 7, 5}, UniformStats(40, 120, false, 0.3));
}

Step& named(Schedule& s, const std::string& name) {
    for (Step& step : s.steps) {
        if (step.name == name) return step;
    }
    throw std::logic_error("no step " + name);
}

template <class Kind>
Kind& first(Schedule& s) {
    for (Step& step : s.steps) {
        if (auto* found = std::get_if<Kind>(&step.operation)) return *found;
    }
    throw std::logic_error("no such step");
}

MapStep& keyed(Schedule& s) {
    for (Step& step : s.steps) {
        auto* map = std::get_if<MapStep>(&step.operation);
        if (map != nullptr && map->vertices) return *map;
    }
    throw std::logic_error("no dropout keyed by vertices");
}

Tensor& tensor(Schedule& s, TensorId id) { return s.tensors[static_cast<std::size_t>(id)]; }

template <class Kind>
void erase_kind(Schedule& s) {
    std::erase_if(s.steps, [](const Step& step) { return std::holds_alternative<Kind>(step.operation); });
}

struct Alteration {
    const char* what;
    int of;
    std::function<void(Schedule&)> apply;
};

const Alteration alterations[] = {
    {"needed rows that nobody asked for", 0, [](Schedule& s) { erase_kind<RowRequestStep>(s); }},
    {"rows asked for in every epoch", 0,
     [](Schedule& s) {
         for (Step& step : s.steps) {
             if (std::holds_alternative<RowRequestStep>(step.operation)) step.phase = Phase::epoch;
         }
     }},
    {"rows asked for twice", 0,
     [](Schedule& s) {
         s.steps.push_back({"again", Phase::setup, first<RowRequestStep>(s)});
     }},
    {"rows asked for of a dense matrix", 0,
     [](Schedule& s) { first<RowRequestStep>(s).matrix = first<SpmmStep>(s).column_operands.front(); }},
    {"a summand that is read before it is summed", 0, [](Schedule& s) { erase_kind<ReduceScatterStep>(s); }},
    {"a summand that is summed twice", 0,
     [](Schedule& s) {
         const Step& sum = named(s, "forward.2.spmm.reduce_scatter");
         s.steps.insert(s.steps.begin() + (&sum - s.steps.data()), Step{"again", Phase::epoch, sum.operation});
     }},
    {"a sum that is left in the layout of its summands", 0,
     [](Schedule& s) {
         auto& step = first<ReduceScatterStep>(s);
         tensor(s, step.out).layout = tensor(s, step.in).layout;
     }},
    {"a sum over an axis that splits nothing", 0,
     [](Schedule& s) { tensor(s, first<ReduceScatterStep>(s).in).layout.partial = Axes::parse("y"); }},
    {"a product that leaves no summand where its contraction side is split", 0,
     [](Schedule& s) { tensor(s, first<SpmmStep>(s).results.front()).layout.partial = Axes(); }},
    {"a cached product made in every epoch", 0, [](Schedule& s) { named(s, "setup.1.spmm").phase = Phase::epoch; }},
    {"a cached product that is never made", 0,
     [](Schedule& s) { std::erase_if(s.steps, [](const Step& step) { return step.phase == Phase::setup; }); }},
    {"vertices of bytes", 0, [](Schedule& s) { tensor(s, *keyed(s).vertices).dtype = DType::u8; }},
    {"vertices of other rows", 0, [](Schedule& s) { tensor(s, *keyed(s).vertices).rows -= 1; }},
    {"vertices that are labels", 0, [](Schedule& s) { keyed(s).vertices = first<LossStep>(s).labels; }},
    {"overlap with nothing", 1,
     [](Schedule& s) {
         s.grid = {1, 4, 1}, first<SpmmStep>(s).overlap = true;
     }},
    {"a column-parallel product that is transposed", 1, [](Schedule& s) { first<GemmStep>(s).transposed = true; }},
    {"a column-parallel product from C", 1, [](Schedule& s) { tensor(s, first<GemmStep>(s).in).layout = layout_c(); }},
    {"labels of a block's own rows for logits in C", 1,
     [](Schedule& s) { tensor(s, first<LossStep>(s).labels).layout = layout_r(); }},
    {"a loss on logits in F", 1, [](Schedule& s) { tensor(s, first<LossStep>(s).logits).layout = layout_f(); }},
    {"an operand of a dealt product in C", 2,
     [](Schedule& s) { tensor(s, first<SpmmStep>(s).column_operands.front()).layout = layout_c(); }},
    {"blocks dealt on a grid with z", 2,
     [](Schedule& s) {
         s.grid = {1, 2, 2};
     }},
    {"a matrix dealt over x", 2,
     [](Schedule& s) { tensor(s, first<SpmmStep>(s).matrix).layout.columns = Axes::parse("x"); }},
};

TEST(ValidateSchedule, RefusesEveryAlteredExchange) {
    for (int which = 0; which < 3; ++which) ASSERT_NO_THROW(validate(valid(which))) << which;
    for (const Alteration& alteration : alterations) {
        Schedule s = valid(alteration.of);
        alteration.apply(s);
        try {
            validate(s);
            ADD_FAILURE() << "accepted: " << alteration.what;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data) << alteration.what;
            EXPECT_FALSE(error.where().empty()) << alteration.what;
        }
    }
}

TEST(ValidateSchedule, AcceptsEveryLoweredOne) {
    const UniformStats graph(40, 120, false, 0.3);
    for (const lower::FullCase& full : lower::full_cases({1, 2, 3, 4, 6, 8, 12}, 5)) {
        EXPECT_NO_THROW(validate(lower::lowered(full, {13, 7, 5}, graph))) << full.text();
    }
}

}  // namespace
}  // namespace gnnplan
