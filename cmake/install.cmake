# `cmake --install` puts this in place: the tools, the public headers and one static library for those who embed the
# planner.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The planner's and the models' folders only: the library needs no MPI and no BLAS. Its archive is libgnnplan.a; the
# target has another name because the tool is called gnnplan, too.
add_library(gnnplan_static STATIC)
set_target_properties(gnnplan_static PROPERTIES
  OUTPUT_NAME gnnplan EXPORT_NAME gnnplan LINKER_LANGUAGE CXX)
get_property(object_libraries GLOBAL PROPERTY GNNPLAN_OBJECTS)
foreach(library IN LISTS object_libraries)
  get_target_property(folder ${library} SOURCE_DIR)
  if(folder MATCHES "^${PROJECT_SOURCE_DIR}/(planner|models)(/|$)")
    target_sources(gnnplan_static PRIVATE $<TARGET_OBJECTS:${library}>)
  endif()
endforeach()
target_compile_features(gnnplan_static INTERFACE cxx_std_20)
target_include_directories(gnnplan_static INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# All that the objects need beside the standard library; gnnplanConfig.cmake finds it again.
target_link_libraries(gnnplan_static PRIVATE PkgConfig::libxxhash)

install(TARGETS gnnplan_static EXPORT gnnplanTargets)
foreach(tool gnnplan gnnrun)
  if(TARGET ${tool})
    install(TARGETS ${tool})
  endif()
endforeach()
if(TARGET gnnplan_cuda)
  # Where gnnrun looks, whatever the folder of other libraries. It takes minutes to compile: who has built no more than
  # the programs and the libraries installs these without it.
  install(TARGETS gnnplan_cuda LIBRARY DESTINATION lib OPTIONAL)
endif()
install(DIRECTORY planner/include/ models/include/ TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE TYPE DOC)
if(GNNPLAN_CHART_JS)
  # `gnnplan report` looks there, whatever the folder of other data.
  install(FILES ${CMAKE_BINARY_DIR}/share/gnnplan/Chart.min.js DESTINATION share/gnnplan)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/gnnplan)
install(EXPORT gnnplanTargets NAMESPACE gnnplan:: DESTINATION ${package_folder})
configure_package_config_file(cmake/gnnplanConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/gnnplanConfig.cmake
  INSTALL_DESTINATION ${package_folder})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/gnnplanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gnnplanConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/gnnplanConfigVersion.cmake
  DESTINATION ${package_folder})

if(GNNPLAN_TESTS)
  # An outside project cannot link instrumented objects without knowing of the sanitizer.
  if(NOT GNNPLAN_SANITIZE)
    add_test(NAME install_consumer COMMAND ${CMAKE_COMMAND}
      -D BUILD=${PROJECT_BINARY_DIR} -D CONFIG=$<CONFIG> -D GENERATOR=${CMAKE_GENERATOR} -D COMPILER=${CMAKE_CXX_COMPILER}
      -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
  endif()
endif()
