#include "planner/io/parse.hpp"

#include <gnnplan/base/error.hpp>

#include <nlohmann/json.hpp>

#include <set>

namespace gnnplan::io {

namespace {

// Receives the events of nlohmann's parser (which keeps its own explicit stack, so that depth costs no recursion).
class Builder {
public:
    Builder(const std::string& where, const ParseLimits& limits) : where_(where), limits_(limits) {}

    Document take() { return std::move(root_); }

    bool null() { return add({}); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(std::int64_t value) { return add(value); }
    bool number_unsigned(std::uint64_t value) { return add(value); }
    bool number_float(double value, const std::string&) { return add(value); }
    bool string(std::string& value) { return add(std::move(value)); }
    bool binary(nlohmann::json::binary_t&) { return false; }
    bool start_object(std::size_t) { return open(Document::object()); }
    bool start_array(std::size_t) { return open(Document::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(std::string& key) {
        Frame& frame = stack_.back();
        const auto& members = *frame.container.get_if<Document::Object>();
        if (members.size() >= limits_.members)
            fail("more than " + std::to_string(limits_.members) + " keys in an object");
        if (!frame.is_new(key)) fail("duplicate key " + in_quotes(key));
        frame.key = std::move(key);
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
        std::string message = error.what();
        message.erase(0, message.find("] ") + 2);  // "[json.exception.parse_error.101] "
        constexpr std::size_t longest = 200;
        if (message.size() > longest) message = message.substr(0, longest) + "...";
        throw Error(ErrorCode::data, "not valid JSON: " + message, where_);
    }

private:
    struct Frame {
        Document container;
        std::string key;             // of the member being read
        std::set<std::string> keys;  // of an object with many members: those that there were

        bool is_new(const std::string& next) {
            constexpr std::size_t few = 32;
            const auto& members = *container.get_if<Document::Object>();
            if (members.size() < few) return container.find(next) == nullptr;
            if (keys.empty()) {
                for (const auto& [known, value] : members) keys.insert(known);
            }
            return keys.insert(next).second;
        }
    };

    [[noreturn]] void fail(const std::string& what) const {
        std::string path;
        for (const Frame& frame : stack_) {
            if (const auto* array = frame.container.get_if<Document::Array>()) {
                path.append("[").append(std::to_string(array->size())).append("]");
            } else if (!frame.key.empty()) {
                path.append(path.empty() ? "" : ".").append(key_text(frame.key));
            }
        }
        throw Error(ErrorCode::data, what, where_ + (path.empty() ? "" : ": " + path));
    }

    void count() {
        if (++values_ > limits_.values) fail("more than " + std::to_string(limits_.values) + " values");
    }

    bool open(Document container) {
        count();
        if (stack_.size() >= static_cast<std::size_t>(limits_.depth)) {
            fail("nested deeper than " + std::to_string(limits_.depth) + " levels");
        }
        stack_.push_back({std::move(container), {}, {}});
        return true;
    }

    bool close() {
        Document container = std::move(stack_.back().container);
        stack_.pop_back();
        place(std::move(container));
        return true;
    }

    bool add(Document value) {
        count();
        place(std::move(value));
        return true;
    }

    void place(Document value) {
        if (stack_.empty()) {
            root_ = std::move(value);
            return;
        }
        Frame& frame = stack_.back();
        if (frame.container.get_if<Document::Array>() != nullptr) {
            frame.container.push(std::move(value));
        } else {
            frame.container.append(std::move(frame.key), std::move(value));
            frame.key.clear();
        }
    }

    const std::string& where_;
    const ParseLimits& limits_;
    Document root_;
    std::vector<Frame> stack_;
    std::size_t values_ = 0;
};

}  // namespace

Document parse(std::string_view text, const std::string& where, const ParseLimits& limits) {
    Builder builder(where, limits);
    if (text.empty()) throw Error(ErrorCode::data, "not valid JSON: the file is empty", where);
    if (text.find('\0') != std::string_view::npos) {  // where nlohmann stops reading
        if (text.starts_with("PK\x03\x04") || text.starts_with("\x93NUMPY")) {
            throw Error(ErrorCode::data, "a file of NumPy's arrays, where one of JSON is expected", where,
                        "`plan/graph` plans for a graph, and `run/data` reads it");
        }
        throw Error(ErrorCode::data, "a byte of value 0 is no part of JSON", where);
    }
    nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    return builder.take();
}

std::string printable(std::string_view text) {
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
        const bool c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;
        shown += byte < ' ' || byte == 0x7F || c1 ? '?' : text[i];
        if (c1) ++i;
    }
    return shown;
}

namespace {

constexpr std::size_t longest = 60;  // bytes of a text in a message

}  // namespace

std::string in_quotes(std::string_view text) {
    return printable(dump(Document(text.substr(0, longest)))) + (text.size() > longest ? "..." : "");
}

std::string shortened(std::string_view text) {
    constexpr std::size_t most = 4000, begin = 3000, end = 900;
    if (text.size() <= most) return std::string(text);
    return std::string(text.substr(0, begin)) + " ... " + std::string(text.substr(text.size() - end));
}

std::string key_text(std::string_view key) {
    return key.size() <= longest && printable(key) == key ? std::string(key) : in_quotes(key);
}

}  // namespace gnnplan::io
