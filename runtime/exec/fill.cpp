// Tensors of the data's vertices, filled a few rows at a time.
#include "runtime/exec/executor.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::exec {
namespace {

// Labels as bits; of one class for each vertex, whether it is the second of two.
struct VertexLabels {
    const data::Dataset& dataset;

    bool has(std::int64_t v, std::int64_t j) const {
        return several() ? dataset.label_bits().has(v, j) : class_of(v) == 1;
    }
    bool is_known(std::int64_t v, std::int64_t j) const {
        return several() ? dataset.label_bits().is_known(v, j) : class_of(v) >= 0;
    }
    bool several() const { return !dataset.label_bits().empty(); }
    std::int32_t class_of(std::int64_t v) const { return dataset.labels()[static_cast<std::size_t>(v)]; }
};

}  // namespace

// Calls write(rows, values) for the rows of a tensor's block, as many at a time as the device has room for.
template <class T, class Write>
void Executor::fill_rows(TensorId id, const Write& write) {
    const Block block = store_.block(id);
    const std::int64_t row_bytes = static_cast<std::int64_t>(sizeof(T)) * block.columns.size();
    for (Range left = block.rows; !left.empty() && row_bytes > 0;) {
        std::byte* place = store_.bytes(id) + (left.begin - block.rows.begin) * row_bytes;
        const std::span<std::byte> room = device_.stage(place, static_cast<std::size_t>(left.size() * row_bytes));
        const Range rows{left.begin, left.begin + static_cast<std::int64_t>(room.size()) / row_bytes};
        ensure(!rows.empty(), "the device has no room for a row");
        write(rows, reinterpret_cast<T*>(room.data()));
        device_.send(static_cast<std::size_t>(rows.size() * row_bytes));
        left.begin = rows.end;
    }
}

// The same for a tensor of bits: eight rows end with a byte.
template <class Bit>
void Executor::fill_bits(TensorId id, const Bit& bit) {
    const Block block = store_.block(id);
    const std::int64_t columns = block.columns.size();
    for (Range left = block.rows; !left.empty() && columns > 0;) {
        std::byte* const place = store_.bytes(id) + (left.begin - block.rows.begin) * columns / 8;
        const std::int64_t wanted = bytes_of(DType::bits, left.size() * columns);
        const std::span<std::byte> room = device_.stage(place, static_cast<std::size_t>(wanted));
        const bool all = std::ssize(room) == wanted;
        const Range rows{left.begin, all ? left.end : left.begin + 8 * (std::ssize(room) / columns)};
        ensure(!rows.empty(), "the device has no room for eight rows");
        const std::int64_t bytes = bytes_of(DType::bits, rows.size() * columns);
        std::fill_n(room.begin(), bytes, std::byte{0});
        for (std::int64_t row = rows.begin, at = 0; row < rows.end; ++row) {
            for (std::int64_t j = block.columns.begin; j < block.columns.end; ++j, ++at) {
                if (bit(row, j)) room[static_cast<std::size_t>(at / 8)] |= std::byte{1} << (at % 8);
            }
        }
        device_.send(static_cast<std::size_t>(bytes));
        left.begin = rows.end;
    }
}

void Executor::fill(TensorId id, const data::Dataset& dataset) {
    const data::VertexOrder& order = counts_->order_of(of_groups(schedule(), tensor_of(schedule(), id).space));
    const auto gather = [&]<class T>(T, const auto& all) {
        fill_rows<T>(id, [&](Range rows, T* out) {
            for (std::int64_t row = rows.begin; row < rows.end; ++row)
                *out++ = all(static_cast<std::size_t>(order.vertex_at(row)));
        });
    };
    const VertexLabels bits{dataset};
    switch (tensor_of(schedule(), id).role) {
        case Role::features: {
            if (dataset.features_in_shares()) break;
            const Range columns = store_.block(id).columns;
            fill_rows<float>(
                id, [&](Range rows, float* out) { dataset.read_features(rows, columns, out, columns.size(), &order); });
            break;
        }
        case Role::labels:
            if (tensor_of(schedule(), id).dtype == DType::i32) {
                gather(std::int32_t{}, [&](std::size_t v) { return dataset.labels()[v]; });
            } else {
                fill_bits(id, [&](std::int64_t row, std::int64_t j) { return bits.has(order.vertex_at(row), j); });
            }
            break;
        case Role::known_labels:
            fill_bits(id, [&](std::int64_t row, std::int64_t j) { return bits.is_known(order.vertex_at(row), j); });
            break;
        case Role::subset: gather(std::uint8_t{}, [&](std::size_t v) { return dataset.subset()[v]; }); break;
        case Role::vertices: gather(std::int32_t{}, [&](std::size_t v) { return static_cast<std::int32_t>(v); }); break;
        case Role::counts_as:
            fill_rows<float>(id, [&](Range rows, float* out) {
                std::copy_n(counts_->clones()->counts_as.begin() + rows.begin, rows.size(), out);
            });
            break;
        default: break;  // no data of vertices
    }
}

void Executor::load(TensorId tensor, const std::function<void(Range rows, float* values)>& write) {
    fill_rows<float>(tensor, write);
    device_.finish();
}

}  // namespace gnnplan::exec
