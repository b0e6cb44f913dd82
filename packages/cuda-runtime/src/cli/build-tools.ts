import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nvccIn, wrongCudaSetting } from './cuda-settings.js';
import { findProgram, outputOf, type Variables } from './find-program.js';
import { installCommand } from './install-command.js';

/** A tool that `build` uses. */
export interface BuildTool {
  readonly name: 'cmake' | 'compiler' | 'make' | 'CUDA toolkit';
  /** False: `build` works without it. */
  readonly isRequired: boolean;
  /** Present, and new enough. */
  readonly isUsable: boolean;
  readonly path?: string;
  /** What was found, in words. */
  readonly detail: string;
  /** How to get it, when it is not usable. */
  readonly hint?: string;
}

const oldestCmake = [3, 24] as const;
const cxx20 = '#include <bit>\n#include <span>\nint main() { return std::span<int>{}.size(); }\n';

/** Looks for what `build` needs, as CMake will, and what it can use. */
export function buildTools(variables: Variables, needsCuda: boolean): readonly BuildTool[] {
  return [cmake(variables), compiler(variables), make(variables), toolkit(variables, needsCuda)];
}

function cmake(variables: Variables): BuildTool {
  const tool = { name: 'cmake', isRequired: true } as const;
  const wanted = `${oldestCmake.join('.')} or newer`;
  const path = findProgram('cmake', variables);
  if (path === undefined) {
    const hint = `Install cmake ${wanted}: ${installCommand(['cmake'])} or \`pip install cmake\``;
    return { ...tool, isUsable: false, detail: 'not found on PATH', hint };
  }
  const [line = ''] = (outputOf(path, ['--version'], variables) ?? 'does not run').split('\n', 1);
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(line)?.map(Number) ?? [];
  const isUsable = major > oldestCmake[0] || (major === oldestCmake[0] && minor >= oldestCmake[1]);
  const detail = `${line}${isUsable ? '' : `, expected ${wanted}`}`;
  if (isUsable) return { ...tool, isUsable, path, detail };
  return {
    ...tool,
    isUsable,
    path,
    detail,
    hint: `Install cmake ${wanted}: \`pip install cmake\``,
  };
}

function compiler(variables: Variables): BuildTool {
  const tool = { name: 'compiler', isRequired: true } as const;
  // As in CMake: a program, perhaps with arguments, such as `ccache g++`.
  const [named, ...flags] = (variables['CXX'] ?? '').split(' ').filter((word) => word !== '');
  const names = named ? [named] : ['c++', 'g++', 'clang++'];
  const path = names.map((name) => findProgram(name, variables)).find((found) => found);
  const hint = `Install a C++20 compiler, such as g++ 11 or newer: ${installCommand(['compiler'])}`;
  if (path === undefined) {
    const detail = named
      ? `CXX names ${named}, which is no program`
      : 'no c++, g++, clang++ on PATH';
    return { ...tool, isUsable: false, detail, hint };
  }
  const [version = ''] = (outputOf(path, [...flags, '--version'], variables) ?? '').split('\n', 1);
  const args = [...flags, '-std=c++20', '-fsyntax-only', '-x', 'c++', '-'];
  const isUsable = outputOf(path, args, variables, cxx20) !== undefined;
  if (isUsable) return { ...tool, isUsable, path, detail: version };
  const detail = `${version || 'does not run'}: cannot compile C++20`;
  return { ...tool, isUsable, path, detail, hint };
}

function make(variables: Variables): BuildTool {
  const tool = { name: 'make', isRequired: true } as const;
  const generator = variables['CMAKE_GENERATOR'];
  if (generator) return { ...tool, isUsable: true, detail: `CMAKE_GENERATOR names ${generator}` };
  const path = findProgram('ninja', variables) ?? findProgram('make', variables);
  if (path !== undefined) return { ...tool, isUsable: true, path, detail: path };
  const hint = `Install make or ninja: ${installCommand(['make'])}`;
  return { ...tool, isUsable: false, detail: 'neither ninja nor make on PATH', hint };
}

function toolkit(variables: Variables, isRequired: boolean): BuildTool {
  const tool = { name: 'CUDA toolkit', isRequired } as const;
  const wrong = wrongCudaSetting(variables);
  if (wrong !== undefined) {
    const hint = 'Unset or correct it: `build` does not go on with it';
    return { ...tool, isRequired: true, isUsable: false, detail: wrong, hint };
  }
  const nvcc = findNvcc(variables);
  const version = nvcc && /release ([\d.]+)/.exec(outputOf(nvcc, ['--version'], variables) ?? '');
  if (nvcc && version) {
    return { ...tool, isUsable: true, path: nvcc, detail: `${version[1]}` };
  }
  const detail = nvcc
    ? `${nvcc} does not run`
    : 'no nvcc on PATH, in CUDA_PATH or /usr/local/cuda*';
  const hint =
    'For the CUDA backend install the CUDA toolkit (developer.nvidia.com/cuda-downloads) or name its folder: --CDCRT_CUDA_ROOT=…';
  // Nobody who names a toolkit wants an addon without CUDA.
  const isNamed = Boolean(variables['CRT_CUDA_ROOT']) && variables['CRT_CUDA'] !== 'OFF';
  const isNeeded = isRequired || isNamed;
  const path = nvcc && { path: nvcc };
  return { ...tool, isRequired: isNeeded, isUsable: false, detail, hint, ...path };
}

function findNvcc(variables: Variables): string | undefined {
  const named = ['CRT_CUDA_ROOT', 'CUDAToolkit_ROOT', 'CUDA_PATH', 'CUDA_HOME']
    .map((name) => variables[name])
    .filter((folder) => folder !== undefined);
  return (
    named.map(nvccIn).find((found) => found) ??
    findProgram('nvcc', variables) ??
    installedToolkits()
      .map(nvccIn)
      .find((found) => found)
  );
}

/** `/usr/local/cuda` and `/usr/local/cuda-13.0`, the plain name first. */
function installedToolkits(): readonly string[] {
  const parent = '/usr/local';
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter((name) => /^cuda(-|$)/.test(name))
    .sort()
    .map((name) => join(parent, name));
}
