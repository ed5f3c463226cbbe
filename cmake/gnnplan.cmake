# How every folder of the project is built: one target per folder.

add_library(gnnplan_options INTERFACE)
# Sources that are compiled together may use a name that is a constant of another one.
set(together $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
set(warnings -Wall -Wextra -Wconversion $<$<NOT:${together}>:-Wshadow>
  $<$<AND:${together},$<CXX_COMPILER_ID:GNU>>:-Wshadow=local>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of its own std::string concatenation (GCC bug 105651).
  list(APPEND warnings -Wno-restrict)
endif()
if(GNNPLAN_WERROR)
  list(APPEND warnings -Werror)
endif()
target_compile_options(gnnplan_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
if(GNNPLAN_SANITIZE)
  add_compile_options(-fsanitize=${GNNPLAN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GNNPLAN_SANITIZE})
endif()

# gnnplan_together(TARGET): its sources are compiled some at a time, as reading the headers that they share takes longer
# than compiling most of them. So names of one file alone have to be the only ones in their folder. Sources with options
# or definitions of their own are compiled alone. 16 sources take at most 16 s of a core and 0.7 GB of memory.
function(gnnplan_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GNNPLAN_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# gnnplan_library(NAME [ALONE] SOURCES a.cpp... LINK target...): the object library of one folder. ALONE: each source is
# compiled by itself.
function(gnnplan_library name)
  cmake_parse_arguments(ARG "ALONE" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} OBJECT ${ARG_SOURCES})
  if(NOT ARG_ALONE)
    gnnplan_together(${name})
  endif()
  target_include_directories(${name} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/planner/include ${PROJECT_SOURCE_DIR}/models/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE gnnplan_options)
  set_property(GLOBAL APPEND PROPERTY GNNPLAN_OBJECTS ${name})
endfunction()

# Whoever opens data sets needs the objects of all of these.
set(GNNPLAN_DATA_ROOMS gnnplan_data gnnplan_read gnnplan_generate gnnplan_sample gnnplan_blocks gnnplan_graph)

# A test that cannot run here says "skipped: why" on stdout and exits with 77, and ctest then lists it as skipped.
# gnnplan_may_skip(TEST...): these do; every test that gnnplan_test, gnnplan_mpi_test or gnnplan_python_test adds does.
function(gnnplan_may_skip)
  set_tests_properties(${ARGN} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# gnnplan_test_on(DEVICE SAMPLE NAME ARGUMENTS...): the test program NAME once more, on a DEVICE of wanted_device() in
# tests/support/devices.hpp, one configuration in SAMPLE. It is NAME_DEVICE; on "cuda" it has the label gpu. On
# "cuda_on_host" the CUDA backend runs compiled for the processor (tests/backend), and its GPUs exchange through hosts;
# on "nccl_on_host" and "peers_on_host" by a stand-in for NCCL, or by copies.
function(gnnplan_test_on device sample name)
  set(entry ${name}_${device})
  add_test(NAME ${entry} COMMAND ${name} --gtest_brief=1 ${ARGN})
  gnnplan_may_skip(${entry})
  if(device STREQUAL cuda)
    set_property(GLOBAL APPEND PROPERTY GNNPLAN_GPU_PROGRAMS ${name})
  endif()
  gnnplan_runs_on(${entry} ${device} ${sample})
endfunction()

# gnnplan_runs_on(TEST DEVICE SAMPLE): the same for a test that exists.
function(gnnplan_runs_on entry device sample)
  set(environment GNNPLAN_TEST_SAMPLE=${sample})
  if(device MATCHES "^(cuda|nccl|peers)_on_host$")
    list(APPEND environment GNNPLAN_TEST_DEVICE=cuda GNNPLAN_CUDA_MODULE=$<TARGET_FILE:cuda_on_host_module>
         GNNPLAN_HOST_CUDA=gpus=16 GNNPLAN_NCCL=$<TARGET_FILE:fake_nccl>)
    if(NOT CMAKE_MATCH_1 STREQUAL cuda)
      list(APPEND environment GNNPLAN_TEST_EXCHANGE=${CMAKE_MATCH_1})
    endif()
  else()
    list(APPEND environment GNNPLAN_TEST_DEVICE=${device})
  endif()
  set_property(TEST ${entry} APPEND PROPERTY ENVIRONMENT ${environment})
  if(device STREQUAL cuda)
    set_tests_properties(${entry} PROPERTIES LABELS gpu RUN_SERIAL ON)
  endif()
endfunction()

if(GNNPLAN_TESTS)
  add_library(gnnplan_test_options INTERFACE)
  target_link_libraries(gnnplan_test_options INTERFACE gnnplan_options GTest::gmock fmt::fmt)
  if(GNNPLAN_OPENMP)
    target_link_libraries(gnnplan_test_options INTERFACE OpenMP::OpenMP_CXX)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(gnnplan_test_options INTERFACE -fpch-preprocess)  # without it, ccache stores nothing of tests
  endif()
endif()

# gnnplan_test(NAME [TOGETHER] SOURCES a_test.cpp... LINK target... [REAL_GRAPHS FILTER]): a GoogleTest program, one
# ctest entry. TOGETHER: no name of one file alone is in another, so they can be compiled some at a time.
# Cases that FILTER names need graphs of GNNPLAN_DATA; they are NAME_real_graphs, so that no other is skipped with them.
function(gnnplan_test name)
  cmake_parse_arguments(ARG "TOGETHER" "REAL_GRAPHS" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_TOGETHER)
    gnnplan_together(${name})
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)  # tests are longer
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} gnnplan_test_main gnnplan_run_tests gnnplan_test_options)
  if(GNNPLAN_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${GNNPLAN_PRECOMPILED})
  endif()
  if(ARG_REAL_GRAPHS)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 --gtest_filter=-${ARG_REAL_GRAPHS})
    add_test(NAME ${name}_real_graphs COMMAND ${name} --gtest_brief=1 --gtest_filter=${ARG_REAL_GRAPHS})
    gnnplan_may_skip(${name}_real_graphs)
  else()
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  endif()
  gnnplan_may_skip(${name})
endfunction()

# gnnplan_python_test(NAME SCRIPT ARGUMENT...): a test in Python, skipped where there is none.
function(gnnplan_python_test name)
  if(Python3_Interpreter_FOUND)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${ARGN})
  else()
    add_test(NAME ${name} COMMAND sh -c "echo 'skipped: no python3 (tools/install-packages test)'; exit 77")
  endif()
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT GNNPLAN_PROBE=off)
  gnnplan_may_skip(${name})
endfunction()
