# The CUDA backend, built where a CUDA toolkit is found: a module of kernels/cuda that programs open on demand, since the
# libraries that it needs would cost every start a quarter of a second. Sets GNNPLAN_CUDA_FOUND.
set(GNNPLAN_CUDA_FOUND OFF)
set(oldest_toolkit 12.0)
set(GNNPLAN_CUDA_OLDEST_GPU 75)  # compute capability 7.5
if(NOT GNNPLAN_CUDA OR GNNPLAN_SANITIZE)
  return()
endif()

# Whoever names a compiler wants it: what does not work is then an error, and else a line.
if(NOT DEFINED CACHE{GNNPLAN_CUDA_NAMED})
  set(named ${CMAKE_CUDA_COMPILER})
  if(NOT named)
    set(named $ENV{CUDACXX})
  endif()
  set(GNNPLAN_CUDA_NAMED "${named}" CACHE INTERNAL "the CUDA compiler that the user named")
endif()
macro(gnnplan_no_cuda why)
  if(GNNPLAN_CUDA_NAMED)
    message(FATAL_ERROR "${why}. Name another compiler than ${GNNPLAN_CUDA_NAMED}, or configure with -DGNNPLAN_CUDA=OFF.")
  endif()
  message(STATUS "${why}: gnnrun is built without --backend cuda (tools/install-packages cuda, then configure again)")
  return()
endmacro()

# The toolkit that tools/install-packages cuda made comes first, whoever ran it wants that one.
set(cache_folder $ENV{XDG_CACHE_HOME})
if(NOT cache_folder)
  set(cache_folder $ENV{HOME}/.cache)
endif()
find_program(GNNPLAN_NVCC nvcc
  HINTS ${cache_folder}/gnnplan/cuda/nvidia/cu13/bin
  PATHS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin /opt/cuda/bin)
mark_as_advanced(GNNPLAN_NVCC)
set(nvcc ${GNNPLAN_NVCC})
if(GNNPLAN_CUDA_NAMED)
  set(nvcc ${GNNPLAN_CUDA_NAMED})
endif()
if(NOT nvcc)
  gnnplan_no_cuda("CUDA toolkit not found")
endif()
execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE nvcc_says ERROR_QUIET RESULT_VARIABLE failed)
if(NOT nvcc_says MATCHES "release ([0-9]+\\.[0-9]+)")
  gnnplan_no_cuda("${nvcc} says no version of CUDA")
endif()
set(toolkit_version ${CMAKE_MATCH_1})
if(toolkit_version VERSION_LESS oldest_toolkit)
  gnnplan_no_cuda("the CUDA toolkit of ${nvcc} is ${toolkit_version}, and ${oldest_toolkit} or later is needed")
endif()

# Machine code for the GPUs that the toolkit knows, and code for later ones, which the driver translates.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE known_architectures ERROR_QUIET)
  foreach(architecture 75 80 86 89 90)
    if(known_architectures MATCHES "compute_${architecture}\n")
      list(APPEND CMAKE_CUDA_ARCHITECTURES ${architecture}-real)
      set(newest ${architecture})
    endif()
  endforeach()
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest}-virtual)
endif()

# The compiler of our own code also compiles the host's part of kernels.
set(ENV{CUDACXX} ${nvcc})
if(NOT DEFINED ENV{CUDAHOSTCXX})
  set(ENV{CUDAHOSTCXX} ${CMAKE_CXX_COMPILER})
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  unset(CMAKE_CUDA_COMPILER CACHE)  # so that the next configure tries again
  gnnplan_no_cuda("${nvcc} compiles nothing with ${CMAKE_CXX_COMPILER}")
endif()
enable_language(CUDA)
find_package(CUDAToolkit ${oldest_toolkit} QUIET)
if(NOT TARGET CUDA::cublas)
  gnnplan_no_cuda("cuBLAS not found beside ${nvcc}")
endif()
set(GNNPLAN_CUDA_FOUND ON)
message(STATUS "CUDA toolkit ${CMAKE_CUDA_COMPILER_VERSION} of ${nvcc}")

# CMake 3.25 does not know how nvcc is told the standard that all our targets have.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
# 554: the conversion in kernels/views.hpp, which one of two instantiations cannot use.
target_compile_options(gnnplan_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;-diag-suppress=554>")
if(GNNPLAN_WERROR)
  target_compile_options(gnnplan_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
