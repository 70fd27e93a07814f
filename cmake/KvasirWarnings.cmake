# Warnings are errors in our own C++.
function(kvasir_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Werror)
endfunction()
