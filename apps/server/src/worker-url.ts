/** Where a worker's built file lies: workers are entries of their own beside the bundle's root. */
export function workerUrl(
  name: 'engine-worker' | 'text/text-worker' | 'grammar/grammar-worker',
): URL {
  return new URL(`./worker/${name}.js`, import.meta.url);
}
