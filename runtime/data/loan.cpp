#include "runtime/data/loan.hpp"

#include <gnnplan/base/error.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace gnnplan::data {
namespace {

struct Loans {
    std::mutex mutex;
    std::map<std::string, Loan::Lend> by_name;
};

Loans& loans() {
    static Loans all;
    return all;
}

}  // namespace

Loan::Loan(std::string name, Lend lend) : name_(std::move(name)) {
    const std::lock_guard lock(loans().mutex);
    if (loans().by_name.emplace(name_, std::move(lend)).second) return;
    throw Error(ErrorCode::usage, "there is another data set of this name", name_, "give this one a name of its own");
}

Loan::~Loan() {
    const std::lock_guard lock(loans().mutex);
    loans().by_name.erase(name_);
}

bool is_lent(const std::string& name) {
    const std::lock_guard lock(loans().mutex);
    return loans().by_name.contains(name);
}

std::optional<Arrays> lent(const std::string& name, bool in_shares) {
    Loan::Lend lend;
    {
        const std::lock_guard lock(loans().mutex);
        const auto found = loans().by_name.find(name);
        if (found == loans().by_name.end()) return std::nullopt;
        lend = found->second;
    }
    if (in_shares) {
        throw Error(ErrorCode::usage, "arrays are in the memory of one process, and are not read in shares", name,
                    "plan with `load whole`");
    }
    return lend();
}

}  // namespace gnnplan::data
