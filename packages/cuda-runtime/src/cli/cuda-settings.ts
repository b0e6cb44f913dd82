import { isAbsolute, join } from 'node:path';
import { findProgram, type Variables } from './find-program.js';

const choices = ['AUTO', 'ON', 'OFF'];

/** The compiler in the folder of a toolkit. */
export function nvccIn(root: string): string | undefined {
  return findProgram('nvcc', { PATH: join(root, 'bin') });
}

/**
 * What is wrong with `CRT_CUDA` or `CRT_CUDA_ROOT`: CMake would take another toolkit, or decide
 * itself whether it wants one, and would not say so.
 *
 * @param options `--CDNAME=VALUE` of the command line; they win over variables
 */
export function wrongCudaSetting(
  variables: Variables,
  options: Readonly<Record<string, string>> = {},
): string | undefined {
  const { CRT_CUDA: cuda, CRT_CUDA_ROOT: root } = { ...variables, ...options };
  const named = (name: string) => (name in options ? `--CD${name}` : name);
  if (cuda && !choices.includes(cuda)) {
    return `${named('CRT_CUDA')} is \`${cuda}\`, expected AUTO, ON or OFF`;
  }
  if (!root || cuda === 'OFF' || (isAbsolute(root) && nvccIn(root))) return undefined;
  return `${named('CRT_CUDA_ROOT')} is ${root}, expected the absolute path of a CUDA toolkit, with bin/nvcc`;
}
