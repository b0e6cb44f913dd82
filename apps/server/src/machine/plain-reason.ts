import { normalize } from 'node:path';
import { hiddenValue, shownVariables } from './shown-variables.js';

/** Variables that name files, of which a reason may tell. */
const named = /^CUDA_RUNTIME_/;
/** A word with a login in it: an address, or what stands before an `@` and has a colon. */
const login = /\S*(?::\/\/\S*|:\S*)(?:@|%40)\S*/gi;

/**
 * Why a backend cannot be used, as far as that may be shown: without the values of variables that
 * are not shown, whole or as paths, and without words that look like an address with a login.
 */
export function plainReason(
  reason: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  let text = reason;
  const shown = shownVariables(environment);
  for (const [name, value = ''] of Object.entries(environment)) {
    const instead = shown[name];
    if (value === '' || !named.test(name) || instead === undefined || instead === value) continue;
    // A reason may be cut after its first line.
    const [line = ''] = value.split('\n');
    for (const one of [value, normalize(value), line]) {
      if (one !== '') text = text.replaceAll(one, () => instead);
    }
  }
  return text.replaceAll(login, hiddenValue);
}
