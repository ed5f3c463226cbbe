#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>

namespace gnnplan {

std::string text(const Orders& orders) {
    std::string letters;
    for (const Order order : orders) letters += static_cast<char>(order);
    return letters;
}

Orders parse_orders(std::string_view letters) {
    Orders orders;
    for (const char letter : letters) {
        if (letter != 'S' && letter != 'D') {
            throw Error(ErrorCode::usage, "orders are written with S and D, not '" + std::string(1, letter) + "'",
                        std::string(letters), "S: sparse matrix first, D: dense weights first, one letter per layer");
        }
        orders.push_back(static_cast<Order>(letter));
    }
    return orders;
}

std::int64_t paper_id(const Orders& forward, const Orders& backward) {
    std::int64_t id = 0;
    for (const Orders* pass : {&backward, &forward}) {
        for (const Order order : *pass) id = 2 * id + (order == Order::dense_first ? 1 : 0);
    }
    return id;
}

}  // namespace gnnplan
