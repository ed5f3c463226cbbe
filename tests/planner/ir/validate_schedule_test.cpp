// Errors of a stranger's schedule: each alteration of a valid one must be refused, naming the place.
#include "tests/planner/lower/configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>

#include <functional>

namespace gnnplan {
namespace {

Schedule valid() { return lower::lowered(enumerate::all_orders(2)[9], {13, 7, 5}, 4, 2, 20, true); }

template <class Kind>
Kind& first(Schedule& s) {
    for (Step& step : s.steps) {
        if (auto* found = std::get_if<Kind>(&step.operation)) return *found;
    }
    throw std::logic_error("no such step");
}

MapStep& first_map(Schedule& s, MapOp op) {
    for (Step& step : s.steps) {
        auto* map = std::get_if<MapStep>(&step.operation);
        if (map != nullptr && map->op == op) return *map;
    }
    throw std::logic_error("no such map");
}

TensorId named(const Schedule& s, const std::string& name) {
    for (std::size_t id = 0; id < s.tensors.size(); ++id) {
        if (s.tensors[id].name == name) return static_cast<TensorId>(id);
    }
    throw std::logic_error("no tensor " + name);
}

struct Alteration {
    const char* what;
    std::function<void(Schedule&)> apply;
};

const Alteration alterations[] = {
    {"a tensor id past the table", [](Schedule& s) { first<SpmmStep>(s).column_operands = {1000}; }},
    {"a negative tensor id", [](Schedule& s) { first<GemmStep>(s).out = -1; }},
    {"a huge grid",
     [](Schedule& s) {
         s.grid = {1 << 20, 1 << 20, 1 << 20};
     }},
    {"an empty grid", [](Schedule& s) { s.grid.x = 0; }},
    {"absurd rows", [](Schedule& s) { s.tensors[0].rows = std::int64_t{1} << 62; }},
    {"no columns", [](Schedule& s) { s.tensors[1].columns = 0; }},
    {"two tensors of one name", [](Schedule& s) { s.tensors[1].name = s.tensors[0].name; }},
    {"two steps of one name", [](Schedule& s) { s.steps[1].name = s.steps[0].name; }},
    {"an axis used twice",
     [](Schedule& s) {
         s.tensors[named(s, "W1")].layout = {Axes::parse("x"), Axes::parse("x"), {}};
     }},
    {"a product of the wrong width",
     [](Schedule& s) { s.tensors[static_cast<std::size_t>(first<GemmStep>(s).out)].columns += 1; }},
    {"a step removed, so that its output is never written", [](Schedule& s) { s.steps.erase(s.steps.begin()); }},
    {"an SpMM on a dense matrix", [](Schedule& s) { first<SpmmStep>(s).matrix = named(s, "W1"); }},
    {"an SpMM in place", [](Schedule& s) { first<SpmmStep>(s).results = first<SpmmStep>(s).column_operands; }},
    {"an SpMM without its exchange", [](Schedule& s) { first<SpmmStep>(s).exchange = Exchange::none; }},
    {"a split contraction",
     [](Schedule& s) {
         s.grid = {1, 2, 2};
     }},
    {"a redistribution to a replicated layout",
     [](Schedule& s) {
         s.tensors[static_cast<std::size_t>(first<RedistributeStep>(s).out)].layout = layout_replicated();
     }},
    {"a redistribution that changes type",
     [](Schedule& s) { s.tensors[static_cast<std::size_t>(first<RedistributeStep>(s).out)].dtype = DType::f64; }},
    {"an all-reduce of a weight", [](Schedule& s) { first<AllReduceStep>(s).tensor = named(s, "W1"); }},
    {"a mask of another shape",
     [](Schedule& s) { s.tensors[static_cast<std::size_t>(*first_map(s, MapOp::apply_mask).operand)].rows -= 1; }},
    {"a mask that is missing", [](Schedule& s) { first_map(s, MapOp::apply_mask).operand.reset(); }},
    {"a bias of the wrong role", [](Schedule& s) { first_map(s, MapOp::activate).operand = named(s, "W1"); }},
    {"labels that are features", [](Schedule& s) { first<LossStep>(s).labels = first<LossStep>(s).logits; }},
    {"a loss of two numbers",
     [](Schedule& s) { s.tensors[static_cast<std::size_t>(first<LossStep>(s).loss)].columns = 2; }},
    {"an update of the features", [](Schedule& s) { first<UpdateStep>(s).weight = first<LossStep>(s).labels; }},
    {"logits of another width than their gradient",
     [](Schedule& s) { s.tensors[static_cast<std::size_t>(first<LossStep>(s).logits)].columns += 1; }},
    {"unused labels of bytes",
     [](Schedule& s) {
         s.tensors.push_back({"more", Role::labels, DType::u8, 20, 1, layout_r()});
     }},
    {"unused labels with split columns",
     [](Schedule& s) {
         s.tensors.push_back({"more", Role::labels, DType::i32, 20, 1, layout_c()});
     }},
    {"unused subset of bits",
     [](Schedule& s) {
         s.tensors.push_back({"more", Role::subset, DType::bits, 20, 1, layout_r()});
     }},
    {"an unused moment that is split",
     [](Schedule& s) {
         s.tensors.push_back({"more", Role::moment, DType::f32, 20, 20, layout_r()});
     }},
    {"unused moments whose sizes overflow in sum",
     [](Schedule& s) {
         for (int i = 0; i < 8; ++i) {
             s.tensors.push_back(
                 {"more" + std::to_string(i), Role::moment, DType::f32, 1 << 30, 1 << 29, layout_replicated()});
         }
     }},
    {"an adjacency as mask", [](Schedule& s) { first_map(s, MapOp::activate).out = named(s, "A^T"); }},
    {"a mask that is not of bits", [](Schedule& s) { first_map(s, MapOp::activate).out = first<GemmStep>(s).out; }},
    {"dropout of a transient", [](Schedule& s) { first_map(s, MapOp::dropout).tensor = first<GemmStep>(s).out; }},
    {"a product written over dropped features, which may be the features",
     [](Schedule& s) { first<GemmStep>(s).out = *first_map(s, MapOp::dropout).out; }},
    {"a gradient that is not summed over ranks",
     [](Schedule& s) { std::erase_if(s.steps, [](const Step& step) { return step.name == "all_reduce.W1"; }); }},
    {"a loss that is not summed over ranks",
     [](Schedule& s) { std::erase_if(s.steps, [](const Step& step) { return step.name == "loss.all_reduce"; }); }},
    {"counts that are not summed over ranks",
     [](Schedule& s) {
         std::erase_if(s.steps, [](const Step& step) { return step.name == "evaluation.score.all_reduce"; });
     }},
    {"a gradient that is summed twice",
     [](Schedule& s) {
         for (std::size_t i = 0; i < s.steps.size(); ++i) {
             if (s.steps[i].name != "all_reduce.W1") continue;
             Step again = s.steps[i];
             again.name = "again";
             s.steps.insert(s.steps.begin() + static_cast<long>(i), again);
             return;
         }
     }},
    {"SGD with Adam's moments", [](Schedule& s) { first<UpdateStep>(s).rule = Optimiser::sgd; }},
    {"Adam without a moment", [](Schedule& s) { first<UpdateStep>(s).moment2.reset(); }},
    {"one moment for two", [](Schedule& s) { first<UpdateStep>(s).moment2 = first<UpdateStep>(s).moment1; }},
};

TEST(ValidateSchedule, RefusesEveryAlteration) {
    ASSERT_NO_THROW(validate(valid()));
    for (const Alteration& alteration : alterations) {
        Schedule s = valid();
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

}  // namespace
}  // namespace gnnplan
