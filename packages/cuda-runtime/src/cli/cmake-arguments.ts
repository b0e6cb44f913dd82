import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { BuildTool } from './build-tools.js';
import { CommandError } from './command-line.js';
import { outputOf, type Variables } from './find-program.js';

/** What CMake is told besides where to build. */
export interface CmakeConfiguration {
  /** This package's folder. */
  readonly root: string;
  readonly tools: readonly BuildTool[];
  /** `--CDNAME=VALUE` of the command line; they win over everything here. */
  readonly options: Readonly<Record<string, string>>;
  readonly variables: Variables;
}

/** Arguments of `cmake` that configure the addon in `folder`, from nothing. */
export function cmakeArguments(folder: string, configuration: CmakeConfiguration): string[] {
  const { root, tools, options, variables } = configuration;
  const definitions = {
    CMAKE_BUILD_TYPE: 'Release',
    CMAKE_JS_INC: headerFolders(root).join(';'),
    CRT_STATIC_STDLIB: hasStaticLibrary(tools, variables) ? 'ON' : 'OFF',
    ...options,
  };
  const make = tools.find(({ name }) => name === 'make');
  const isNinja = make?.path !== undefined && basename(make.path) === 'ninja';
  return [
    '--fresh',
    '-S',
    root,
    '-B',
    folder,
    ...(isNinja ? ['-G', 'Ninja'] : []),
    ...Object.entries(definitions).map(([name, value]) => `-D${name}=${value}`),
  ];
}

/** Headers of Node-API and its C++ wrapper: dependencies of this package, so nothing is fetched. */
function headerFolders(root: string): readonly string[] {
  const require = createRequire(join(root, 'package.json'));
  const folderOf = (name: string): string => {
    try {
      return dirname(require.resolve(`${name}/package.json`));
    } catch {
      throw new CommandError(`${name} is not installed beside ${root}; install the package again`);
    }
  };
  return [folderOf('node-addon-api'), join(folderOf('node-api-headers'), 'include')];
}

/**
 * Some systems have the static C++ library in a package of its own; here the shared one will do.
 */
function hasStaticLibrary(tools: readonly BuildTool[], variables: Variables): boolean {
  const compiler = tools.find(({ name }) => name === 'compiler')?.path;
  if (compiler === undefined) return false;
  const printed = outputOf(compiler, ['-print-file-name=libstdc++.a'], variables) ?? '';
  return printed.includes('/');
}
