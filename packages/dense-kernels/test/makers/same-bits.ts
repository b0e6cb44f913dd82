import { createHash } from 'node:crypto';

const seen = new Map<string, { level: string; digest: string }>();

/**
 * Says whether a result has the bits that an earlier CPU level gave for the same case of this
 * process. The first level is remembered; other backends than the CPU are not compared.
 *
 * @returns empty when it has, else who differs
 */
export function differsFromEarlierLevel(
  testCase: string,
  device: { readonly limits: { readonly cpuLevel: string } },
  ...results: readonly ArrayBufferView[]
): string {
  const level = device.limits.cpuLevel;
  if (level === '') return '';
  const hash = createHash('sha256');
  for (const { buffer, byteOffset, byteLength } of results) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  const digest = hash.digest('hex');
  const earlier = seen.get(testCase);
  if (!earlier) seen.set(testCase, { level, digest });
  return earlier && earlier.digest !== digest
    ? `${testCase}: ${level} and ${earlier.level} differ`
    : '';
}
