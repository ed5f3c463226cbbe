// Figures that `gnnplan calibrate --quick` measured, rounded to three digits. Costs of gathering are made to ascend.
// Rates of large copies, which it left out, are those of the fastest of many.
#include "planner/catalog/reference_machine.hpp"

#include "planner/catalog/machines.hpp"

#include <iterator>

namespace gnnplan::catalog {
namespace {

std::vector<GatherCurve> gather_curves() {
    return {
        {16,
         {{262144, 1.01e-09},
          {1048576, 1.13e-09},
          {4194304, 1.4e-09},
          {16777216, 1.69e-09},
          {67108864, 2.36e-09},
          {268435456, 2.98e-09}},
         7.66e-09},
        {41,
         {{262072, 1.76e-09},
          {1048452, 2.13e-09},
          {4194300, 2.35e-09},
          {16777200, 2.49e-09},
          {67108800, 6.21e-09},
          {268435364, 6.21e-09}},
         1.22e-08},
        {128,
         {{262144, 2.96e-09},
          {1048576, 3.03e-09},
          {4194304, 4.74e-09},
          {16777216, 5.6e-09},
          {67108864, 1.13e-08},
          {268435456, 1.47e-08}},
         6.51e-09},
        {602,
         {{260064, 1.43e-08},
          {1047480, 1.67e-08},
          {4192328, 1.86e-08},
          {16776536, 2.37e-08},
          {67108552, 3.13e-08},
          {268434208, 5.82e-08}},
         1.01e-07},
    };
}

namespace of_gemm {
using enum GemmKind;
constexpr GemmRate rates[] = {
    {forward, 16, 16, 1.1e+11},
    {forward, 16, 40, 1.11e+11},
    {forward, 16, 128, 1.77e+11},
    {forward, 16, 512, 1.84e+11},
    {forward, 40, 16, 1.19e+11},
    {forward, 40, 40, 1.82e+11},
    {forward, 40, 128, 2.55e+11},
    {forward, 40, 512, 2.43e+11},
    {forward, 128, 16, 2.21e+11},
    {forward, 128, 40, 1.93e+11},
    {forward, 128, 128, 2.65e+11},
    {forward, 128, 512, 2.61e+11},
    {forward, 512, 16, 2.26e+11},
    {forward, 512, 40, 2.1e+11},
    {forward, 512, 128, 2.77e+11},
    {forward, 512, 512, 2.61e+11},
    {input_gradient, 16, 16, 1.08e+11},
    {input_gradient, 16, 40, 1.23e+11},
    {input_gradient, 16, 128, 2.21e+11},
    {input_gradient, 16, 512, 2.14e+11},
    {input_gradient, 40, 16, 1.1e+11},
    {input_gradient, 40, 40, 1.82e+11},
    {input_gradient, 40, 128, 1.92e+11},
    {input_gradient, 128, 128, 2.67e+11},
    {input_gradient, 512, 128, 2.67e+11},
    {input_gradient, 512, 512, 2.62e+11},
    {weight_gradient, 16, 16, 7.53e+10},
    {weight_gradient, 16, 40, 8.08e+10},
    {weight_gradient, 16, 128, 1.26e+11},
    {weight_gradient, 16, 512, 1.2e+11},
    {weight_gradient, 40, 16, 1.03e+11},
    {weight_gradient, 40, 40, 1.51e+11},
    {weight_gradient, 40, 128, 1.88e+11},
    {weight_gradient, 40, 512, 1.13e+11},
    {weight_gradient, 128, 16, 1.76e+11},
    {weight_gradient, 128, 40, 1.79e+11},
    {weight_gradient, 128, 128, 2.55e+11},
    {weight_gradient, 128, 512, 2.41e+11},
    {weight_gradient, 512, 16, 1.91e+11},
    {weight_gradient, 512, 40, 1.97e+11},
    {weight_gradient, 512, 128, 2.36e+11},
    {weight_gradient, 512, 512, 2.39e+11},
};
}  // namespace of_gemm

namespace of_streams {
using enum ElementwiseKind;
constexpr StreamRate rates[] = {
    {copy, 1048576, 2e+11},
    {copy, 16777216, 8.96e+10},
    {copy, 67108864, 3.7e+10},
    {copy, 268435456, 2.9e+10},
    {activate, 16777216, 1.62e+11},
    {activate, 268435456, 4.66e+10},
    {activate_dropout, 1048576, 3.43e+10},
    {activate_dropout, 4194304, 3.16e+10},
    {activate_dropout, 16777216, 3.04e+10},
    {activate_dropout, 67108864, 2.22e+10},
    {activate_dropout, 268435456, 2.04e+10},
    {dropout, 1048576, 1.27e+10},
    {dropout, 4194304, 1.29e+10},
    {dropout, 16777216, 1.21e+10},
    {dropout, 67108864, 1.26e+10},
    {dropout, 268435456, 1.24e+10},
    {positive_mask, 1048080, 1.24e+11},
    {positive_mask, 4193904, 1.04e+11},
    {positive_mask, 16777200, 5.23e+10},
    {positive_mask, 67108800, 4.14e+10},
    {positive_mask, 268435200, 3.7e+10},
    {apply_mask, 1048320, 2.36e+11},
    {apply_mask, 4193280, 2.06e+11},
    {apply_mask, 16776240, 1.82e+11},
    {apply_mask, 67108080, 9.53e+10},
    {apply_mask, 268435440, 6.95e+10},
    {column_sum, 1048576, 2.87e+10},
    {column_sum, 4194304, 3.42e+10},
    {column_sum, 16777216, 1.69e+10},
    {column_sum, 67108864, 1.3e+10},
    {column_sum, 268435456, 1.27e+10},
    {score, 1048575, 9.28e+09},
    {score, 4194300, 9.12e+09},
    {score, 16777200, 9.08e+09},
    {update, 16776704, 1.63e+11},
    {edge_softmax, 1079360, 7.91e+09},
    {edge_softmax, 4235536, 6.5e+09},
    {edge_softmax, 16748304, 5.97e+09},
    {edge_softmax, 67091264, 5.96e+09},
    {edge_softmax, 268715504, 5.86e+09},
    {edge_softmax_back, 1074952, 3.15e+10},
    {edge_softmax_back, 4270984, 3.06e+10},
    {edge_softmax_back, 16825232, 2.63e+10},
    {edge_softmax_back, 66983504, 2.71e+10},
    {edge_softmax_back, 268433808, 2.51e+10},
    {edge_transpose, 1074852, 4.27e+10},
    {edge_transpose, 4270272, 2.76e+10},
    {edge_transpose, 16765104, 1.25e+10},
    {edge_transpose, 67001472, 3.97e+09},
    {edge_transpose, 268489860, 3.16e+09},
    {head_dot, 1048560, 2.49e+10},
    {head_dot, 4194240, 2.55e+10},
    {head_dot, 16776960, 2.42e+10},
    {head_dot, 67108656, 2.47e+10},
    {head_dot, 268435440, 2.46e+10},
    {head_spread, 1048080, 4.06e+10},
    {head_spread, 4193904, 3.92e+10},
    {head_spread, 16777200, 3.85e+10},
    {head_spread, 67108800, 4.01e+10},
    {head_spread, 268435200, 4e+10},
    {head_fold, 1048560, 2.14e+10},
    {head_fold, 4194240, 2.35e+10},
    {head_fold, 16776960, 2.26e+10},
    {head_fold, 67108656, 2.36e+10},
    {head_fold, 268435440, 2.32e+10},
    {head_unit, 16777200, 3.84e+10},
    {head_unit_back, 16776672, 6.38e+10},
    {head_unit_back, 67108800, 5.39e+10},
    {head_unit_back, 268435200, 5.15e+10},
};
}  // namespace of_streams

namespace of_programs {
using enum Program;
constexpr ProgramCost rates[] = {
    {max, 0, false, {-6.25e-10, 1.5e-11}, {1.03e-08, -1.37e-10}, 4194304, 0.0433},
    {max_back, 0, false, {-3.72e-10, 1.22e-11}, {-2.39e-08, 3.15e-10}, 4194304, 0.314},
    {attend, 1, false, {2.14e-09, -1.27e-12}, {5.78e-08, -6.37e-11}, 4194240, 0.101},
    {attend, 4, false, {1.33e-09, 4.28e-11}, {3.07e-08, 1.27e-10}, 4194240, 0.468},
    {attend, 8, false, {2.3e-09, 4.74e-11}, {2.56e-08, 9.21e-11}, 4194240, 0.444},
    {attend, 1, true, {5.93e-09, 4.92e-12}, {5.78e-08, -6.37e-11}, 4194240, 0.101},
    {attend, 4, true, {8.14e-09, 5.28e-11}, {3.07e-08, 1.27e-10}, 4194240, 0.468},
    {attend, 8, true, {5.08e-09, 7.91e-11}, {2.56e-08, 9.21e-11}, 4194240, 0.444},
    {attend_back, 1, false, {2.58e-09, 7.26e-12}, {2.82e-09, 6.66e-10}, 4194288, 0.32},
    {attend_back, 4, false, {2.6e-09, 6.99e-11}, {0, 0}, 4194288, 3.21},
    {attend_back, 8, false, {6.2e-09, 2.39e-11}, {-2.35e-08, 1.57e-09}, 4194080, 0.349},
    {attend_back, 1, true, {7.78e-09, 5.34e-12}, {2.82e-09, 6.66e-10}, 4194288, 0.32},
    {attend_back, 4, true, {8.79e-09, 7.41e-11}, {0, 0}, 4194288, 3.21},
    {attend_back, 8, true, {6.53e-09, 6.76e-11}, {-2.35e-08, 1.57e-09}, 4194240, 0.349},
    {dot, 0, false, {5.49e-10, 9.88e-12}, {2.24e-08, -2.57e-10}, 4194304, 1.85},
};
}  // namespace of_programs

Calibration curves() {
    Calibration calibration;
    calibration.gather = gather_curves();
    calibration.gemm = {std::begin(of_gemm::rates), std::end(of_gemm::rates)};
    calibration.gemm_lanes = 16;
    calibration.streams = {std::begin(of_streams::rates), std::end(of_streams::rates)};
    calibration.programs = {std::begin(of_programs::rates), std::end(of_programs::rates)};
    calibration.loss = LossCost{3.58e-08, 3.73e-10};
    calibration.all_reduce =
        Link{3.65e-07, 3.07e+09, {{0, 3.24e-07, 1.54e+09}, {8192, 4.54e-06, 9.31e+09}, {8388608, 0, 3.07e+09}}};
    calibration.reduce_scatter =
        Link{7.03e-07, 5.97e+09, {{0, 6.49e-07, 1.2e+09}, {8192, 4.29e-06, 1.01e+10}, {8388608, 0, 5.97e+09}}};
    calibration.redistribution = Link{5.98e-07, 1.28e+10, {{0, 5.93e-07, 1.28e+10}}};
    calibration.overlapping = OverlapCost{1.18, 9.01e-06, 0.405};
    // Another machine is not a rescaled copy of this one: half of its times are taken to be within a sixth, and nine in
    // ten within a half.
    calibration.error_median = 0.15;
    calibration.error_p90 = 0.5;
    return calibration;
}

}  // namespace

Machine reference_machine() {
    Machine machine = find_machine("cpu-node");
    machine.intra_node = {
        6.57e-07,
        1.98e+10,
        {{0, 6.08e-07, 1.32e+09}, {8192, 3.28e-06, 1.71e+10}, {524288, 4.77e-06, 3.33e+10}, {8388608, 0, 1.98e+10}}};
    machine.gemm_flops_per_second = 2.6e11;
    machine.memory_bytes_per_second = 4.7e10;
    machine.step_seconds = 4.29e-07;
    machine.calibration = curves();
    return machine;
}

}  // namespace gnnplan::catalog
