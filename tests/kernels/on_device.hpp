// Runs kernels of a device on operands that lie on the host: takes them there, runs the kernel, and fetches what it may
// have changed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/kernels/support.hpp"
#include "tests/support/devices.hpp"

namespace gnnplan::kernels::testing {

// Memory that the table has as a span, not by its address.
struct Bytes {
    std::span<std::byte> all;
};

// Operands that the table has by their addresses.
struct TotalsOf {
    std::span<float> largest, total;
};
struct SoftmaxBackOf {
    std::span<const float> scores, weights, inner, beta;
    std::span<float> gradient, of_beta;
};

struct LabelBitsOf {
    std::span<const std::uint8_t> value, known;
};

// The memory of the first operand once more, where a kernel works in place.
struct InPlace {};
struct Address {
    std::byte* first;
    template <class T>
    operator T*() const {
        return reinterpret_cast<T*>(first);
    }
};

// The operands of one call, copied to memory of a device, each with guards before and behind it. Memory that is not
// constant is fetched again.
class Operands {
public:
    // With `prepares` sparse matrices are prepared, where the device does that; with `narrows` they have row starts of
    // 32 bits, where it reads them.
    Operands(Device& device, bool prepares, bool narrows)
        : device_(device), prepares_(prepares), narrows_(narrows && device.memory().row_start_bytes == 4) {}

    // As many rows and columns as a matrix among the operands has, for lists that do not say how many they are.
    std::int64_t rows = 0, columns = 0;
    // The sparse matrix among the operands has this shape; lists of its vertices do not say how long they are.
    std::int64_t csr_rows = 0;
    std::int64_t csr_columns = 0;

    template <class T>
    T* on(std::span<T> values) {
        if (values.data() == nullptr) return nullptr;
        const auto from = std::as_bytes(values);
        const std::size_t before = guard_bytes + reinterpret_cast<std::uintptr_t>(from.data()) % alignment;
        std::vector<std::byte> bytes(before + from.size() + guard_bytes, guard_byte);
        std::ranges::copy(from, bytes.begin() + static_cast<std::ptrdiff_t>(before));
        memory_.push_back(device_.allocate(bytes.size()));
        std::byte* const place = memory_.back()->data();
        upload(device_, bytes, place);
        if constexpr (!std::is_const_v<T>) fetched_.push_back({place, before, std::as_writable_bytes(values)});
        return reinterpret_cast<T*>(place + before);
    }
    template <class T>
    T* list(T* values, std::int64_t count) {
        return values == nullptr ? nullptr : on(std::span(values, static_cast<std::size_t>(count)));
    }
    template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_null_pointer_v<T>) T on(T value) { return value; }
    template <class T>
    Dense<T> on(Dense<T> matrix) {
        const bool empty = matrix.rows == 0 || matrix.columns == 0;
        const std::int64_t extent = empty ? 0 : (matrix.rows - 1) * matrix.stride + matrix.columns;
        matrix.data = list(matrix.data, extent);
        return matrix;
    }
    Csr on(Csr a) {
        if (a.row_start == nullptr) return a;
        const std::int64_t stride = a.panels > 1 ? a.panel_stride : 0;
        const std::int64_t entries = a.row_start[(a.panels - 1) * stride + a.rows];
        const std::int64_t starts = (a.panels - 1) * stride + a.rows + 1;
        if (narrows_) {
            const std::vector<std::int32_t> narrow(a.row_start, a.row_start + starts);
            a.narrow_row_start = on(std::span<const std::int32_t>(narrow));
            a.row_start = nullptr;
        } else {
            a.row_start = list(a.row_start, starts);
        }
        a.column = list(a.column, entries);
        a.value = list(a.value, entries);
        a.row_scale = list(a.row_scale, a.rows);
        a.column_scale = list(a.column_scale, a.columns);
        if (prepares_) {
            prepared_.push_back(device_.prepare(a));
            a.prepared = prepared_.back().get();
        }
        return a;
    }
    Address on(InPlace /*operand*/) { return {memory_.front()->data() + fetched_.front().before}; }
    std::span<std::byte> on(Bytes bytes) { return {on(bytes.all), bytes.all.size()}; }
    PanelRoom on(PanelRoom room) {
        room.memory = on(Bytes{room.memory});
        return room;
    }
    Heads on(Heads heads) { return heads; }
    EdgeTotals on(const TotalsOf& totals) { return {on(totals.largest), on(totals.total)}; }
    EdgeSoftmaxBack on(const SoftmaxBackOf& back) {
        return {on(back.scores), on(back.weights), on(back.inner), on(back.beta), on(back.gradient), on(back.of_beta)};
    }
    NormedRows on(const NormedRows& of) {
        return {on(of.z), list(of.weight, of.z.columns), list(of.mean, of.z.rows), list(of.variance, of.z.rows),
                of.share};
    }
    NormedColumns on(const NormedColumns& of) {
        return {on(of.z), list(of.mean, of.z.columns), list(of.inverse, of.z.columns), list(of.weight, of.z.columns)};
    }
    ColumnMoments on(const ColumnMoments& of) {
        return {list(of.sum, of.columns), list(of.squares, of.columns), of.columns, of.rows};
    }
    UnitBackOperands on(const UnitBackOperands& in) {
        return {on(in.gradient), on(in.unit), on(in.inner), on(in.squares)};
    }
    AttendOperands on(const AttendOperands& in) { return {on(in.h), on(in.source), on(in.target)}; }
    AttendResults on(const AttendResults& to) {
        return {on(to.sum), on(to.log_total), on(to.total), on(to.by_target), on(to.negative_share), on(to.scores)};
    }
    AttendBackOperands on(const AttendBackOperands& in) {
        return {on(in.gradient), on(in.target), on(in.log_total), on(in.inner), on(in.h), on(in.source), on(in.scores)};
    }
    AttendBackResults on(const AttendBackResults& to) { return {on(to.h), on(to.source)}; }
    Attention on(Attention how) {
        AttentionDropout& dropout = how.dropout;
        if (dropout.pass != nullptr) dropout.pass = device_.begin_pass(*dropout.pass);
        dropout.row_ids = list(dropout.row_ids, csr_rows);
        dropout.column_ids = list(dropout.column_ids, csr_columns);
        return how;
    }
    LossInput on(LossInput input) {
        input.label = list(input.label, rows);
        input.split = list(input.split, rows);
        input.weight = list(input.weight, rows);
        return input;
    }
    LabelBits on(const LabelBitsOf& labels) { return {on(labels.value), on(labels.known)}; }
    SigmoidInput on(SigmoidInput input) {
        const std::int64_t bytes = (rows * columns + 7) / 8;
        input.labels = {list(input.labels.value, bytes), list(input.labels.known, bytes)};
        input.split = list(input.split, rows);
        input.weight = list(input.weight, rows);
        return input;
    }
    DropoutKey on(DropoutKey key) {
        key.row_ids = list(key.row_ids, rows);
        if (key.pass != nullptr) key.pass = device_.begin_pass(*key.pass);
        return key;
    }
    UpdateSettings on(UpdateSettings settings) {
        if (settings.pass != nullptr) settings.pass = device_.begin_pass(*settings.pass);
        return settings;
    }

    // The content of the memory that is not constant, one operand after the other; its guards must be whole.
    std::vector<std::byte> results() const {
        std::vector<std::vector<std::byte>> fetched;
        for (const Fetched& f : fetched_) {
            fetched.emplace_back(f.before + f.to.size() + guard_bytes);
            device_.download(f.from, fetched.back());
        }
        device_.finish();
        std::vector<std::byte> all;
        for (std::size_t i = 0; i < fetched.size(); ++i) {
            const auto begin = fetched[i].begin() + static_cast<std::ptrdiff_t>(fetched_[i].before);
            const auto end = fetched[i].end() - guard_bytes;
            const auto is_guard = [](std::byte b) { return b == guard_byte; };
            EXPECT_TRUE(std::all_of(fetched[i].begin(), begin, is_guard)) << "wrote before a matrix";
            EXPECT_TRUE(std::all_of(end, fetched[i].end(), is_guard)) << "wrote behind a matrix";
            all.insert(all.end(), begin, end);
        }
        return all;
    }
    // To where it came from.
    void keep(const std::vector<std::byte>& results) const {
        std::span<const std::byte> from = results;
        for (const Fetched& f : fetched_) {
            std::ranges::copy(from.first(f.to.size()), f.to.begin());
            from = from.subspan(f.to.size());
        }
    }

private:
    static constexpr std::size_t alignment = 16;  // of what vectors hold; addresses keep what they are beyond it
    static constexpr std::ptrdiff_t guard_bytes = 64;
    static constexpr std::byte guard_byte{0xa5};

    struct Fetched {
        const std::byte* from;
        std::size_t before;  // bytes of guards
        std::span<std::byte> to;
    };

    Device& device_;
    bool prepares_, narrows_;
    std::vector<std::unique_ptr<DeviceMemory>> memory_;
    std::vector<std::unique_ptr<Prepared>> prepared_;
    std::vector<Fetched> fetched_;
};

// A test on one of the devices.
class OnDevice : public ::testing::TestWithParam<gnnplan::testing::DeviceKind> {
public:
    // Runs a kernel twice, with matrices prepared the second time and with narrow row starts once, and asks for the
    // same bits. Operands are as in the table, but for memory of which the table has an address only: that is a span.
    template <class... Parameters, class... Arguments>
    void run(void (*Table::*kernel)(Parameters...), Arguments... operands) {
        const bool narrow_first = ++runs_ % 2 == 0;
        try {
            const std::vector<std::byte> first = run_once(kernel, false, narrow_first, operands...);
            const std::vector<std::byte> second = run_once(kernel, true, !narrow_first, operands...);
            EXPECT_EQ(first.size(), second.size());
            EXPECT_TRUE(std::ranges::equal(first, second)) << "other bits when run again";
        } catch (const std::bad_alloc&) {  // devices of tests give nothing back
            if (fresh_) throw;
            device_.reset();
            device_ = GetParam().open();
            fresh_ = true;
            run(kernel, operands...);
        }
        fresh_ = false;
    }

    // Whether this device takes the next one of many shapes.
    bool takes_next() { return shapes_++ % GetParam().every == 0; }

private:
    template <class Kernel, class... Arguments>
    std::vector<std::byte> run_once(Kernel kernel, bool again, bool narrows, const Arguments&... operands) {
        Operands on(*device_, again, narrows);
        (count_rows(on, operands), ...);
        const auto there = std::tuple{on.on(operands)...};
        std::apply(device_->table().*kernel, there);
        std::vector<std::byte> results = on.results();
        if (again) on.keep(results);
        return results;
    }
    template <class T>
    static void count_rows(Operands& on, const T& operand) {
        if constexpr (std::is_same_v<T, Matrix> || std::is_same_v<T, ConstMatrix>)
            on.rows = std::max(on.rows, operand.rows), on.columns = std::max(on.columns, operand.columns);
        if constexpr (std::is_same_v<T, Csr>) on.csr_rows = operand.rows, on.csr_columns = operand.columns;
    }

    std::unique_ptr<Device> device_ = GetParam().open();
    bool fresh_ = true;
    int shapes_ = 0, runs_ = 0;
};

inline std::string name_of(const ::testing::TestParamInfo<gnnplan::testing::DeviceKind>& info) {
    return info.param.name;
}

}  // namespace gnnplan::kernels::testing
