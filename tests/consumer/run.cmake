# Installs the build BUILD to a fresh prefix, builds this folder against it and runs what it built.
set(prefix ${BUILD}/consumer/prefix)
set(consumer ${BUILD}/consumer/build)
file(REMOVE_RECURSE ${BUILD}/consumer)

# page_block(LANGUAGE TEXT RESULT): the first block of TEXT, a page, that is fenced as LANGUAGE.
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../README.md readme)
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../docs/library.md library_page)
function(page_block language text result)
  string(FIND "${text}" "```${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "a page shows the library's use in no block of ${language}")
  endif()
  string(LENGTH "```${language}\n" fence)
  math(EXPR begin "${begin} + ${fence}")
  string(SUBSTRING "${text}" ${begin} -1 rest)
  string(FIND "${rest}" "\n```" end)
  math(EXPR end "${end} + 1")
  string(SUBSTRING "${rest}" 0 ${end} block)
  set(${result} "${block}" PARENT_SCOPE)
endfunction()

# run(COMMAND...): its standard output is in `said` then.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}${errors}")
  endif()
  set(said "${output}" PARENT_SCOPE)
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

# The blocks of the README are a project as they stand, but for the program's name and its file; the program of
# docs/library.md is another one of it.
set(printed ${BUILD}/consumer/readme)
page_block(cmake "${readme}" project)
page_block(cpp "${readme}" program)
page_block(cpp "${library_page}" library_program)
file(WRITE ${printed}/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.22)\nproject(mine LANGUAGES CXX)\nadd_executable(mine main.cpp)\n${project}"
  "add_executable(library library.cpp)\ntarget_link_libraries(library PRIVATE gnnplan::run)\n")
file(WRITE ${printed}/main.cpp "${program}")
file(WRITE ${printed}/library.cpp "${library_program}")
run(${CMAKE_COMMAND} -S ${printed} -B ${printed}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$<1:${printed}/bin>)
run(${CMAKE_COMMAND} --build ${printed}/build --config ${CONFIG})
set(uncalibrated ${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${printed}/no-cache GNNPLAN_PROBE=off)

# The program's answer is that of the command, and that of the README's session.
run(${uncalibrated} ${printed}/bin/mine)
string(STRIP "${said}" answer)
string(REPLACE " " " +" row "\n\\*\\+ 1 ${answer} ")
run(${prefix}/bin/gnnplan plan --graph reddit --hidden 128 --ranks 8 --machine a6000x8 --top 3)
if(NOT said MATCHES "${row}")
  message(FATAL_ERROR "README's program answers ${answer}, and gnnplan plan:\n${said}")
elseif(NOT readme MATCHES "${row}")
  message(FATAL_ERROR "README's program answers ${answer}, and README's session shows another plan")
elseif(NOT readme MATCHES "It prints `${answer}`")
  message(FATAL_ERROR "README does not say that its program prints ${answer}")
endif()

# The file that docs/library.md's program writes has the plan that the command writes, and gnnrun trains by it.
set(graph ${printed}/graph)
run(${prefix}/bin/gnnplan graph generate planted --vertices 60 --nonzeros 300 --features 8 --classes 3 -o ${graph})
run(${uncalibrated} ${printed}/bin/library ${graph} ${printed}/own.json)
run(${uncalibrated} ${prefix}/bin/gnnplan plan --graph ${graph} --hidden 16 --ranks 2 -o ${printed}/command.json)
foreach(writer own command)
  file(READ ${printed}/${writer}.json plan)
  string(JSON ${writer} GET "${plan}" candidates)
  string(JSON ${writer}_data GET "${plan}" fingerprints graph)
  string(JSON ${writer}_worth GET "${plan}" alternatives)
endforeach()
if(NOT own STREQUAL command OR NOT own_data STREQUAL command_data OR NOT own_worth STREQUAL command_worth)
  message(FATAL_ERROR "the program of docs/library.md writes another plan than gnnplan plan")
endif()
run(${prefix}/bin/gnnrun ${printed}/own.json --data ${graph} --in-process --epochs 3)

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
