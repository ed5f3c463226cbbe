// One step of each optimiser on a run of elements: the rules of gnnplan/base/optimiser.hpp. Included by the oracle, by
// one source file per instruction set, whose linkage rules (kernels/cpu/vector_body.hpp) hold here too, and by the
// kernels of GPUs.
#pragma once

#include <cstdint>

#include "kernels/table.hpp"

#if defined(__CUDACC__)
#define GNNPLAN_ANYWHERE __host__ __device__
#else
#define GNNPLAN_ANYWHERE
#endif

namespace gnnplan::kernels {
namespace {

template <class T>
GNNPLAN_ANYWHERE T root(T x) {
    if constexpr (sizeof(T) == sizeof(float)) {
        return __builtin_sqrtf(x);
    } else {
        return __builtin_sqrt(x);
    }
}

// `decay` is in the gradient; `shrink` takes decay off the parameter, which is what AdamW does in its place.
template <class T>
GNNPLAN_ANYWHERE void adam_elements(T* __restrict w, const T* __restrict gradient, T* __restrict m1, T* __restrict m2,
                                    std::int64_t n, const UpdateSettings& settings, T decay, T shrink) {
    const UpdateSettings s = settings;
    const T beta1 = s.adam.beta1;
    const T beta2 = s.adam.beta2;
    const T correction1 = static_cast<T>(s.pass->correction1);
    const T correction2 = static_cast<T>(s.pass->correction2);
    const T rate = s.learning_rate * s.pass->rate;
    for (std::int64_t i = 0; i < n; ++i) {
        const T g = gradient[i] + decay * w[i];
        m1[i] = beta1 * m1[i] + (1 - beta1) * g;
        m2[i] = beta2 * m2[i] + (1 - beta2) * g * g;
        w[i] = shrink * w[i] - rate * (m1[i] * correction1) / (root(m2[i] * correction2) + s.epsilon);
    }
}

template <class T>
GNNPLAN_ANYWHERE void adam(T* w, const T* gradient, T* m1, T* m2, std::int64_t n, const UpdateSettings& settings) {
    adam_elements(w, gradient, m1, m2, n, settings, static_cast<T>(settings.weight_decay), T{1});
}

template <class T>
GNNPLAN_ANYWHERE void adamw(T* w, const T* gradient, T* m1, T* m2, std::int64_t n, const UpdateSettings& settings) {
    const T rate = settings.learning_rate * settings.pass->rate;
    const T shrink = 1 - rate * static_cast<T>(settings.weight_decay);
    adam_elements(w, gradient, m1, m2, n, settings, T{0}, shrink);
}

template <class T>
GNNPLAN_ANYWHERE void sgd(T* __restrict w, const T* __restrict gradient, std::int64_t n,
                          const UpdateSettings& settings) {
    const UpdateSettings s = settings;
    const T rate = s.learning_rate * s.pass->rate;
    for (std::int64_t i = 0; i < n; ++i) w[i] -= rate * (gradient[i] + s.weight_decay * w[i]);
}

template <class T>
GNNPLAN_ANYWHERE void momentum(T* __restrict w, const T* __restrict gradient, T* __restrict m, std::int64_t n,
                               const UpdateSettings& settings) {
    const UpdateSettings s = settings;
    const T rate = s.learning_rate * s.pass->rate;
    for (std::int64_t i = 0; i < n; ++i) {
        m[i] = s.momentum * m[i] + (gradient[i] + s.weight_decay * w[i]);
        w[i] -= rate * m[i];
    }
}

template <class T>
GNNPLAN_ANYWHERE void rmsprop(T* __restrict w, const T* __restrict gradient, T* __restrict squares, std::int64_t n,
                              const UpdateSettings& settings) {
    const UpdateSettings s = settings;
    const T alpha = s.rms_decay;
    const T rate = s.learning_rate * s.pass->rate;
    for (std::int64_t i = 0; i < n; ++i) {
        const T g = gradient[i] + s.weight_decay * w[i];
        squares[i] = alpha * squares[i] + (1 - alpha) * g * g;
        w[i] -= rate * g / (root(squares[i]) + s.epsilon);
    }
}

template <class T>
GNNPLAN_ANYWHERE void update_elements(Optimiser rule, T* w, const T* gradient, T* m1, T* m2, std::int64_t n,
                                      const UpdateSettings& settings) {
    switch (rule) {
        case Optimiser::adam: return adam(w, gradient, m1, m2, n, settings);
        case Optimiser::sgd: return sgd(w, gradient, n, settings);
        case Optimiser::momentum: return momentum(w, gradient, m1, n, settings);
        case Optimiser::adamw: return adamw(w, gradient, m1, m2, n, settings);
        case Optimiser::rmsprop: return rmsprop(w, gradient, m1, n, settings);
    }
}

}  // namespace
}  // namespace gnnplan::kernels

#undef GNNPLAN_ANYWHERE
