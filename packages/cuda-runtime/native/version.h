// Facts of the build, defined by CMakeLists.txt from package.json.
#pragma once

#ifndef CRT_VERSION
#define CRT_VERSION "0.0.0"
#endif
#ifndef NAPI_VERSION
#define NAPI_VERSION 8
#endif
