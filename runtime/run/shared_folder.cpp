#include "runtime/run/shared_folder.hpp"

#include "planner/io/draft.hpp"
#include "planner/io/files.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <random>

namespace gnnplan::run {
namespace {

std::string host() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

// Why this rank cannot write beside rank 0; empty where it can.
std::string trouble(const std::string& path, const std::string& name, const std::string& content) {
    try {
        const std::string place = io::beside(path, name);
        if (io::read_file(place) != content) return "it is another folder";
        const io::PartWriter writer(path, place);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

void check_shared(comm::Communicator& processes, const std::string& output, const std::string& path) {
    if (processes.size() == 1) return;
    std::optional<io::Draft> probe;
    std::string name, content;
    comm::agree(processes, [&] {
        if (processes.rank() != 0) return;
        std::random_device random;
        content = fmt::format("{:08x}{:08x}", random(), random());
        probe.emplace(io::target_of(path), io::Draft::Use::shared);
        probe->begin(content, static_cast<std::int64_t>(content.size()));
        ::fsync(probe->descriptor());  // other machines ask the disk's server
        name = std::filesystem::path(probe->place()).filename().string();
    });
    name = processes.control_all_gather(name).front();
    content = processes.control_all_gather(content).front();
    comm::agree(processes, [&] {
        const std::string why = processes.rank() == 0 ? "" : trouble(path, name, content);
        if (why.empty()) return;
        throw Error(ErrorCode::cannot_create,
                    fmt::format("rank {} on {} does not see the folder into which rank 0 writes ({})", processes.rank(),
                                host(), why),
                    output, "all ranks write there: name a folder that they share, by its whole path");
    });
}

}  // namespace gnnplan::run
