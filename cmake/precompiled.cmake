# Clang builds precompile third-party headers once: house_headers for modules, test_headers for tests, which may have
# other flags. Both are compiled without the definitions that modules add, and used by targets with the same flags.
option(REDRIVE_PRECOMPILE "Precompile third-party headers" ON)
set(PRECOMPILE OFF)
if(REDRIVE_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(PRECOMPILE ON)
  # The time in it would make it another one for ccache.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

# precompiled(NAME HEADER [DEPENDS libraries...] [OPTIONS flags...]): its definitions are those of the libraries.
function(precompiled name header)
  cmake_parse_arguments(PRE "" "" "DEPENDS;OPTIONS" ${ARGN})
  if(PRECOMPILE)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cpp)
    target_compile_options(${name} PRIVATE ${PRE_OPTIONS})
    target_link_libraries(${name} PRIVATE ${PRE_DEPENDS})
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${header})
  endif()
endfunction()

# For libraries and programs.
function(precompiled_from target name)
  if(PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
