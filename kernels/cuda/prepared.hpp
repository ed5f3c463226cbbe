// The CUDA backend's own form of a matrix that stays on the GPU.
#pragma once

#include "kernels/device.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace gnnplan::kernels::cuda {

// Memory of a device for what is made of matrices, of which no more is taken than was set aside.
class PreparedRoom {
public:
    PreparedRoom(Device& device, std::int64_t bytes) : device_(device), left_(std::make_shared<std::int64_t>(bytes)) {}

    std::int64_t left() const { return *left_; }
    std::unique_ptr<DeviceMemory> take(std::int64_t bytes);  // null where it does not fit

private:
    Device& device_;
    std::shared_ptr<std::int64_t> left_;
};

// In the order of product_kernel_names.
enum class SpmmKernel { sliced, whole, library };

// A product of a library, of one matrix with its values and with operands of one width. The same block may be
// multiplied with other values, of edges; they do not fit.
class LibraryProduct {
public:
    virtual ~LibraryProduct() = default;
    virtual bool fits(const Csr& a, const ConstMatrix& b, const Matrix& c) const = 0;
    virtual void multiply(ConstMatrix b, Matrix c, bool accumulate) = 0;
};

// Where the shares of sweeps over the panels of a matrix begin, and which kernels multiply it.
class PreparedMatrix : public Prepared {
public:
    // Waits for the queue. `rows` has bytes(a).
    PreparedMatrix(Device& device, const Csr& a, std::unique_ptr<DeviceMemory> rows);
    static std::int64_t bytes(const Csr& a);

    std::int64_t nonzeros(std::int64_t panel) const { return nonzeros_[static_cast<std::size_t>(panel)]; }
    const std::int32_t* known_row(std::int64_t panel) const;  // see spmm_shares.cuh

    // The kernel for products with operands of one width.
    struct Choice {
        SpmmKernel kernel = SpmmKernel::sliced;
        std::shared_ptr<LibraryProduct> library;
        std::vector<ProductKernel> found;  // as Device::choose() returns them
    };
    static const Choice& choice(const Csr& a, std::int64_t columns);  // ours where nothing is prepared or chosen
    void choose(std::int64_t columns, Choice choice) { choices_[columns] = std::move(choice); }

private:
    std::vector<std::int64_t> nonzeros_, first_;  // of each panel; where it begins in `rows_`
    std::unique_ptr<DeviceMemory> rows_;
    std::map<std::int64_t, Choice> choices_;  // by columns
};

// Whether SpmmKernel::sliced differs from SpmmKernel::whole for such operands.
bool cuts_columns(const Csr& a, const ConstMatrix& b, const PanelRoom& room);

// Device::choose() for a matrix that is prepared.
std::vector<ProductKernel> choose_kernel(Device& device, PreparedRoom& room, const Csr& a, ConstMatrix b, Matrix c,
                                         PanelRoom panel_room, std::string_view wanted);

}  // namespace gnnplan::kernels::cuda
