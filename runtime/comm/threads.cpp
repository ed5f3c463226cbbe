#include "runtime/comm/threads.hpp"

#include "runtime/comm/thread_communicator.hpp"

#include <gnnplan/base/error.hpp>

#include <numeric>
#include <string>
#include <system_error>
#include <thread>

namespace gnnplan::comm {
namespace {

bool is_secondary(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const RanksAborted&) {
        return true;
    } catch (...) {
        return false;
    }
}

void rethrow_cause(const std::vector<std::exception_ptr>& failures) {
    std::exception_ptr secondary;
    for (const std::exception_ptr& failure : failures) {
        if (!failure) continue;
        if (!is_secondary(failure)) std::rethrow_exception(failure);
        secondary = failure;
    }
    if (secondary) std::rethrow_exception(secondary);
}

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body) {
    ensure(ranks >= 1, "run_ranks: at least one rank is needed");
    std::vector<int> members(static_cast<std::size_t>(ranks));
    std::iota(members.begin(), members.end(), 0);
    const auto world = std::make_shared<ThreadWorld>(ranks);
    const auto group = std::make_shared<ThreadGroup>(world, std::move(members));
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
    const auto run = [&](int rank) {
        try {
            ThreadCommunicator communicator(group, rank);
            body(communicator);
        } catch (...) {
            failures[static_cast<std::size_t>(rank)] = std::current_exception();
            world->abort();
        }
    };
    {
        std::vector<std::jthread> threads;  // joins on every way out
        try {
            for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
        } catch (const std::system_error& failure) {  // release those that started
            world->abort();
            throw Error(ErrorCode::infeasible,
                        "the system refused a thread for rank " + std::to_string(threads.size()) + " of " +
                            std::to_string(ranks) + ": " + failure.code().message(),
                        {},
                        "memory or processes are limited, see ulimit -a; use fewer ranks, or processes on more nodes");
        } catch (...) {
            world->abort();
            throw;
        }
    }
    rethrow_cause(failures);
}

}  // namespace gnnplan::comm
