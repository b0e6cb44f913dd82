// The C++ and CUDA texts that manifest.mjs writes from the kernels it read.

/** Prototypes that give the CPU entries default visibility; each .cpp gets them by `-include`. */
export function entriesHeader(kernels) {
  const lines = kernels.flatMap(({ name, struct, cpuEntry, isHost }) => [
    `struct ${struct};`,
    `extern "C" __attribute__((visibility("default"))) void ${cpuEntry ?? name}(`,
    `    const struct ${struct}* p${isHost ? '' : ', const CpuContext* context'});`,
  ]);
  return `${head}#pragma once\n#include "cuda_runtime/abi.h"\n\n${lines.join('\n')}\n`;
}

/**
 * Proof that the manifest's offsets are the compiler's, and the symbols that the loader compares.
 */
export function layoutCheckCpp(packageName, kernels) {
  const symbols = kernels.map(
    ({ name, struct }) => `CRT_EXPORTED const uint32_t ${name}_params_bytes = sizeof(${struct});`,
  );
  return `${head}#include <stddef.h>

#include "cuda_runtime/abi.h"
${includes(packageName, kernels)}
${asserts(kernels)}
#define CRT_EXPORTED extern "C" __attribute__((visibility("default")))
CRT_EXPORTED const uint32_t crt_abi_version = CRT_ABI_VERSION;
${symbols.join('\n')}
`;
}

/** The same for one fatbin; the fatbin's unit includes it after its source. */
export function layoutCheckCuda(packageName, kernels) {
  const symbols = kernels.map(
    ({ name, struct }) =>
      `extern "C" __device__ const uint32_t ${name}_params_bytes = sizeof(${struct});`,
  );
  return `${head}#pragma once
#include <stddef.h>
#include <stdint.h>

${includes(packageName, kernels)}
${asserts(kernels)}
${symbols.join('\n')}
`;
}

const head =
  '// Written by cuda-runtime/cmake/manifest.mjs from the parameter headers. Do not edit.\n';

function includes(packageName, kernels) {
  const headers = new Set(kernels.map(({ header }) => header));
  return [...headers].map((header) => `#include "${packageName}/${header}"\n`).join('');
}

function asserts(kernels) {
  const structs = new Map(kernels.map((kernel) => [kernel.struct, kernel]));
  return [...structs.values()]
    .flatMap(({ struct, bytes, fields }) => [
      `static_assert(sizeof(${struct}) == ${bytes}, "${struct}: size differs from the manifest");`,
      ...fields.map(
        ({ name, offset }) =>
          `static_assert(offsetof(${struct}, ${name}) == ${offset}, "${struct}.${name}: offset");`,
      ),
    ])
    .join('\n')
    .concat('\n');
}
