#include "kernels/backend.hpp"

#include "kernels/backend_module.hpp"

#include <gnnplan/base/cuda_workspace.hpp>
#include <gnnplan/base/error.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace gnnplan::kernels {
namespace {

constexpr const char* where = "`backend cuda`";
constexpr const char* module_file = "libgnnplan_cuda.so";
constexpr const char* module_variable = "GNNPLAN_CUDA_MODULE";
#ifdef GNNPLAN_HAVE_CUDA
constexpr bool built_with_module = true;
#else
constexpr bool built_with_module = false;
#endif

Error unavailable(const std::string& what, const std::string& hint) {
    return {ErrorCode::unavailable, what, where, hint};
}

// The file that has this code: the program, or a library that a program such as python has opened.
std::filesystem::path own_file() {
    Dl_info found{};
    const bool known = dladdr(reinterpret_cast<const void*>(&own_file), &found) != 0 && found.dli_fname != nullptr;
    return known ? found.dli_fname : "";
}

// Where the module is; its bare name where only the loader may know.
std::string module_path() {
    namespace fs = std::filesystem;
    if (const char* named = std::getenv(module_variable); named != nullptr && *named != '\0') return named;
    std::error_code none;
    for (const fs::path& file : {fs::read_symlink("/proc/self/exe", none), own_file()}) {
        const fs::path beside = file.parent_path() / "../lib" / module_file;
        if (file.is_absolute() && fs::exists(beside, none)) return fs::weakly_canonical(beside, none).string();
    }
    return module_file;
}

// Turns what dlerror() says, which begins with the file that is at fault, into an error.
Error cannot_open(const std::string& path, const std::string& failure) {
    const std::string module_fails = path + ": ";
    if (!failure.starts_with(module_fails)) {
        return unavailable(path + " cannot be opened: " + failure,
                           "install that library, or put its folder into LD_LIBRARY_PATH; tools/install-packages cuda "
                           "and a new build bring those of CUDA");
    }
    if (path == module_file && built_with_module) {
        return unavailable(
            "its module was not built: " + failure,
            std::string("the target gnnplan_cuda of the build makes it, or ") + module_variable + " says where one is");
    }
    if (path == module_file) {
        return unavailable("this program was built without it",
                           "tools/install-packages cuda makes a CUDA toolkit; then configure and build again");
    }
    return unavailable(failure, std::string(module_variable) + " says where the module is");
}

const BackendModule& open_module() {
    const std::string path = module_path();
    std::error_code none;
    const std::filesystem::file_status status = std::filesystem::status(path, none);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw unavailable(path + " is not a regular file", std::string(module_variable) + " says where the module is");
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // for good: devices keep code of it
    if (module == nullptr) throw cannot_open(path, dlerror());
    const auto entry = reinterpret_cast<BackendModuleEntry>(dlsym(module, backend_module_entry));
    const BackendModule* offers = entry != nullptr ? entry() : nullptr;
    if (offers == nullptr || std::string_view(offers->interface) != GNNPLAN_DEVICE_INTERFACE) {
        throw unavailable(path + (offers == nullptr ? " is no module of gnnplan" : " is of another build of gnnplan"),
                          "build and install `run/` and its module together");
    }
    return *offers;
}

Backend on_host(const Table& (*table)()) {
    return {true, [table](int) { return std::string(table().name); }, [table](int) { return host_device(table()); }};
}

}  // namespace

std::vector<std::string> backend_names() { return {"cpu", "reference", "cuda"}; }

TensorMemory tensor_memory(std::string_view backend) {
    if (backend == "cuda") return cuda_tensor_memory;
    return {};
}

Backend open_backend(std::string_view name) {
    if (name == "cpu") return on_host(cpu_table);
    if (name == "reference") return on_host(reference_table);
    if (name != "cuda") throw Error(ErrorCode::usage, "there is no backend " + std::string(name));
    const BackendModule& module = open_module();
    module.device_name(0);
    return {false, module.device_name, module.open};
}

}  // namespace gnnplan::kernels
