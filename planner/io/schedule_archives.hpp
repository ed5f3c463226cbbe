// Archives of steps and tensors, which write a tensor, a space or a parameter as its name and find it by that.
#pragma once

#include "planner/io/archive.hpp"
#include "planner/io/parse.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace gnnplan::io {

inline constexpr std::size_t max_operands = 16;  // of one list of a step

using TensorIds = std::unordered_map<std::string, TensorId>;

// Archives that write a tensor as its name. Steps call them as operation.hpp says.
class ScheduleWriter : public Writer {
public:
    explicit ScheduleWriter(const Schedule& schedule) : schedule_(schedule) {}

    void space(const char* key, const std::optional<int>& id) { named(key, schedule_.spaces, id); }
    void parameter(const char* key, const std::optional<int>& id) { named(key, schedule_.parameters, id); }
    void tensor(const char* key, TensorId id) { field(key, tensor_of(schedule_, id).name); }
    void tensor(const char* key, const std::optional<TensorId>& id) {
        field(key, id ? std::optional(tensor_of(schedule_, *id).name) : std::nullopt);
    }
    void tensor(const char* key, const std::vector<TensorId>& ids) {
        std::vector<std::string> names;
        names.reserve(ids.size());
        for (const TensorId id : ids) names.push_back(tensor_of(schedule_, id).name);
        field(key, names);
    }
    template <class Id>
    void reads(const char* key, const Id& id) {
        tensor(key, id);
    }
    void may_read(const char* key, const std::optional<TensorId>& id) {
        if (id) tensor(key, *id);
    }
    template <class Id>
    void writes(const char* key, const Id& id) {
        tensor(key, id);
    }
    template <class Id>
    void updates(const char* key, const Id& id) {
        tensor(key, id);
    }
    template <class T>
    void value(const char* key, const T& value) {
        field(key, value);
    }
    template <class T>
    void identity(const char* key, const T& value) {
        field(key, value);
    }
    template <class T>
    void derived(const T&) {}

private:
    template <class Named>
    void named(const char* key, const std::vector<Named>& table, const std::optional<int>& id) {
        field(key, id ? std::optional(table[static_cast<std::size_t>(*id)].name) : std::nullopt);
    }

    const Schedule& schedule_;
};

class ScheduleReader : public Reader {
public:
    // `schedule` as far as it has been read; `older`: written by an earlier version.
    ScheduleReader(const Cursor& cursor, const Schedule& schedule, const TensorIds& ids, bool older)
        : Reader(cursor), schedule_(schedule), ids_(ids), older_(older) {}

    void space(const char* key, std::optional<int>& id) { named(key, schedule_.spaces, id); }
    void parameter(const char* key, std::optional<int>& id) { named(key, schedule_.parameters, id); }

    void tensor(const char* key, TensorId& id) { id = find(member(key)); }
    void tensor(const char* key, std::optional<TensorId>& id) {
        const Cursor name = member(key);
        if (!name.is_null()) id = find(name);
    }
    void tensor(const char* key, std::vector<TensorId>& ids) {
        for (const Cursor& name : member(key).elements(max_operands)) ids.push_back(find(name));
    }
    template <class Id>
    void reads(const char* key, Id& id) {
        tensor(key, id);
    }
    void may_read(const char* key, std::optional<TensorId>& id) {
        if (has(key)) tensor(key, id);
    }
    template <class Id>
    void writes(const char* key, Id& id) {
        tensor(key, id);
    }
    template <class Id>
    void updates(const char* key, Id& id) {
        tensor(key, id);
    }
    template <class T>
    void value(const char* key, T& value) {
        older_ ? optional(key, value) : field(key, value);
    }
    template <class T>
    void identity(const char* key, T& value) {
        if constexpr (std::is_same_v<T, double>) {
            any_number(key, value);
        } else {
            field(key, value);
        }
    }
    template <class T>
    void derived(T&) {}

private:
    TensorId find(const Cursor& name) const {
        const auto found = ids_.find(name.string());
        if (found == ids_.end()) name.fail("there is no tensor " + in_quotes(name.string()));
        return found->second;
    }

    template <class Named>
    void named(const char* key, const std::vector<Named>& table, std::optional<int>& id) {
        const Cursor name = member(key);
        if (name.is_null()) return;
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (table[i].name == name.string()) id = static_cast<int>(i);
        }
        if (!id) name.fail("there is no " + in_quotes(name.string()) + " in the schedule");
    }

    const Schedule& schedule_;
    const TensorIds& ids_;
    bool older_;
};

}  // namespace gnnplan::io
