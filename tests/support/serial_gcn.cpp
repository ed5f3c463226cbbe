#include "tests/support/serial_gcn.hpp"

#include "kernels/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gnnplan::testing {
namespace {

using Values = std::vector<double>;  // a dense row-major matrix

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// c = m * b, b has `width` columns.
Values sparse_times(const SparseMatrix& m, const Values& b, std::int64_t width) {
    Values c(index(m.size * width), 0.0);
    for (std::int64_t i = 0; i < m.size; ++i) {
        for (std::int64_t e = m.row_start[index(i)]; e < m.row_start[index(i + 1)]; ++e) {
            for (std::int64_t j = 0; j < width; ++j) {
                c[index(i * width + j)] += m.value[index(e)] * b[index(m.column[index(e)] * width + j)];
            }
        }
    }
    return c;
}

// c = a * b; a is n x k, b is k x m.
Values times(const Values& a, const Values& b, std::int64_t n, std::int64_t k, std::int64_t m) {
    Values c(index(n * m), 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t t = 0; t < k; ++t) {
            for (std::int64_t j = 0; j < m; ++j) c[index(i * m + j)] += a[index(i * k + t)] * b[index(t * m + j)];
        }
    }
    return c;
}

// c = a^T * b; a is n x k, b is n x m.
Values transposed_times(const Values& a, const Values& b, std::int64_t n, std::int64_t k, std::int64_t m) {
    Values c(index(k * m), 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t t = 0; t < k; ++t) {
            for (std::int64_t j = 0; j < m; ++j) c[index(t * m + j)] += a[index(i * k + t)] * b[index(i * m + j)];
        }
    }
    return c;
}

// c = a * b^T; a is n x m, b is k x m.
Values times_transposed(const Values& a, const Values& b, std::int64_t n, std::int64_t m, std::int64_t k) {
    Values c(index(n * k), 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t t = 0; t < k; ++t) {
            for (std::int64_t j = 0; j < m; ++j) c[index(i * k + t)] += a[index(i * m + j)] * b[index(t * m + j)];
        }
    }
    return c;
}

// What dropout multiplies each element of the input of `layer` with: 0 or 1 / (1 - p).
Values dropout_factors(const SerialProblem& problem, const SerialSettings& settings, int layer, std::uint32_t epoch) {
    const std::int64_t rows = problem.vertices();
    const std::int64_t columns = problem.widths[index(layer - 1)];
    const float p = layer == 1 ? settings.input_dropout : settings.dropout;
    Values factors(index(rows * columns), 1.0);
    if (p == 0) return factors;
    std::vector<float> ones(factors.size(), 1.0F);
    std::vector<float> dropped(factors.size());
    const kernels::DropoutKey key{settings.seed, epoch, static_cast<std::uint32_t>(layer), p, 0, 0};
    kernels::reference_table().dropout({ones.data(), rows, columns, columns}, {dropped.data(), rows, columns, columns},
                                       key);
    const double scale = 1.0 / (1.0 - static_cast<double>(p));
    std::transform(dropped.begin(), dropped.end(), factors.begin(), [&](float d) { return d == 0 ? 0.0 : scale; });
    return factors;
}

void multiply(Values& a, const Values& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
}

// What the forward pass leaves for the backward pass; entry l - 1 belongs to layer l.
struct Activations {
    std::vector<Values> input;    // after dropout
    std::vector<Values> factors;  // of that dropout
    std::vector<Values> z;
};

Activations forward(const SerialProblem& problem, const SerialSettings& settings, const Parameters& parameters,
                    std::uint32_t epoch) {
    Activations kept;
    Values h = problem.features;
    for (int l = 1; l <= problem.layers(); ++l) {
        const std::int64_t in = problem.widths[index(l - 1)];
        const std::int64_t out = problem.widths[index(l)];
        kept.factors.push_back(dropout_factors(problem, settings, l, epoch));
        multiply(h, kept.factors.back());
        kept.input.push_back(h);
        Values z =
            times(sparse_times(problem.forward, h, in), parameters.weight[index(l - 1)], problem.vertices(), in, out);
        if (problem.bias) {
            for (std::size_t i = 0; i < z.size(); ++i) z[i] += parameters.bias[index(l - 1)][i % index(out)];
        }
        kept.z.push_back(z);
        h = z;
        for (double& value : h) value = std::max(value, 0.0);
    }
    return kept;
}

// Loss, and the gradient of the logits.
double cross_entropy(const SerialProblem& problem, const Values& logits, Values& gradient) {
    const std::int64_t classes = problem.widths.back();
    const double count = static_cast<double>(std::count(problem.training.begin(), problem.training.end(), 1));
    gradient.assign(logits.size(), 0.0);
    double loss = 0;
    for (std::int64_t v = 0; v < problem.vertices(); ++v) {
        if (problem.training[index(v)] != 1) continue;
        const double* row = &logits[index(v * classes)];
        const double largest = *std::max_element(row, row + classes);
        double sum = 0;
        for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(row[c] - largest);
        const std::int64_t label = problem.labels[index(v)];
        loss += std::log(sum) + largest - row[label];
        for (std::int64_t c = 0; c < classes; ++c) {
            gradient[index(v * classes + c)] = (std::exp(row[c] - largest) / sum - (c == label ? 1.0 : 0.0)) / count;
        }
    }
    return loss / count;
}

double kink_distance(const std::vector<Values>& z) {
    double distance = std::numeric_limits<double>::infinity();
    for (std::size_t l = 0; l + 1 < z.size(); ++l) {
        for (const double value : z[l]) {
            if (value != 0) distance = std::min(distance, std::abs(value));
        }
    }
    return distance;
}

// One Adam step (Kingma & Ba 2015, algorithm 1) with L2 decay.
void adam(const SerialSettings& settings, double decay, int step, const Values& gradient, Values& w, Values& m1,
          Values& m2) {
    for (std::size_t i = 0; i < w.size(); ++i) {
        const double g = gradient[i] + decay * w[i];
        m1[i] = settings.beta1 * m1[i] + (1 - settings.beta1) * g;
        m2[i] = settings.beta2 * m2[i] + (1 - settings.beta2) * g * g;
        const double first = m1[i] / (1 - std::pow(settings.beta1, step));
        const double second = m2[i] / (1 - std::pow(settings.beta2, step));
        w[i] -= settings.learning_rate * first / (std::sqrt(second) + settings.epsilon);
    }
}

// One step of torch.optim.SGD; of Adam unless the settings say so.
void update(const SerialSettings& settings, double decay, int step, const Values& gradient, Values& w, Values& m1,
            Values& m2) {
    if (!settings.sgd) return adam(settings, decay, step, gradient, w, m1, m2);
    for (std::size_t i = 0; i < w.size(); ++i) {
        m1[i] = settings.momentum * m1[i] + gradient[i] + decay * w[i];
        w[i] -= settings.learning_rate * m1[i];
    }
}

void scale(Parameters& parameters, double factor) {
    for (auto* group : {&parameters.weight, &parameters.bias}) {
        for (Values& values : *group) {
            for (double& value : values) value *= factor;
        }
    }
}

}  // namespace

SparseMatrix transposed(const SparseMatrix& matrix) {
    SparseMatrix result;
    result.size = matrix.size;
    result.row_start.push_back(0);
    std::vector<std::vector<std::pair<std::int64_t, double>>> rows(index(matrix.size));
    for (std::int64_t i = 0; i < matrix.size; ++i) {
        for (std::int64_t e = matrix.row_start[index(i)]; e < matrix.row_start[index(i + 1)]; ++e) {
            rows[index(matrix.column[index(e)])].emplace_back(i, matrix.value[index(e)]);
        }
    }
    for (const auto& row : rows) {
        for (const auto& [column, value] : row) {
            result.column.push_back(column);
            result.value.push_back(value);
        }
        result.row_start.push_back(static_cast<std::int64_t>(result.column.size()));
    }
    return result;
}

Parameters zeros_like(const Parameters& parameters) {
    Parameters zeros;
    for (const Values& w : parameters.weight) zeros.weight.emplace_back(w.size(), 0.0);
    for (const Values& b : parameters.bias) zeros.bias.emplace_back(b.size(), 0.0);
    return zeros;
}

Parameters initial_parameters(const SerialProblem& problem, std::uint64_t seed) {
    Parameters parameters;
    for (int l = 1; l <= problem.layers(); ++l) {
        const std::int64_t in = problem.widths[index(l - 1)];
        const std::int64_t out = problem.widths[index(l)];
        std::vector<float> w(index(in * out));
        kernels::glorot_uniform(seed, static_cast<std::uint32_t>(l), {w.data(), in, out, out});
        parameters.weight.emplace_back(w.begin(), w.end());
        parameters.bias.emplace_back(problem.bias ? index(out) : 0, 0.0);
    }
    return parameters;
}

LossAndGradient loss_and_gradient(const SerialProblem& problem, const SerialSettings& settings,
                                  const Parameters& parameters, std::uint32_t epoch) {
    const std::int64_t n = problem.vertices();
    const Activations kept = forward(problem, settings, parameters, epoch);
    const SparseMatrix backward = transposed(problem.forward);
    LossAndGradient result;
    result.logits = kept.z.back();
    result.kink_distance = kink_distance(kept.z);
    result.gradient = zeros_like(parameters);
    Values g;  // of Z^l
    result.loss = cross_entropy(problem, result.logits, g);
    for (int l = problem.layers(); l >= 1; --l) {
        const std::int64_t in = problem.widths[index(l - 1)];
        const std::int64_t out = problem.widths[index(l)];
        if (problem.bias) {
            for (std::size_t i = 0; i < g.size(); ++i) result.gradient.bias[index(l - 1)][i % index(out)] += g[i];
        }
        const Values ag = sparse_times(backward, g, out);
        result.gradient.weight[index(l - 1)] = transposed_times(kept.input[index(l - 1)], ag, n, in, out);
        if (l == 1) break;
        g = times_transposed(ag, parameters.weight[index(l - 1)], n, out, in);
        multiply(g, kept.factors[index(l - 1)]);
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = kept.z[index(l - 2)][i] > 0 ? g[i] : 0.0;
    }
    return result;
}

std::vector<SerialEpoch> train(const SerialProblem& problem, const SerialSettings& settings, const Parameters& initial,
                               int epochs) {
    std::vector<SerialEpoch> result;
    Parameters current = initial;
    Parameters m1 = zeros_like(initial);
    Parameters m2 = zeros_like(initial);
    for (int epoch = 1; epoch <= epochs; ++epoch) {
        SerialEpoch record;
        record.before = loss_and_gradient(problem, settings, current, static_cast<std::uint32_t>(epoch));
        for (std::size_t l = 0; l < current.weight.size(); ++l) {
            const double decay = l == 0 || settings.decay_all_layers ? settings.weight_decay : 0.0;
            update(settings, decay, epoch, record.before.gradient.weight[l], current.weight[l], m1.weight[l],
                   m2.weight[l]);
            update(settings, 0.0, epoch, record.before.gradient.bias[l], current.bias[l], m1.bias[l], m2.bias[l]);
        }
        record.after = current;
        record.second_moment = m2;
        scale(record.second_moment, 1 / (1 - std::pow(settings.beta2, epoch)));
        result.push_back(std::move(record));
    }
    return result;
}

}  // namespace gnnplan::testing
