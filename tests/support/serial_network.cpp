#include "tests/support/serial_network.hpp"

#include "kernels/table.hpp"
#include "tests/support/serial_attention.hpp"
#include "tests/support/serial_cosine.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gnnplan::testing {
namespace {

using Values = std::vector<double>;  // a dense row-major matrix

// c = m * b, b has `width` columns.
Values sparse_times(const SparseMatrix& m, const Values& b, std::int64_t width) {
    Values c(at(m.size * width), 0.0);
    for (std::int64_t i = 0; i < m.size; ++i) {
        for (std::int64_t e = m.row_start[at(i)]; e < m.row_start[at(i + 1)]; ++e) {
            for (std::int64_t j = 0; j < width; ++j) {
                c[at(i * width + j)] += m.value[at(e)] * b[at(m.column[at(e)] * width + j)];
            }
        }
    }
    return c;
}

// Row i of the result is the elementwise largest of the rows of b that row i of m has entries for; zeros for none.
Values largest_of(const SparseMatrix& m, const Values& b, std::int64_t width) {
    Values c(at(m.size * width), 0.0);
    for (std::int64_t i = 0; i < m.size; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
            for (std::int64_t e = m.row_start[at(i)]; e < m.row_start[at(i + 1)]; ++e) {
                const double x = b[at(m.column[at(e)] * width + j)];
                double& largest = c[at(i * width + j)];
                largest = e == m.row_start[at(i)] ? x : std::max(largest, x);
            }
        }
    }
    return c;
}

// The gradient of b of what largest_of() made `c`: in equal parts to those that are largest.
Values back_from_largest(const SparseMatrix& m, const Values& b, const Values& c, const Values& g, std::int64_t width) {
    Values result(b.size(), 0.0);
    for (std::int64_t i = 0; i < m.size; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
            std::vector<std::size_t> largest;
            for (std::int64_t e = m.row_start[at(i)]; e < m.row_start[at(i + 1)]; ++e) {
                const std::size_t place = at(m.column[at(e)] * width + j);
                if (b[place] == c[at(i * width + j)]) largest.push_back(place);
            }
            for (const std::size_t place : largest)
                result[place] += g[at(i * width + j)] / static_cast<double>(largest.size());
        }
    }
    return result;
}

// How far the largest is from the largest of the others, where they differ least.
double closest_to_largest(const SparseMatrix& m, const Values& b, const Values& c, std::int64_t width) {
    double distance = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < m.size; ++i) {
        for (std::int64_t e = m.row_start[at(i)]; e < m.row_start[at(i + 1)]; ++e) {
            for (std::int64_t j = 0; j < width; ++j) {
                const double gap = c[at(i * width + j)] - b[at(m.column[at(e)] * width + j)];
                if (gap > 0) distance = std::min(distance, gap);
            }
        }
    }
    return distance;
}

double activated(OpKind kind, double z) {
    if (z > 0) return z;
    return kind == OpKind::relu ? 0.0 : kind == OpKind::elu ? std::expm1(z) : 0.01 * z;
}

double slope(OpKind kind, double z) {
    if (z > 0) return 1;
    return kind == OpKind::relu ? 0.0 : kind == OpKind::elu ? std::exp(z) : 0.01;
}

// c = a * b; a is n x k, b is k x m.
Values times(const Values& a, const Values& b, std::int64_t n, std::int64_t k, std::int64_t m) {
    Values c(at(n * m), 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t t = 0; t < k; ++t) {
            for (std::int64_t j = 0; j < m; ++j) c[at(i * m + j)] += a[at(i * k + t)] * b[at(t * m + j)];
        }
    }
    return c;
}

// c = a^T * b; a is n x k, b is n x m.
Values transposed_times(const Values& a, const Values& b, std::int64_t n, std::int64_t k, std::int64_t m) {
    Values c(at(k * m), 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t t = 0; t < k; ++t) {
            for (std::int64_t j = 0; j < m; ++j) c[at(t * m + j)] += a[at(i * k + t)] * b[at(i * m + j)];
        }
    }
    return c;
}

// c = a * b^T; a is n x m, b is k x m.
Values times_transposed(const Values& a, const Values& b, std::int64_t n, std::int64_t m, std::int64_t k) {
    Values c(at(n * k), 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t t = 0; t < k; ++t) {
            for (std::int64_t j = 0; j < m; ++j) c[at(i * k + t)] += a[at(i * m + j)] * b[at(t * m + j)];
        }
    }
    return c;
}

// The factors of dropout for an n x `columns` matrix that layer `layer` reads: 0 or 1 / (1 - p).
Values dropout_factors(const SerialProblem& problem, const SerialSettings& settings, int layer, std::int64_t columns,
                       std::uint32_t epoch) {
    const std::int64_t rows = problem.vertices();
    const float p = layer == 1 ? settings.input_dropout : settings.dropout;
    Values factors(at(rows * columns), 1.0);
    if (p == 0) return factors;
    std::vector<float> ones(factors.size(), 1.0F);
    std::vector<float> dropped(factors.size());
    const kernels::PassValues pass = kernels::pass_values(epoch);
    const kernels::DropoutKey key{settings.seed,
                                  &pass,
                                  static_cast<std::uint32_t>(layer),
                                  p,
                                  0,
                                  0,
                                  problem.clone_of.empty() ? nullptr : problem.clone_of.data()};
    kernels::reference_table().dropout({ones.data(), rows, columns, columns}, {dropped.data(), rows, columns, columns},
                                       key);
    const double scale = 1.0 / (1.0 - static_cast<double>(p));
    std::transform(dropped.begin(), dropped.end(), factors.begin(), [&](float d) { return d == 0 ? 0.0 : scale; });
    return factors;
}

void multiply(Values& a, const Values& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
}

void add(Values& a, const Values& b) {
    if (a.empty()) a.assign(b.size(), 0.0);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
}

Values& value_of(const OpGraph& model, Parameters& parameters, int id) {
    const ParameterPlace place = place_of(model.parameters, id);
    return (place.vector ? parameters.bias : parameters.weight)[place.at];
}
const Values& value_of(const OpGraph& model, const Parameters& parameters, int id) {
    const ParameterPlace place = place_of(model.parameters, id);
    return (place.vector ? parameters.bias : parameters.weight)[place.at];
}

// One run through the operations of a model, forwards and backwards, over dense matrices.
class Tape {
public:
    Tape(const SerialProblem& problem, const SerialSettings& settings, const Parameters& parameters,
         std::uint32_t epoch)
        : problem_(problem),
          settings_(settings),
          parameters_(parameters),
          epoch_(epoch),
          model_(problem.model),
          values_(model_.ops.size()),
          gradients_(model_.ops.size()) {}

    void forward() {
        for (std::size_t id = 0; id + 1 < model_.ops.size(); ++id) values_[id] = value(model_.ops[id]);
    }

    // `gradient` is that of the logits.
    void backward(Values gradient, Parameters& of_parameters) {
        gradients_[logits_op()] = std::move(gradient);
        for (std::size_t id = model_.ops.size() - 1; id-- > 0;) {
            if (!gradients_[id].empty()) pass_back(model_.ops[id], gradients_[id], of_parameters);
        }
    }

    const Values& logits() const { return values_[logits_op()]; }

    // Moves running means and variances a tenth of the way towards those of this epoch.
    void keep_moments(Parameters& parameters) const {
        for (const Op& op : model_.ops) {
            if (op.kind != OpKind::batch_norm) continue;
            const Moments moments = moments_of(op);
            const double sample = static_cast<double>(rows()) / static_cast<double>(rows() - 1);
            Values& mean = value_of(model_, parameters, op.running[0]);
            Values& variance = value_of(model_, parameters, op.running[1]);
            for (std::size_t j = 0; j < mean.size(); ++j) {
                mean[j] = 0.9 * mean[j] + 0.1 * moments.mean[j];
                variance[j] = 0.9 * variance[j] + 0.1 * sample * moments.variance[j];
            }
        }
    }

    double kink_distance() const {
        double distance = std::numeric_limits<double>::infinity();
        for (const Op& op : model_.ops) {
            if (op.kind == OpKind::aggregate && op.reduce == Reduce::attention)
                distance = std::min(distance, attention(op).kink_distance());
            const bool reads_features = op.kind == OpKind::aggregate && model_.ops[at(op.inputs[0])].layer <= 1 &&
                                        model_.ops[at(op.inputs[0])].kind == OpKind::dropout;
            if (op.kind == OpKind::aggregate && op.reduce == Reduce::max && !reads_features) {
                const std::size_t id = at(&op - model_.ops.data());
                distance =
                    std::min(distance, closest_to_largest(problem_.matrix(op.layer), input(op), values_[id], op.width));
            }
            if (op.kind != OpKind::relu && op.kind != OpKind::leaky_relu) continue;
            for (const double z : values_[at(op.inputs[0])]) {
                if (z != 0) distance = std::min(distance, std::abs(z));
            }
        }
        return distance;
    }

private:
    std::size_t logits_op() const { return at(model_.ops.back().inputs[0]); }
    const Values& input(const Op& op, std::size_t which = 0) const { return values_[at(op.inputs[which])]; }
    std::int64_t in_width(const Op& op) const { return model_.ops[at(op.inputs[0])].width; }
    std::int64_t rows() const { return problem_.vertices(); }
    // The value of which each aggregation adds a share: that of its second input, or what it reads.
    const Values& added(const Op& op) const { return input(op, op.inputs.size() - 1); }
    const Values& parameter(const Op& op) const { return value_of(model_, parameters_, op.parameter); }

    // The factor of the vertex itself in an aggregation.
    double self(const Op& op) const { return op.self + (op.parameter < 0 ? 0.0 : parameter(op)[0]); }

    SerialAttention attention(const Op& op) const {
        return {problem_,
                settings_,
                op,
                epoch_,
                input(op),
                value_of(model_, parameters_, op.heads.source),
                value_of(model_, parameters_, op.heads.target)};
    }

    SerialCosine cosine(const Op& op) const {
        return {problem_.matrix(op.layer), input(op), op.width, parameter(op)[0]};
    }

    template <class Arrive>
    void back_from_aggregation(const Op& op, const Values& g, Parameters& of_parameters, const Arrive& arrive) {
        if (op.reduce == Reduce::attention) {
            const SerialAttention::Gradients back = attention(op).gradients(g);
            add(value_of(model_, of_parameters, op.heads.source), back.source);
            add(value_of(model_, of_parameters, op.heads.target), back.target);
            return arrive(back.h);
        }
        if (op.reduce == Reduce::cosine) {
            const SerialCosine::Gradients back = cosine(op).gradients(g);
            value_of(model_, of_parameters, op.parameter)[0] += back.beta;
            return arrive(back.h);
        }
        if (op.reduce == Reduce::max) {
            const Values& made = values_[at(&op - model_.ops.data())];
            return arrive(back_from_largest(problem_.matrix(op.layer), input(op), made, g, op.width));
        }
        auto [back, of_teleports] = propagated_back(op, g);
        for (std::size_t i = 0; i < g.size(); ++i) back[i] += self(op) * g[i];
        for (std::size_t i = 0; op.parameter >= 0 && i < g.size(); ++i)
            value_of(model_, of_parameters, op.parameter)[0] += g[i] * input(op)[i];
        arrive(back);
        if (op.teleport > 0) arrive(of_teleports, op.inputs.size() - 1);
    }

    // share W + (1 - share) I.
    Values mixed(const Op& op) const {
        Values w = parameter(op);
        for (double& x : w) x *= op.share;
        for (std::size_t i = 0; op.share != 1 && i < at(op.width); ++i) w[i * at(op.width + 1)] += 1 - op.share;
        return w;
    }

    // x = (1 - teleport) A^T x + teleport H from x = H on.
    Values propagated(const Op& op) const {
        Values x = input(op);
        for (int k = 0; k < op.hops; ++k) {
            x = sparse_times(problem_.matrix(op.layer), x, op.width);
            if (problem_.sums) problem_.sums->forward(op.layer, epoch_, op.width, input(op), x);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = (1 - op.teleport) * x[i] + op.teleport * added(op)[i];
        }
        return x;
    }

    // The gradients of H, of every step backwards what it has read, and of what these have added.
    std::pair<Values, Values> propagated_back(const Op& op, const Values& gradient) const {
        Values g = gradient, of_teleports(g.size(), 0.0);
        for (int k = 0; k < op.hops; ++k) {
            for (std::size_t i = 0; i < g.size(); ++i) of_teleports[i] += op.teleport * g[i];
            for (double& x : g) x *= 1 - op.teleport;
            if (problem_.sums) problem_.sums->backward(epoch_, op.width, g);
            g = sparse_times(transposed(problem_.matrix(op.layer)), g, op.width);
        }
        return {g, of_teleports};
    }

    // A norm makes numbers of mean 0 and length 1 of the elements of each row, or of each column.
    struct Lines {
        std::int64_t count, length, stride, step;

        std::size_t operator()(std::int64_t line, std::int64_t i) const { return at(line * stride + i * step); }
    };
    Lines lines_of(const Op& op) const {
        if (op.kind == OpKind::batch_norm) return {op.width, rows(), 1, op.width};
        return {rows(), op.width, op.width, 1};
    }
    struct Moments {
        Values mean, variance;  // by line
    };
    Moments moments_of(const Op& op) const {
        const Lines lines = lines_of(op);
        Moments made{Values(at(lines.count)), Values(at(lines.count))};
        if (op.kind == OpKind::batch_norm && settings_.known_moments)
            return {value_of(model_, parameters_, op.running[0]), value_of(model_, parameters_, op.running[1])};
        const auto length = static_cast<double>(lines.length);
        for (std::int64_t l = 0; l < lines.count; ++l) {
            double &mean = made.mean[at(l)], &variance = made.variance[at(l)];
            for (std::int64_t i = 0; i < lines.length; ++i) mean += input(op)[lines(l, i)] / length;
            for (std::int64_t i = 0; i < lines.length; ++i)
                variance += std::pow(input(op)[lines(l, i)] - mean, 2) / length;
        }
        return made;
    }
    Values whitened(const Op& op, const Moments& moments) const {
        const Lines lines = lines_of(op);
        Values x = input(op);
        for (std::int64_t l = 0; l < lines.count; ++l) {
            const double deviation = std::sqrt(moments.variance[at(l)] + 1e-5);
            for (std::int64_t i = 0; i < lines.length; ++i)
                x[lines(l, i)] = (x[lines(l, i)] - moments.mean[at(l)]) / deviation;
        }
        return x;
    }
    Values normalised(const Op& op) const {
        Values x = whitened(op, moments_of(op));
        const Values &weight = parameter(op), &bias = value_of(model_, parameters_, op.shift);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = x[i] * weight[i % at(op.width)] + bias[i % at(op.width)];
        return x;
    }
    Values back_from_norm(const Op& op, const Values& g, Parameters& of_parameters) const {
        const Moments moments = moments_of(op);
        const Values x = whitened(op, moments);
        Values& of_weight = value_of(model_, of_parameters, op.parameter);
        Values& of_bias = value_of(model_, of_parameters, op.shift);
        Values back = g;
        for (std::size_t i = 0; i < g.size(); ++i) {
            const std::size_t j = i % at(op.width);
            of_weight[j] += g[i] * x[i], of_bias[j] += g[i], back[i] *= parameter(op)[j];
        }
        const Lines lines = lines_of(op);
        for (std::int64_t l = 0; l < lines.count; ++l) {
            double plain = 0, along = 0;
            for (std::int64_t i = 0; i < lines.length; ++i)
                plain += back[lines(l, i)], along += back[lines(l, i)] * x[lines(l, i)];
            const auto length = static_cast<double>(lines.length);
            for (std::int64_t i = 0; i < lines.length; ++i)
                back[lines(l, i)] = (back[lines(l, i)] - plain / length - x[lines(l, i)] * along / length) /
                                    std::sqrt(moments.variance[at(l)] + 1e-5);
        }
        return back;
    }

    Values value(const Op& op) const {
        if (op.kind == OpKind::input) return problem_.features;
        Values x = input(op);
        switch (op.kind) {
            case OpKind::dropout: multiply(x, dropout_factors(problem_, settings_, op.layer, op.width, epoch_)); break;
            case OpKind::aggregate: {
                if (op.reduce == Reduce::attention) return attention(op).value();
                if (op.reduce == Reduce::cosine) return cosine(op).value();
                if (op.reduce == Reduce::max) return largest_of(problem_.matrix(op.layer), x, op.width);
                Values sum = propagated(op);
                for (std::size_t i = 0; i < x.size(); ++i) sum[i] += self(op) * x[i];
                return sum;
            }
            case OpKind::linear: return times(x, mixed(op), rows(), in_width(op), op.width);
            case OpKind::add: add(x, input(op, 1)); break;
            case OpKind::bias:
                for (std::size_t i = 0; i < x.size(); ++i) x[i] += parameter(op)[i % at(op.width)];
                break;
            case OpKind::relu:
            case OpKind::elu:
            case OpKind::leaky_relu:
                for (double& z : x) z = activated(op.kind, z);
                break;
            case OpKind::layer_norm:
            case OpKind::batch_norm: return normalised(op);
            case OpKind::input:
            case OpKind::softmax_cross_entropy:
            case OpKind::sigmoid_cross_entropy:
            case OpKind::masked_sigmoid_cross_entropy:
            case OpKind::output: break;
        }
        return x;
    }

    void pass_back(const Op& op, const Values& g, Parameters& of_parameters) {
        if (op.kind == OpKind::input) return;
        const auto arrive = [&](const Values& gradient, std::size_t which = 0) {
            add(gradients_[at(op.inputs[which])], gradient);
        };
        switch (op.kind) {
            case OpKind::dropout: {
                Values dropped = g;
                multiply(dropped, dropout_factors(problem_, settings_, op.layer, op.width, epoch_));
                return arrive(dropped);
            }
            case OpKind::aggregate: return back_from_aggregation(op, g, of_parameters, arrive);
            case OpKind::linear: {
                Values of_weight = transposed_times(input(op), g, rows(), in_width(op), op.width);
                for (double& x : of_weight) x *= op.share;
                add(value_of(model_, of_parameters, op.parameter), of_weight);
                return arrive(times_transposed(g, mixed(op), rows(), op.width, in_width(op)));
            }
            case OpKind::add: return arrive(g, 0), arrive(g, 1);
            case OpKind::bias: {
                Values& sum = value_of(model_, of_parameters, op.parameter);
                for (std::size_t i = 0; i < g.size(); ++i) sum[i % at(op.width)] += g[i];
                return arrive(g);
            }
            case OpKind::relu:
            case OpKind::elu:
            case OpKind::leaky_relu: {
                Values masked = g;
                for (std::size_t i = 0; i < g.size(); ++i) masked[i] = slope(op.kind, input(op)[i]) * g[i];
                return arrive(masked);
            }
            case OpKind::layer_norm:
            case OpKind::batch_norm: return arrive(back_from_norm(op, g, of_parameters));
            case OpKind::input:
            case OpKind::softmax_cross_entropy:
            case OpKind::sigmoid_cross_entropy:
            case OpKind::masked_sigmoid_cross_entropy:
            case OpKind::output: return;
        }
    }

    const SerialProblem& problem_;
    const SerialSettings& settings_;
    const Parameters& parameters_;
    std::uint32_t epoch_;
    const OpGraph& model_;
    std::vector<Values> values_;     // of each operation
    std::vector<Values> gradients_;  // of each value, the sum of what has arrived
};

// The same of several labels: each that is known has a loss.
double sigmoid_cross_entropy(const SerialProblem& problem, const Values& logits, Values& gradient) {
    const std::int64_t columns = problem.widths.back();
    const auto counts = [&](std::size_t i) {
        return problem.training[i / at(columns)] == 1 && !std::isnan(problem.several[i]);
    };
    double count = static_cast<double>(problem.counted * columns), loss = 0;
    for (std::size_t i = 0; i < logits.size() && problem.counted == 0; ++i) count += counts(i) ? 1 : 0;
    gradient.assign(logits.size(), 0.0);
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (!counts(i)) continue;
        const double weight = problem.counts_as.empty() ? 1 : problem.counts_as[i / at(columns)];
        const double z = logits[i], y = problem.several[i];
        loss += weight * (std::max(z, 0.0) - z * y + std::log1p(std::exp(-std::abs(z))));
        gradient[i] = weight * (1 / (1 + std::exp(-z)) - y) / count;
    }
    return loss / count;
}

// Loss, and the gradient of the logits.
double cross_entropy(const SerialProblem& problem, const Values& logits, Values& gradient) {
    if (!problem.several.empty()) return sigmoid_cross_entropy(problem, logits, gradient);
    const std::int64_t classes = problem.widths.back();
    const auto trains = std::count(problem.training.begin(), problem.training.end(), 1);
    const double count = static_cast<double>(problem.counted > 0 ? problem.counted : trains);
    gradient.assign(logits.size(), 0.0);
    double loss = 0;
    for (std::int64_t v = 0; v < problem.vertices(); ++v) {
        if (problem.training[at(v)] != 1) continue;
        const double* row = &logits[at(v * classes)];
        const double largest = *std::max_element(row, row + classes);
        double sum = 0;
        for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(row[c] - largest);
        const std::int64_t label = problem.labels[at(v)];
        const double weight = problem.counts_as.empty() ? 1 : problem.counts_as[at(v)];
        loss += weight * (std::log(sum) + largest - row[label]);
        for (std::int64_t c = 0; c < classes; ++c) {
            gradient[at(v * classes + c)] =
                weight * (std::exp(row[c] - largest) / sum - (c == label ? 1.0 : 0.0)) / count;
        }
    }
    return loss / count;
}

// One Adam step (Kingma & Ba 2015, algorithm 1) with L2 decay, or AdamW's (Loshchilov & Hutter 2019, algorithm 2).
void adam(const SerialSettings& settings, double decay, int step, const Values& gradient, Values& w, Values& m1,
          Values& m2) {
    const bool apart = settings.optimiser == Optimiser::adamw;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const double g = gradient[i] + (apart ? 0 : decay * w[i]);
        if (apart) w[i] -= settings.learning_rate * decay * w[i];
        m1[i] = settings.beta1 * m1[i] + (1 - settings.beta1) * g;
        m2[i] = settings.beta2 * m2[i] + (1 - settings.beta2) * g * g;
        const double first = m1[i] / (1 - std::pow(settings.beta1, step));
        const double second = m2[i] / (1 - std::pow(settings.beta2, step));
        w[i] -= settings.learning_rate * first / (std::sqrt(second) + settings.epsilon);
    }
}

// One step of torch.optim.RMSprop.
void rmsprop(const SerialSettings& settings, double decay, const Values& gradient, Values& w, Values& squares) {
    constexpr double alpha = 0.99;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const double g = gradient[i] + decay * w[i];
        squares[i] = alpha * squares[i] + (1 - alpha) * g * g;
        w[i] -= settings.learning_rate * g / (std::sqrt(squares[i]) + settings.epsilon);
    }
}

// One step of the optimiser, from 1; of torch.optim.SGD where it is no other.
void update(SerialSettings settings, double decay, int step, const Values& gradient, Values& w, Values& m1,
            Values& m2) {
    if (!settings.rate_factors.empty()) settings.learning_rate *= settings.rate_factors[at(step - 1)];
    switch (settings.optimiser) {
        case Optimiser::adam:
        case Optimiser::adamw: return adam(settings, decay, step, gradient, w, m1, m2);
        case Optimiser::rmsprop: return rmsprop(settings, decay, gradient, w, m1);
        default: break;
    }
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
    std::vector<std::vector<std::pair<std::int64_t, double>>> rows(at(matrix.size));
    for (std::int64_t i = 0; i < matrix.size; ++i) {
        for (std::int64_t e = matrix.row_start[at(i)]; e < matrix.row_start[at(i + 1)]; ++e) {
            rows[at(matrix.column[at(e)])].emplace_back(i, matrix.value[at(e)]);
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

ParameterPlace place_of(const std::vector<Parameter>& parameters, int id) {
    const auto is_vector = [](const Parameter& parameter) { return parameter.shape.size() == 1; };
    ParameterPlace place{is_vector(parameters[at(id)]), 0};
    for (int before = 0; before < id; ++before) place.at += is_vector(parameters[at(before)]) == place.vector ? 1 : 0;
    return place;
}

Parameters zeros_like(const Parameters& parameters) {
    Parameters zeros;
    for (const Values& w : parameters.weight) zeros.weight.emplace_back(w.size(), 0.0);
    for (const Values& b : parameters.bias) zeros.bias.emplace_back(b.size(), 0.0);
    return zeros;
}

Parameters initial_parameters(const SerialProblem& problem, std::uint64_t seed) {
    Parameters parameters;
    for (const Parameter& parameter : problem.model.parameters) {
        if (parameter.shape.size() == 1) {
            parameters.bias.emplace_back(at(parameter.shape[0]), parameter.init == Init::ones ? 1.0 : 0.0);
            continue;
        }
        const std::int64_t in = parameter.shape[0], out = parameter.shape[1];
        std::vector<float> w(at(in * out));
        const auto stream = static_cast<std::uint32_t>(parameters.weight.size()) + 1;
        kernels::glorot_uniform(seed, stream, {w.data(), in, out, out});
        parameters.weight.emplace_back(w.begin(), w.end());
    }
    parameters.bias.resize(std::max(parameters.bias.size(), parameters.weight.size()));
    return parameters;
}

LossAndGradient loss_and_gradient(const SerialProblem& problem, const SerialSettings& settings,
                                  const Parameters& parameters, std::uint32_t epoch) {
    Tape tape(problem, settings, parameters, epoch);
    tape.forward();
    LossAndGradient result;
    result.logits = tape.logits();
    result.kink_distance = tape.kink_distance();
    result.gradient = zeros_like(parameters);
    result.with_moments = parameters;
    tape.keep_moments(result.with_moments);
    Values gradient;
    result.loss = cross_entropy(problem, result.logits, gradient);
    tape.backward(std::move(gradient), result.gradient);
    return result;
}

namespace {

// How strongly the `which`-th matrix, or vector, decays.
double decay_of(const OpGraph& model, const SerialSettings& settings, std::size_t dimensions, std::size_t which) {
    for (const Parameter& parameter : model.parameters) {
        if (parameter.shape.size() != dimensions || which-- > 0) continue;
        if (settings.decay) return settings.decay(parameter);
        const bool decays = parameter.decays || (settings.decay_all_layers && dimensions == 2);
        return decays ? settings.weight_decay : 0;
    }
    return 0;
}

}  // namespace

std::vector<SerialEpoch> train(const SerialProblem& problem, const SerialSettings& settings, const Parameters& initial,
                               int epochs) {
    std::vector<SerialEpoch> result;
    Parameters current = initial;
    Parameters m1 = zeros_like(initial);
    Parameters m2 = zeros_like(initial);
    for (int epoch = 1; epoch <= epochs; ++epoch) {
        SerialEpoch record;
        record.before = loss_and_gradient(problem, settings, current, static_cast<std::uint32_t>(epoch));
        current = record.before.with_moments;
        for (std::size_t l = 0; l < current.weight.size(); ++l) {
            const double decay = decay_of(problem.model, settings, 2, l);
            update(settings, decay, epoch, record.before.gradient.weight[l], current.weight[l], m1.weight[l],
                   m2.weight[l]);
        }
        for (std::size_t l = 0; l < current.bias.size(); ++l) {
            const double decay = decay_of(problem.model, settings, 1, l);
            update(settings, decay, epoch, record.before.gradient.bias[l], current.bias[l], m1.bias[l], m2.bias[l]);
        }
        record.after = current;
        record.second_moment = m2;
        scale(record.second_moment, 1 / (1 - std::pow(settings.beta2, epoch)));
        result.push_back(std::move(record));
    }
    return result;
}

}  // namespace gnnplan::testing
