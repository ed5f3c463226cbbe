// Agreement on the control channel, written against the interface only.
#include "runtime/comm/communicator.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/known_error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace gnnplan::comm {
namespace {

// A rank's failure as text: "CODE\0WHERE\0HINT\0MESSAGE". Success is the empty text.
std::string encode(const Error& error) {
    std::string text = std::to_string(static_cast<int>(error.code()));
    for (const std::string& field : {error.where(), error.hint(), std::string(error.what())}) {
        text += '\0';
        text += field;
    }
    return text;
}

std::string encode(const std::exception_ptr& failure) {
    if (!failure) return {};
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        return encode(error);
    } catch (const std::exception& error) {
        return encode(known_error(error).value_or(Error(ErrorCode::internal, error.what())));
    } catch (...) {
        return encode(Error(ErrorCode::internal, "unknown exception"));
    }
}

// Error composes its message from where, what and hint; undo that, so that composing it again gives the same message.
std::string_view bare_message(std::string_view message, std::string_view where, std::string_view hint) {
    if (!where.empty()) message.remove_prefix(where.size() + std::strlen(": "));
    if (!hint.empty()) message.remove_suffix(hint.size() + std::strlen(" ()"));
    return message;
}

AgreedError decode(std::string_view text) {
    std::array<std::string_view, 4> fields;
    for (std::string_view& field : fields) {
        const std::size_t length = std::min(text.find('\0'), text.size());
        field = text.substr(0, length);
        text.remove_prefix(std::min(length + 1, text.size()));
    }
    const auto [code_text, where, hint, message] = fields;
    int code = static_cast<int>(ErrorCode::internal);
    std::from_chars(code_text.data(), code_text.data() + code_text.size(), code);
    return {static_cast<ErrorCode>(code), std::string(bare_message(message, where, hint)), std::string(where),
            std::string(hint)};
}

}  // namespace

RanksHere ranks_here(const Communicator& comm) {
    const std::vector<int> nodes = comm.nodes();
    const auto own = nodes.begin() + comm.rank();
    return {static_cast<int>(std::count(nodes.begin(), nodes.end(), *own)),
            static_cast<int>(std::count(nodes.begin(), own, *own))};
}

double control_max(Communicator& comm, double value) { return control_max(comm, std::vector{value}).front(); }

std::vector<double> control_max(Communicator& comm, std::vector<double> values) {
    std::string own(values.size() * sizeof(double), '\0');
    std::memcpy(own.data(), values.data(), own.size());
    for (const std::string& text : comm.control_all_gather(own)) {
        ensure(text.size() == own.size(), "ranks compare different numbers of values");
        for (std::size_t i = 0; i < values.size(); ++i) {
            double other = 0;
            std::memcpy(&other, text.data() + i * sizeof(double), sizeof other);
            values[i] = std::max(values[i], other);
        }
    }
    return values;
}

void agree_on(Communicator& comm, const std::exception_ptr& failure) {
    for (const std::string& text : comm.control_all_gather(encode(failure)))
        if (!text.empty()) throw decode(text);
}

}  // namespace gnnplan::comm
