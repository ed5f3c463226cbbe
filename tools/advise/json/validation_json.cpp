#include "tools/advise/json/validation_json.hpp"

#include <utility>

namespace gnnplan::tools {

io::Document encode(const std::vector<Verdict>& verdicts) {
    io::Document files = io::Document::array();
    for (const Verdict& verdict : verdicts) {
        const auto text_or_null = [](const std::string& text) {
            return text.empty() ? io::Document() : io::Document(text);
        };
        io::Document file = io::Document::object({{"file", verdict.file}, {"valid", verdict.error.empty()}});
        file.set("file_schema", text_or_null(verdict.schema)).set("error", text_or_null(verdict.error));
        if (!verdict.content.empty()) file.set("content", verdict.content);
        files.push(std::move(file));
    }
    return io::Document::object({{"schema", "gnnplan.validation/1"}, {"files", std::move(files)}});
}

}  // namespace gnnplan::tools
