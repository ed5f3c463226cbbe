// Numbers as people read and write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gnnplan::tools {

// "16GiB", "900MB", "1.5 GB", "7B", or bytes without a unit from 1 MiB on; kB, MB, GB, TB are powers of 10, KiB, MiB,
// GiB, TiB of 2; case does not matter. Throws Error{usage} on anything else, and on sizes that are not positive or
// exceed 2^62 bytes.
std::int64_t parse_size(std::string_view text);

std::string format_count(std::int64_t value);   // 1,234,567
std::string format_number(double value);        // 82, 128.5; from ten million on 1.235e+12
std::string format_bytes(std::int64_t bytes);   // 12.3 MB: volumes, powers of 10
std::string format_memory(std::int64_t bytes);  // 2.1 GiB: memory, powers of 2
std::string format_seconds(double seconds);     // 38 ms
// "  about 40 s left", "  about 3.5 h left"; "" below a second.
std::string left_text(double seconds);
std::string format_loss(double loss);  // 0.3699; from 100,000 on 1.513e+24; "nan", whatever its sign

// Orders of long networks with repetitions counted: "S98D2", "(SD)50"; up to twelve letters as they are. Two orders of
// one length have one text only if they are the same.
std::string format_orders(std::string_view letters);
// The same for a cell of a table: where even that is long, its beginning and the number of layers, "SDDS3DSSD…(100)".
std::string format_orders_cell(std::string_view letters);

}  // namespace gnnplan::tools
