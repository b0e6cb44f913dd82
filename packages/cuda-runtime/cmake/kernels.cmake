# add_kernel_package(moe_kernels [include folders of lower kernel packages...])
#
# The one function that every kernel package calls. It builds, into CMAKE_LIBRARY_OUTPUT_DIRECTORY:
#   lib<name>_cpu.so      from native/cpu/*.cpp
#   <name>.<op>.fatbin    one per native/cuda/*.cu or native/cuda/*/*.cu, where an nvcc is found that runs
#   manifest.json         layouts of the parameter structs in native/include/<name>/*.h
#
# Sources whose name ends in _avx2, _avx512 or _amx get the flags of that instruction set. On x86
# every source sees CRT_X86=1; elsewhere those files are left out and CRT_X86 is not defined.

include(${CMAKE_CURRENT_LIST_DIR}/sanitize.cmake)

set(CRT_GENCODE "80;90a;100f" CACHE STRING "machine code in the fatbins")
set(CRT_PTX "90" CACHE STRING "PTX in the fatbins, for every newer device")
if(DEFINED ENV{CRT_GENCODE})
  string(REPLACE "," ";" CRT_GENCODE "$ENV{CRT_GENCODE}")
endif()
if(NOT CMAKE_LIBRARY_OUTPUT_DIRECTORY)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/Release)
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CRT_NODE node REQUIRED)

function(add_kernel_package name)
  set(cmake_dir ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(headers_dir ${CMAKE_CURRENT_SOURCE_DIR}/native/include/${name})
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
  set(includes ${CMAKE_CURRENT_SOURCE_DIR}/native/include ${cmake_dir}/../native/include ${ARGN})
  set(out ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  file(GLOB headers CONFIGURE_DEPENDS ${headers_dir}/*.h)
  file(GLOB cpu_sources CONFIGURE_DEPENDS native/cpu/*.cpp)
  file(GLOB cuda_sources CONFIGURE_DEPENDS native/cuda/*.cu native/cuda/*/*.cu)
  if(NOT headers)
    message(FATAL_ERROR "${name}: no parameter headers in ${headers_dir}")
  endif()

  find_program(NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  set(fatbin_arguments)
  set(cuda_layouts)
  if(cuda_sources AND NOT NVCC)
    message(STATUS "${name}: fatbins skipped, no nvcc")
    set(cuda_sources)
  elseif(cuda_sources)
    # A toolkit that was removed, or is for another machine, leaves an nvcc that does not run.
    execute_process(COMMAND ${NVCC} --version RESULT_VARIABLE nvcc_result
      OUTPUT_QUIET ERROR_QUIET)
    if(NOT nvcc_result EQUAL 0)
      message(STATUS "${name}: fatbins skipped, ${NVCC} does not run (${nvcc_result})")
      set(cuda_sources)
    endif()
  endif()
  foreach(source ${cuda_sources})
    get_filename_component(op ${source} NAME_WE)
    list(APPEND fatbin_arguments --fatbin ${name}.${op}.fatbin=${source})
    list(APPEND cuda_layouts ${generated}/${name}.${op}.layout.cuh)
  endforeach()

  add_custom_command(
    OUTPUT ${out}/manifest.json ${generated}/layout_check.cpp ${generated}/entries.h ${cuda_layouts}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
    COMMAND ${CRT_NODE} ${cmake_dir}/manifest.mjs --package ${name} --headers ${headers_dir}
            --generated ${generated} --manifest ${out}/manifest.json --cpu lib${name}_cpu.so
            ${fatbin_arguments}
    DEPENDS ${headers} ${cuda_sources} ${cmake_dir}/manifest.mjs ${cmake_dir}/manifest-sources.mjs
    COMMENT "manifest of ${name}" VERBATIM)

  crt_add_cpu_library(${name} "${cpu_sources}" "${includes}" ${generated} ${cmake_dir})
  set(fatbins)
  foreach(source ${cuda_sources})
    crt_add_fatbin(${name} ${source} "${includes}" ${generated} ${out} fatbin)
    list(APPEND fatbins ${fatbin})
  endforeach()
  if(fatbins)
    add_custom_target(${name}_fatbins ALL DEPENDS ${fatbins})
  endif()
endfunction()

# lib<name>_cpu.so, one translation unit per instruction set.
function(crt_add_cpu_library name sources includes generated cmake_dir)
  set(is_x86 OFF)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
    set(is_x86 ON)
  else()
    list(FILTER sources EXCLUDE REGEX "_(avx2|avx512|amx)\\.cpp$")
  endif()
  set(avx2 -mavx2 -mfma -mf16c)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512bf16)
  set(amx ${avx512} -mamx-tile -mamx-bf16 -mamx-int8)
  foreach(source ${sources})
    foreach(isa avx2 avx512 amx)
      if(source MATCHES "_${isa}\\.cpp$")
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${${isa}}")
      endif()
    endforeach()
  endforeach()

  add_library(${name}_cpu SHARED ${sources} ${generated}/layout_check.cpp ${generated}/entries.h)
  set_target_properties(${name}_cpu PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${name}_cpu PRIVATE ${includes})
  # Contraction off: the baseline rounds the same on every compiler; faster files say fma
  # explicitly.
  target_compile_options(${name}_cpu PRIVATE -O3 -Wall -Wextra -Werror -ffp-contract=off
    -ffunction-sections -fdata-sections -include ${generated}/entries.h)
  if(is_x86)
    target_compile_definitions(${name}_cpu PRIVATE CRT_X86=1)
  endif()
  target_link_options(${name}_cpu PRIVATE -static-libgcc -static-libstdc++
    -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-z,now)
  crt_sanitize(${name}_cpu)
  if(CRT_SANITIZE STREQUAL "none")
    target_link_options(${name}_cpu PRIVATE -Wl,-z,defs)
  endif()
  add_custom_command(TARGET ${name}_cpu POST_BUILD
    COMMAND ${CRT_NODE} ${cmake_dir}/check-weak.mjs ${CMAKE_NM} "$<TARGET_OBJECTS:${name}_cpu>"
    COMMENT "weak symbols of ${name}" VERBATIM)
endfunction()

# <name>.<op>.fatbin: the source and its layout check as one translation unit.
function(crt_add_fatbin name source includes generated out result)
  get_filename_component(op ${source} NAME_WE)
  set(unit ${generated}/${name}.${op}.cu)
  set(layout ${generated}/${name}.${op}.layout.cuh)
  set(fatbin ${out}/${name}.${op}.fatbin)
  file(GENERATE OUTPUT ${unit} CONTENT "#include \"${source}\"\n#include \"${layout}\"\n")
  set(gencode)
  foreach(arch ${CRT_GENCODE})
    list(APPEND gencode -gencode arch=compute_${arch},code=sm_${arch})
  endforeach()
  list(APPEND gencode -gencode arch=compute_${CRT_PTX},code=compute_${CRT_PTX})
  list(TRANSFORM includes PREPEND -I OUTPUT_VARIABLE include_flags)
  add_custom_command(OUTPUT ${fatbin}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${out}
    COMMAND ${NVCC} -fatbin -O3 -std=c++20 --expt-relaxed-constexpr --threads=2
            --compress-mode=size -MD -MF ${generated}/${name}.${op}.d ${gencode} ${include_flags}
            ${unit} -o ${fatbin}
    DEPENDS ${unit} ${source} ${layout}
    DEPFILE ${generated}/${name}.${op}.d
    COMMENT "nvcc ${name}.${op}.fatbin" VERBATIM)
  set(${result} ${fatbin} PARENT_SCOPE)
endfunction()
