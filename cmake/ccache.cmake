# Where ccache is installed, it stores compiled objects for all checkouts: it identifies files by their paths within a
# checkout, and also stores objects that use precompiled headers. A launcher that the user names takes precedence
# (CMAKE_CXX_COMPILER_LAUNCHER; empty: none).
find_program(GNNPLAN_CCACHE ccache)
mark_as_advanced(GNNPLAN_CCACHE)
foreach(language CXX CUDA)
  if(GNNPLAN_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER
     AND NOT DEFINED ENV{CMAKE_${language}_COMPILER_LAUNCHER})
    set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${GNNPLAN_CCACHE})
  endif()
endforeach()
