#include "runtime/deploy/draw_ahead.hpp"

#include <utility>

namespace gnnplan::deploy {

DrawAhead::DrawAhead(std::function<void()> begin, Draw draw)
    : begin_(std::move(begin)), draw_(std::move(draw)), thread_([this] { work(); }) {}

DrawAhead::~DrawAhead() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void DrawAhead::start(std::int64_t update) {
    std::packaged_task<data::Clones()> task([this, update] {
        if (!begun_) begin_();
        begun_ = true;
        return draw_(update);
    });
    update_ = update;
    drawn_ = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        wanted_ = std::move(task);
    }
    changed_.notify_one();
}

std::optional<data::Clones> DrawAhead::take(std::int64_t update) {
    if (!drawn_.valid()) return std::nullopt;
    data::Clones drawn = drawn_.get();
    if (update != update_) return std::nullopt;
    return drawn;
}

void DrawAhead::work() {
    for (;;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ends_ || wanted_; });
        if (!wanted_) return;
        std::packaged_task<data::Clones()> task = std::move(*wanted_);
        wanted_.reset();
        lock.unlock();
        task();
    }
}

}  // namespace gnnplan::deploy
