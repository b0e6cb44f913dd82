import { execFileSync } from 'node:child_process';
import { byVersion } from './by-version.js';

/** What a binary asks of the machine that loads it. */
export interface ElfNeeds {
  /** Shared libraries by soname. */
  readonly libraries: readonly string[];
  /** Search paths that were linked in. */
  readonly searchPaths: readonly string[];
  /** Newest version of glibc's symbols, such as `2.35`. */
  readonly glibc: string;
  /** Versions of other libraries' symbols, such as `GLIBCXX_3.4.21`. */
  readonly others: readonly string[];
}

/** Reads an ELF file with `readelf`. */
export function elfNeeds(file: string): ElfNeeds {
  const dynamic = readelf('--dynamic', file);
  const versions = readelf('--version-info', file);
  const needed = [...versions.matchAll(/Name: (\w+?)_([\d.]+)\s/g)].map(
    ([, library = '', version = '']) => ({ library, version }),
  );
  const glibc = needed
    .filter(({ library }) => library === 'GLIBC')
    .map(({ version }) => version)
    .sort(byVersion);
  return {
    libraries: [...dynamic.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name = '']) => name),
    searchPaths: [...dynamic.matchAll(/\(R(?:UN)?PATH\).*\[(.*)\]/g)].map(([, path = '']) => path),
    glibc: glibc.at(-1) ?? '0',
    others: needed
      .filter(({ library }) => library !== 'GLIBC')
      .map(({ library, version }) => `${library}_${version}`),
  };
}

function readelf(option: string, file: string): string {
  return execFileSync('readelf', ['--wide', option, file], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
}
