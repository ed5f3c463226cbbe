#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>

namespace gnnplan {

namespace {

template <class Letters>
std::string letters_of(const Letters& choices) {
    std::string letters;
    for (const auto choice : choices) letters += static_cast<char>(choice);
    return letters;
}

}  // namespace

std::string text(const Orders& orders) { return letters_of(orders); }

std::string text(const OperandChoice& operands) { return letters_of(operands); }

Orders parse_orders(std::string_view letters) {
    Orders orders;
    for (const char letter : letters) {
        if (letter != 'S' && letter != 'D' && letter != '-') {
            throw Error(ErrorCode::usage, "orders are written with S and D, not '" + std::string(1, letter) + "'",
                        std::string(letters), "S: sparse matrix first, D: dense weights first, one letter per layer");
        }
        orders.push_back(static_cast<Order>(letter));
    }
    return orders;
}

OperandChoice parse_operands(std::string_view letters) {
    OperandChoice operands;
    for (const char letter : letters) {
        if (letter != 'T' && letter != 'G') {
            throw Error(ErrorCode::usage, "operands are written with T and G, not '" + std::string(1, letter) + "'",
                        std::string(letters), "T: (A^T H)^T G, G: H^T (A G), one letter per layer");
        }
        operands.push_back(static_cast<Operand>(letter));
    }
    return operands;
}

const std::vector<std::string>& scheme_names() {
    static const std::vector<std::string> names{"rdm", "1d", "1.5d", "2d", "3d"};
    return names;
}

bool shards_nonzeros(std::string_view scheme) { return scheme == "2d" || scheme == "3d"; }

int replication_of(const std::string& scheme, const Grid& grid) {
    if (scheme == "rdm") return grid.y;
    if (scheme == "1d" && grid.y == 1 && grid.z == 1) return 1;
    if (scheme == "1.5d" && (grid.y == 1 || grid.z == 1)) return grid.y * grid.z;
    if (scheme == "2d" && grid.z == 1) return 1;
    if (scheme == "3d") return 1;
    throw Error(ErrorCode::data, "there is no scheme '" + scheme + "' on a grid of " + grid.text(), "scheme",
                "schemes are rdm, 1d, 1.5d, 2d and 3d");
}

std::int64_t paper_id(const Orders& forward, const Orders& backward) {
    std::int64_t id = 0;
    for (const Orders* pass : {&backward, &forward}) {
        for (const Order order : *pass) id = 2 * id + (order == Order::dense_first ? 1 : 0);
    }
    return id;
}

}  // namespace gnnplan
