# How every folder of the project is built: one target per folder.

add_library(gnnplan_options INTERFACE)
target_compile_options(gnnplan_options INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of its own std::string concatenation (GCC bug 105651).
  target_compile_options(gnnplan_options INTERFACE -Wno-restrict)
endif()
if(GNNPLAN_WERROR)
  target_compile_options(gnnplan_options INTERFACE -Werror)
endif()
if(GNNPLAN_SANITIZE)
  add_compile_options(-fsanitize=${GNNPLAN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GNNPLAN_SANITIZE})
endif()

# gnnplan_library(NAME SOURCES a.cpp... LINK target...): the object library of one folder.
function(gnnplan_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} OBJECT ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/planner/include ${PROJECT_SOURCE_DIR}/models/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE gnnplan_options)
  set_property(GLOBAL APPEND PROPERTY GNNPLAN_OBJECTS ${name})
endfunction()

# gnnplan_test(NAME SOURCES a_test.cpp... LINK target...): a GoogleTest program, one ctest entry.
function(gnnplan_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} gnnplan_options GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
endfunction()
