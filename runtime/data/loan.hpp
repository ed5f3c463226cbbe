// Arrays of a program under a name, which is opened like a file's: for plans, runs and all that names its data.
#pragma once

#include "runtime/graph/arrays.hpp"

#include <functional>
#include <optional>
#include <string>

namespace gnnplan::data {

// While it lives, open_dataset(name) makes the data set of what `lend` returns, which any thread may call. What the
// arrays borrow outlives all such data sets.
class Loan {
public:
    using Lend = std::function<Arrays()>;

    // Throws Error{usage} where the name is lent already.
    Loan(std::string name, Lend lend);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    const std::string& name() const { return name_; }

private:
    std::string name_;
};

bool is_lent(const std::string& name);
// Nothing where the name is not lent. Throws Error{usage} where ranks are to read shares of it.
std::optional<Arrays> lent(const std::string& name, bool in_shares);

}  // namespace gnnplan::data
