// The checkpoints of a run in their folder: checkpoint-000120.safetensors is that of epoch 120; where runs of other
// seeds came before, that of the 120th epoch of all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::io {

struct KeptCheckpoint {
    std::int64_t epoch = 0;
    std::string path;
};

// The checkpoints in a folder, the oldest first. None where there is no such folder.
std::vector<KeptCheckpoint> checkpoints_in(const std::string& folder);

std::string checkpoint_name(std::int64_t epoch);
// The epoch in the name of a checkpoint's file; unset: it is none.
std::optional<std::int64_t> checkpoint_epoch(const std::string& path);

// Removes checkpoints that killed processes left half-written.
void remove_abandoned(const std::string& folder);

}  // namespace gnnplan::io
