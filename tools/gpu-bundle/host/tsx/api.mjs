// Stands in for the package `tsx` in a bundle: the same entry points, by the compiler that vitest
// brings anyway, so that esbuild's 10 MB stay at home.
import { register as registerHooks } from 'node:module';

/** TypeScript modules load in this thread from now on. */
export function register() {
  registerHooks('./hooks.mjs', import.meta.url);
}
