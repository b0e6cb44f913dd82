const variable = 'CUDA_RUNTIME_REQUIRE_CUDA';

/**
 * Whether a missing CUDA is a failure: `CUDA_RUNTIME_REQUIRE_CUDA` is 1. Unset, empty and 0 are no.
 * @throws Error for any other value, since a mistyped one would skip what must run
 */
export function isCudaRequired(environment: NodeJS.ProcessEnv = process.env): boolean {
  const value = environment[variable] ?? '';
  if (value === '1') return true;
  if (value === '' || value === '0') return false;
  throw new Error(`${variable} is \`${value}\`, expected 0 or 1`);
}
