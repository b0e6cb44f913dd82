import { homedir } from 'node:os';
import { harmlessVariables } from './harmless-variables.js';

/** Beginnings of the names of those that may change what this software does. */
const telling =
  /^(ALTSTREAM|CUDA|NVIDIA|NCCL|HF|OTEL|CRT|MOE_KERNELS|DENSE_KERNELS|ATTENTION_KERNELS)_/;
/** Those that hold one URL. */
const addressed = /_(ENDPOINT|URL)$/;
const hidden = 'set, not shown';

/**
 * The variables of an environment that tell something, in the order of their names. Of those that
 * are not known to be harmless only that they are set. A URL has no user, query or fragment in it,
 * and the home folder is `~`.
 */
export function shownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  home = homedir(),
): Record<string, string> {
  const shown = Object.entries(environment).flatMap(([name, value]) => {
    const isHarmless = harmlessVariables.has(name);
    if (value === undefined || !(isHarmless || telling.test(name))) return [];
    const isNoUrl = addressed.test(name) && value !== '' && !value.includes('://');
    return [[name, isHarmless && !isNoUrl ? plain(value, home) : hidden] as const];
  });
  return Object.fromEntries(shown.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Without what URLs may carry, and without the name of a person's folder. */
function plain(value: string, home: string): string {
  if (!value.includes('://') && mayTell.test(value)) return hidden;
  const text = value.includes('://') ? withPlainUrls(value) : value;
  const escaped = home.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return home.length > 1 ? text.replaceAll(new RegExp(`${escaped}(?=[/:]|$)`, 'g'), '~') : text;
}

/**
 * What is no whole URL may hold what such a one does: a login before an `@` (that of a package's
 * scope begins its name and has no colon before it), a key behind `?` or `#`.
 */
const mayTell = /[^\s/]@|:.*@|[?#]/s;

/**
 * The value with each URL cut down to scheme, host and path. A password may hold signs that end a
 * host, or a space: where that could be so, nothing is shown.
 */
function withPlainUrls(value: string): string {
  const words = value.split(/(\s+)/).map((word) => {
    const [, before = '', address = ''] = /^(.*?)([a-z][a-z\d+.-]*:\/\/.*)?$/is.exec(word) ?? [];
    if (address === '') return mayTell.test(before) ? undefined : before;
    if (before.includes('://') || !URL.canParse(address)) return undefined;
    const { protocol, host, pathname } = new URL(address);
    return `${before}${protocol}//${host}${pathname === '/' ? '' : pathname}`;
  });
  const isSure = words.every((word) => word !== undefined && !/@|:\/\/.*:\/\//s.test(word));
  return isSure ? words.join('') : hidden;
}
