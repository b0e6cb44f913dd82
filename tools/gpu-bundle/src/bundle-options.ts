import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface BundleOptions {
  /** Absolute path of the folder to fill. */
  readonly out: string;
  /** Folder names below `packages/` or `apps/`; default: those whose suites are about a GPU. */
  readonly packages: readonly string[] | undefined;
  /** Compresses less: sooner done, and larger. */
  readonly isQuick: boolean;
}

/**
 * Reads `--out DIR`, `--packages a,b` and `--quick`.
 * @throws Error naming the flag
 */
export function bundleOptions(args: readonly string[]): BundleOptions {
  const { values } = parseArgs({
    args: args.filter((argument) => argument !== '--'),
    options: { out: { type: 'string' }, packages: { type: 'string' }, quick: { type: 'boolean' } },
  });
  if (!values.out) {
    throw new Error('--out is missing: say which folder to fill, as in pnpm gpu-bundle --out DIR');
  }
  const packages = values.packages?.split(',').filter((name) => name !== '');
  if (packages?.length === 0) {
    throw new Error(
      '--packages names no package: expected folders of packages/ or apps/, as in a,b',
    );
  }
  return { out: resolve(values.out), packages, isQuick: values.quick ?? false };
}
