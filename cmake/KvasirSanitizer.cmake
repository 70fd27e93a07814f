# KVASIR_SANITIZER=address checks memory and undefined behaviour, =thread checks data races.
if(KVASIR_SANITIZER STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(KVASIR_SANITIZER STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  # ThreadSanitizer does not model fences: ordering by fences causes false reports, not missed
  # races.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
  add_link_options(-fsanitize=thread)
elseif(KVASIR_SANITIZER)
  message(FATAL_ERROR "KVASIR_SANITIZER must be empty, address or thread, not ${KVASIR_SANITIZER}")
endif()
