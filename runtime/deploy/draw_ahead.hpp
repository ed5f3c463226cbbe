// A thread that draws the batches of the next update while the rank trains on those of this one.
#pragma once

#include "runtime/graph/clones.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

namespace gnnplan::deploy {

class DrawAhead {
public:
    using Draw = std::function<data::Clones(std::int64_t update)>;

    // The thread calls `begin` before it draws for the first time, and draws by `draw`: nobody else calls them.
    DrawAhead(std::function<void()> begin, Draw draw);
    ~DrawAhead();  // waits for the update under way
    DrawAhead(const DrawAhead&) = delete;
    DrawAhead& operator=(const DrawAhead&) = delete;

    // Draws this one from now on; none is under way.
    void start(std::int64_t update);
    // The batches of this update once they are drawn, or what `begin` or drawing them threw; nothing if it was not
    // started.
    std::optional<data::Clones> take(std::int64_t update);

private:
    void work();

    std::function<void()> begin_;
    Draw draw_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ends_ = false;
    bool begun_ = false;  // of the thread alone
    std::optional<std::packaged_task<data::Clones()>> wanted_;
    std::int64_t update_ = 0;  // that drawn_ is of
    std::future<data::Clones> drawn_;
    std::thread thread_;  // the last, because it uses the others
};

}  // namespace gnnplan::deploy
