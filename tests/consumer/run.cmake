# Installs the build BUILD to a fresh prefix, builds this folder against it and runs what it built.
set(prefix ${BUILD}/consumer/prefix)
set(consumer ${BUILD}/consumer/build)
file(REMOVE_RECURSE ${BUILD}/consumer)

# readme_block(LANGUAGE TEXT RESULT): the first block of TEXT that is fenced as LANGUAGE.
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../README.md readme)
function(readme_block language text result)
  string(FIND "${text}" "```${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md shows the library's use in no block of ${language}")
  endif()
  string(LENGTH "```${language}\n" fence)
  math(EXPR begin "${begin} + ${fence}")
  string(SUBSTRING "${text}" ${begin} -1 rest)
  string(FIND "${rest}" "\n```" end)
  math(EXPR end "${end} + 1")
  string(SUBSTRING "${rest}" 0 ${end} block)
  set(${result} "${block}" PARENT_SCOPE)
endfunction()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --config ${CONFIG})
run(${CMAKE_CURRENT_LIST_DIR}/../../tools/checks/runpath ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${consumer} -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${consumer} --config ${CONFIG})
run(${consumer}/consumer)
run(${consumer}/consumer_of_everything)

# A circle of 60 vertices on two ranks, its features and labels generated.
set(edges "")
foreach(vertex RANGE 59)
  math(EXPR next "(${vertex} + 1) % 60")
  string(APPEND edges "${vertex} ${next}\n")
endforeach()
file(WRITE ${consumer}/circle.txt "${edges}")
run(${prefix}/bin/gnnplan plan --graph ${consumer}/circle.txt --index-base 0 --symmetrise --generate --widths 8,4,3
  --ranks 2 --machine a6000x8 -o ${consumer}/circle.json)
run(${consumer}/train ${consumer}/circle.json ${consumer}/circle.txt)

# What the README prints is a project as it stands, but for the program's name and its file.
set(printed ${BUILD}/consumer/readme)
readme_block(cmake "${readme}" project)
readme_block(cpp "${readme}" program)
file(WRITE ${printed}/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.22)\nproject(mine LANGUAGES CXX)\nadd_executable(mine main.cpp)\n${project}")
file(WRITE ${printed}/main.cpp "${program}")
run(${CMAKE_COMMAND} -S ${printed} -B ${printed}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$<1:${printed}/bin>)
run(${CMAKE_COMMAND} --build ${printed}/build --config ${CONFIG})
run(${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${printed}/no-cache ${printed}/bin/mine)

run(${prefix}/bin/gnnplan --version)
run(${prefix}/bin/gnnrun --version)
if(EXISTS ${BUILD}/lib/libgnnplan_cuda.so AND NOT EXISTS ${prefix}/lib/libgnnplan_cuda.so)
  message(FATAL_ERROR "the module of --backend cuda is not installed beside gnnrun")
endif()

# Where there is a toolkit and its module was not built, the rest is installed all the same.
file(READ ${BUILD}/cmake_install.cmake rules)
string(REPLACE "${BUILD}/lib/libgnnplan_cuda.so" "${BUILD}/lib/not_built.so" rules "${rules}")
file(WRITE ${BUILD}/consumer/without_module.cmake "${rules}")
run(${CMAKE_COMMAND} -D CMAKE_INSTALL_PREFIX=${BUILD}/consumer/without_module -P ${BUILD}/consumer/without_module.cmake)
