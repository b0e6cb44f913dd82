# crt_sanitize(target): compiles and links a target with the sanitizers that CRT_SANITIZE names.
set(CRT_SANITIZE none CACHE STRING "none, thread, address, undefined or address,undefined")
set_property(CACHE CRT_SANITIZE PROPERTY STRINGS none thread address undefined address,undefined)
if(NOT CRT_SANITIZE MATCHES "^(none|thread|address|undefined|address,undefined)$")
  message(FATAL_ERROR "CRT_SANITIZE=${CRT_SANITIZE} is not one of none, thread, address, undefined, "
    "address,undefined")
endif()

function(crt_sanitize target)
  if(CRT_SANITIZE STREQUAL "none")
    return()
  endif()
  set(flags -fsanitize=${CRT_SANITIZE} -fno-omit-frame-pointer -g1)
  if(CRT_SANITIZE MATCHES "undefined")
    # gcc 12 sees an overflow behind the sanitizer's own null checks.
    list(APPEND flags -fno-sanitize-recover=all -Wno-stringop-overflow)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  target_link_options(${target} PRIVATE ${flags})
endfunction()
