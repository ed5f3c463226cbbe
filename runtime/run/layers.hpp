// The outputs of every layer of an inference, saved in a folder, and what goes on from them.
#pragma once

#include "runtime/run/agreement.hpp"
#include "runtime/run/folder_lock.hpp"
#include "runtime/run/observer.hpp"
#include "runtime/run/settings.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::run {

// layer-1.npy .. layer-L.npy, each whole or not there, and layers.json, which says what they were computed from.
struct LayerFolder {
    std::string path;
    std::int64_t vertices = 0;
    std::vector<std::int64_t> columns;  // of each layer
    bool resumes = false;
    bool resumes_if_there = false;  // see settings.hpp

    std::string file(int layer) const;
    std::string index() const { return path + "/layers.json"; }
};

// Whether both paths name the same folder, which need not exist.
bool same_folder(const std::string& a, const std::string& b);

// The folder of settings.save_layers, or of .resume; none without either. Throws Error{usage} when the two do not fit,
// and Error{unavailable} when the plan's layers cannot be saved.
std::optional<LayerFolder> layer_folder(const Settings& settings, const Plan& plan);

// Before any work: makes the folder and takes its lock. Throws Error{cannot_create} when nothing can be written there,
// Error{usage} when it holds layers and none are gone on from, Error{missing_input} when there is nothing to go on
// from, and Error{data} when it holds layers of unknown origin.
void check_layer_folder(const LayerFolder& folder, FolderLock& lock, Observer& observer);

// Returns how many whole layers the folder holds, and notes the facts they are computed from if it holds none yet.
// Throws Error{mismatch} when they were computed from other facts, and Error{data} when the last of them is damaged.
int open_layers(const LayerFolder& folder, const std::vector<Fact>& facts);

// On rank 0. note_layer() notes the hash of a layer before its file gets its name. check_layer() compares it with that
// of the values that were read, if one was noted (earlier builds noted none); throws Error{data} when they differ.
void note_layer(const LayerFolder& folder, int layer, const std::string& hash);
void check_layer(const LayerFolder& folder, int layer, const std::string& hash);

// The facts that decide the values of the layers.
std::vector<Fact> facts_of_layers(const Settings& settings, const std::vector<NamedTensor>* weights, const Plan& plan,
                                  const std::string& graph, const std::string& features);

}  // namespace gnnplan::run
