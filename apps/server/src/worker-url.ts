/**
 * Where a worker's built file lies. Workers are entries of their own; Node 20 cannot run TypeScript,
 * so from source (in tests) the built file is used as well.
 */
export function workerUrl(name: 'engine-worker' | 'text-worker'): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(`${isSource ? '../dist' : '.'}/worker/${name}.js`, import.meta.url);
}
