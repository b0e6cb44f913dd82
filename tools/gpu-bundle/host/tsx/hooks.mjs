import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';

/**
 * An import of `x.js` finds `x.ts`, and a script from outside the bundle finds the bundle's
 * packages.
 */
export async function resolve(specifier, context, next) {
  if (specifier === '@oxc-project/runtime/helpers/usingCtx') {
    return next('./using-context.mjs', { ...context, parentURL: import.meta.url });
  }
  try {
    return await next(specifier, context);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    if (/^[a-z@]/.test(specifier) && !specifier.includes(':')) {
      return next(specifier, { ...context, parentURL: import.meta.url });
    }
    if (!specifier.endsWith('.js')) throw error;
    return next(`${specifier.slice(0, -'.js'.length)}.ts`, context);
  }
}

/** A `.ts` file loses its types, and `using` becomes what Node 20 can read. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const path = fileURLToPath(url);
  const { code, errors } = transformSync(path, await readFile(path, 'utf8'), {
    sourceType: 'module',
    target: 'node20',
  });
  if (errors.length > 0) throw new SyntaxError(`${path}: ${errors[0].message}`);
  return { format: 'module', source: code, shortCircuit: true };
}
