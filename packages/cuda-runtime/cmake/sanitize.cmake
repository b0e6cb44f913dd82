# crt_sanitize(target): compiles and links a target with the sanitizer that CRT_SANITIZE names.
set(CRT_SANITIZE none CACHE STRING "none, address, thread or undefined")
set_property(CACHE CRT_SANITIZE PROPERTY STRINGS none address thread undefined)
if(NOT CRT_SANITIZE MATCHES "^(none|address|thread|undefined)$")
  message(FATAL_ERROR "CRT_SANITIZE=${CRT_SANITIZE} is not one of none, address, thread, undefined")
endif()

function(crt_sanitize target)
  if(CRT_SANITIZE STREQUAL "none")
    return()
  endif()
  set(flags -fsanitize=${CRT_SANITIZE} -fno-omit-frame-pointer -g)
  if(CRT_SANITIZE STREQUAL "undefined")
    # gcc 12 sees an overflow behind the sanitizer's own null checks.
    list(APPEND flags -fno-sanitize-recover=all -Wno-stringop-overflow)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  target_link_options(${target} PRIVATE ${flags})
endfunction()
