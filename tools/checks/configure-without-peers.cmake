# The peers of benchmarks are optional: a package that cannot be configured, as oneDNN's without OpenCL, must
# not stop ours.
#   cmake -D SOURCE=... -D BUILD=... -D GENERATOR=... -D COMPILER=... -P configure-without-peers.cmake
set(folder ${BUILD}/without_peers)
file(REMOVE_RECURSE ${folder})
foreach(package dnnl oneDNN openblas OpenBLAS)
  string(TOLOWER ${package} lower)
  file(WRITE ${folder}/prefix/lib/cmake/${package}/${lower}-config.cmake "message(FATAL_ERROR \"Could NOT find OpenCL\")\n")
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${folder}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_PREFIX_PATH=${folder}/prefix -DGNNPLAN_CUDA=OFF -DGNNPLAN_TESTS=OFF -DGNNPLAN_BENCH=ON
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "a broken package of a library that benchmarks compare with stops the configure:\n${said}")
endif()
