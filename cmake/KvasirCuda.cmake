# Finds a working nvcc (a wrapper without a toolkit does not count), compiles kernels into a fatbin and
# records their resource usage. Without nvcc, only the CPU library is built and a status
# line is printed. The variable KVASIR_NVCC of the environment names another nvcc, 11.8 or newer.
if(DEFINED ENV{KVASIR_NVCC} AND NOT CMAKE_CROSSCOMPILING)
  set(KVASIR_NVCC "$ENV{KVASIR_NVCC}" CACHE FILEPATH "The CUDA compiler" FORCE)
endif()
find_program(KVASIR_NVCC nvcc)
set(KVASIR_NVCC_VERSION "")
if(KVASIR_NVCC)
  execute_process(COMMAND "${KVASIR_NVCC}" --version
    OUTPUT_VARIABLE nvcc_output ERROR_QUIET RESULT_VARIABLE nvcc_status)
  if(nvcc_status EQUAL 0 AND nvcc_output MATCHES "release ([0-9]+\\.[0-9]+)")
    set(KVASIR_NVCC_VERSION "${CMAKE_MATCH_1}")
  endif()
endif()
if(KVASIR_NVCC_VERSION)
  message(STATUS "kvasir: CUDA ${KVASIR_NVCC_VERSION} found, compiling kernels")
else()
  message(STATUS "kvasir: no working nvcc, building only the CPU library")
endif()

# Of the device architectures in the fatbin, those that this nvcc has.
set(KVASIR_CUDA_ARCHITECTURES 80 90 100 120 CACHE STRING "Device architectures in the fatbin")
set(KVASIR_NVCC_ARCHITECTURES "")
set(KVASIR_NVCC_COMPRESSION "")
if(KVASIR_NVCC_VERSION)
  execute_process(COMMAND "${KVASIR_NVCC}" --list-gpu-arch OUTPUT_VARIABLE known)
  foreach(arch IN LISTS KVASIR_CUDA_ARCHITECTURES)
    if(known MATCHES "compute_${arch}[\r\n]")
      list(APPEND KVASIR_NVCC_ARCHITECTURES ${arch})
    else()
      message(STATUS "kvasir: CUDA ${KVASIR_NVCC_VERSION} has no sm_${arch}, whose devices compile PTX")
    endif()
  endforeach()
  # Drivers of CUDA 13 read what is compressed for size; those of CUDA 12 do only from 12.4 (R550) on.
  if(NOT KVASIR_NVCC_VERSION VERSION_LESS 13)
    set(KVASIR_NVCC_COMPRESSION -compress-mode=size)
  elseif(NOT KVASIR_NVCC_VERSION VERSION_LESS 12.8)
    set(KVASIR_NVCC_COMPRESSION -compress-mode=speed)
  endif()
endif()

# Compiles SOURCE, a module of kernels, for the given architectures into kvasir.fatbin in the current binary folder, and for
# drivers that are older than the compiler into kvasir.ptx, as part of the target WHOLE. `modules` is set to both and the files
# that describe them; it stays empty without a compiler.
function(kvasir_cuda_fatbin whole source architectures)
  set(modules "" PARENT_SCOPE)
  if(NOT KVASIR_NVCC_VERSION)
    return()
  endif()
  set(code "")
  foreach(arch IN LISTS architectures)
    list(APPEND code -gencode arch=compute_${arch},code=sm_${arch})
  endforeach()
  # PTX of the oldest architecture covers generations without their own machine code, PTX of the
  # newest covers later ones.
  list(GET architectures 0 oldest)
  list(GET architectures -1 newest)
  foreach(arch IN ITEMS ${oldest} ${newest})
    list(APPEND code -gencode arch=compute_${arch},code=compute_${arch})
  endforeach()
  set(fatbin "${CMAKE_CURRENT_BINARY_DIR}/kvasir.fatbin")
  add_custom_command(
    OUTPUT "${fatbin}"
    COMMAND "${CMAKE_SOURCE_DIR}/../cmake/compile-kernels" "${fatbin}.resources"
      "${KVASIR_NVCC}" --fatbin -std=c++17 -O3 -Werror all-warnings -Xptxas -warn-spills,-v
      ${KVASIR_NVCC_COMPRESSION} -I "${CMAKE_SOURCE_DIR}/include" ${code}
      -MD -MF "${fatbin}.d" -o "${fatbin}" "${source}"
    DEPENDS "${source}" "${CMAKE_SOURCE_DIR}/../cmake/compile-kernels"
    BYPRODUCTS "${fatbin}.resources"
    DEPFILE "${fatbin}.d"
    COMMENT "Compiling CUDA kernels"
    VERBATIM)
  set(ptx "${CMAKE_CURRENT_BINARY_DIR}/kvasir.ptx")
  add_custom_command(
    OUTPUT "${ptx}"
    COMMAND "${CMAKE_SOURCE_DIR}/../cmake/lower-ptx" "${ptx}"
      "${KVASIR_NVCC}" --ptx -std=c++17 -O3 -Werror all-warnings
      -I "${CMAKE_SOURCE_DIR}/include" -arch=compute_${oldest} -MD -MT "${ptx}" -MF "${ptx}.d" "${source}"
    COMMAND "${KVASIR_NVCC}" --cubin -arch=sm_${oldest} -Xptxas -O0 -o "${ptx}.cubin" "${ptx}"
    DEPENDS "${source}" "${CMAKE_SOURCE_DIR}/../cmake/lower-ptx"
    DEPFILE "${ptx}.d"
    COMMENT "Compiling kernels for older drivers"
    VERBATIM)
  add_custom_target(${whole}_fatbin DEPENDS "${fatbin}" "${ptx}")
  add_dependencies(${whole} ${whole}_fatbin)
  # Describes the fatbin for KernelModule.java, which cannot inspect it without a driver.
  file(STRINGS "${CMAKE_SOURCE_DIR}/include/kvasir/platform.hpp" abi
    REGEX "^#define KVASIR_ABI_VERSION [0-9]+$")
  string(REGEX REPLACE ".* " "" abi "${abi}")
  list(TRANSFORM architectures PREPEND "sm_")
  list(JOIN architectures " " architectures)
  file(GENERATE OUTPUT "${fatbin}.properties" CONTENT
    "architectures=${architectures} compute_${oldest} compute_${newest}\nptxArchitecture=compute_${oldest}\ncudaVersion=${KVASIR_NVCC_VERSION}\nabi=${abi}\n")
  set(modules "${fatbin}" "${fatbin}.resources" "${fatbin}.properties" "${ptx}" PARENT_SCOPE)
endfunction()

set(KVASIR_GPU_PROGRAM_ARCHITECTURE 90 CACHE STRING
  "Device architecture of the native GPU tests; others compile the PTX at start-up")

# A program for machines with a GPU, part of the target kvasir_gpu_programs. It needs only the driver.
function(kvasir_cuda_program source)
  if(NOT KVASIR_NVCC_VERSION)
    return()
  endif()
  get_filename_component(name "${source}" NAME_WE)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.o")
  set(program "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  set(arch ${KVASIR_GPU_PROGRAM_ARCHITECTURE})
  add_custom_command(
    OUTPUT "${object}"
    COMMAND "${KVASIR_NVCC}" -c -std=c++17 -O3 -Werror all-warnings
      -I "${CMAKE_SOURCE_DIR}/include" -gencode arch=compute_80,code=compute_80
      -gencode arch=compute_${arch},code=sm_${arch} -MD -MF "${object}.d" -o "${object}" "${source}"
    DEPENDS "${source}"
    DEPFILE "${object}.d"
    COMMENT "Compiling ${name} for GPUs"
    VERBATIM)
  add_custom_command(
    OUTPUT "${program}"
    COMMAND "${KVASIR_NVCC}" -cudart static -Xcompiler -static-libstdc++,-static-libgcc
      -Xlinker --gc-sections
      -o "${program}" "${object}" "$<TARGET_OBJECTS:kvasir_core>"
    DEPENDS "${object}" kvasir_core "$<TARGET_OBJECTS:kvasir_core>"
    COMMENT "Linking ${name}"
    COMMAND_EXPAND_LISTS
    VERBATIM)
  add_custom_target(${name}_program DEPENDS "${program}")
  add_dependencies(kvasir_gpu_programs ${name}_program)
endfunction()
