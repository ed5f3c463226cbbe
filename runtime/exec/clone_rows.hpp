// CloneRows lists the rows of a rank that are clones, which get sums of each other's rows, by bin and by the group that
// has the others.
#pragma once

#include "kernels/device.hpp"
#include "runtime/blocks/block.hpp"
#include "runtime/exec/memory_tracker.hpp"
#include "runtime/graph/clones.hpp"
#include "runtime/sample/pool.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::exec {

// The scales of the graphs of groups, and how they follow from degrees.
struct CloneScales {
    data::DegreeScales scales;
    Normalisation normalisation = Normalisation::none;
};
// Where clones get sums of each other's, those that their vertices have in the whole graph; else those of their groups'
// edges. Both have two numbers for each clone.
CloneScales scales_of_clones(const data::Clones& clones, const data::DegreeScales& whole, Normalisation normalisation);
// Those of batches: with coefficients those that their vertices have in the graph that batches are drawn from, a
// target's times the number of batches that have it; else those of the batches' own degrees.
CloneScales scales_of_batches(const data::Clones& batches, const sample::Pool& pool, bool coefficients,
                              const data::DegreeScales& sampled, Normalisation normalisation);

// Rows of a list that another rank has clones of.
struct CloneRange {
    int rank = 0;
    Range rows;  // of the list
};

// Rows of a rank's block, on the device, with two numbers for each where rows are used later.
class CloneList {
public:
    void add(std::int64_t row) { row_.push_back(static_cast<std::int32_t>(row)); }
    void add(std::int64_t row, float alone) {
        add(row);
        alone_.push_back(alone);
    }
    void add(std::int64_t row, float alone, float loop) {
        add(row, alone);
        loop_.push_back(loop);
    }
    std::int64_t size() const { return std::ssize(row_); }
    std::int64_t bytes() const { return 4 * std::ssize(row_) + 4 * std::ssize(alone_) + 4 * std::ssize(loop_); }
    void upload(kernels::Device& device);

    const std::int32_t* rows(Range of) const { return at<std::int32_t>(row_on_device_, of); }
    // By how much the sum over the group's edges alone is scaled, as a row of the whole graph is.
    const float* alone(Range of) const { return at<float>(alone_on_device_, of); }
    // Minus what the vertex itself has of the sum, by its self loop.
    const float* loop(Range of) const { return at<float>(loop_on_device_, of); }

private:
    template <class T>
    static const T* at(const std::unique_ptr<kernels::DeviceMemory>& memory, Range of) {
        return reinterpret_cast<const T*>(memory->data()) + of.begin;
    }

    std::vector<std::int32_t> row_;
    std::vector<float> alone_, loop_;  // these stay: nobody owns what is only looked at
    std::unique_ptr<kernels::DeviceMemory> row_on_device_, alone_on_device_, loop_on_device_;
};

class CloneRows {
public:
    // A bin has these lists of rows. They follow each other by the other rank, and for each ascend by vertex in the
    // other's order.
    struct Bin {
        std::vector<CloneRange> owners;     // of this rank's clones of others' vertices
        std::vector<CloneRange> others;     // that have clones of this rank's vertices
        Range of_others, elsewhere, owned;  // of the three lists
        std::int64_t in_flight = 0;         // the first row of a tensor in flight

        std::int64_t sent_to_owners() const { return of_others.size(); }
        std::int64_t sent_to_clones() const { return elsewhere.size(); }
    };

    // Takes time for all clones.
    CloneRows(const Schedule& schedule, int rank, const data::Clones& clones, const CloneScales& scales,
              kernels::Device& device, MemoryTracker& tracker);

    const std::vector<Bin>& bins() const { return bins_; }
    const CloneList& of_others() const { return of_others_; }
    const CloneList& elsewhere() const { return elsewhere_; }  // a row for each clone that another rank has of it
    const CloneList& owned() const { return owned_; }          // there where rows are used later

private:
    std::vector<Bin> bins_;
    CloneList of_others_, elsewhere_, owned_;
    Charge charge_, on_device_charge_;
};

}  // namespace gnnplan::exec
