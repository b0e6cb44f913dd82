import { homedir } from 'node:os';
import { harmlessVariables } from './harmless-variables.js';

/** Beginnings of the names of those that may change what this software does. */
const telling =
  /^(ALTSTREAM|CUDA|NVIDIA|NCCL|HF|OTEL|CRT|MOE_KERNELS|DENSE_KERNELS|ATTENTION_KERNELS)_/;
/** Those that hold one URL. */
const addressed = /_(ENDPOINT|URL)$/;
/** Those that hold a list of devices. */
const devices = /_VISIBLE_DEVICES$/;
const device = /^(\d{1,4}(:\d{1,4})?|(GPU|MIG|MIG-GPU)-[\da-f/-]+|-1|all|none|void|NoDevFiles)?$/i;
/** In place of a value that may tell too much. */
export const hiddenValue = 'set, not shown';

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
    const isShown = isHarmless && isOfItsForm(name, value);
    return [[name, isShown ? plain(value, home) : hiddenValue] as const];
  });
  return Object.fromEntries(shown.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function isOfItsForm(name: string, value: string): boolean {
  if (devices.test(name)) return value.split(',').every((one) => device.test(one.trim()));
  return !addressed.test(name) || value === '' || value.includes('://');
}

/** Without what URLs may carry, and without the name of a person's folder. */
function plain(value: string, home: string): string {
  if (!value.includes('://') && mayTell.test(value)) return hiddenValue;
  const text = value.includes('://') ? withPlainUrls(value) : value;
  if (disguised.test(text) || keyed.test(text)) return hiddenValue;
  const escaped = home.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return home.length > 1 ? text.replaceAll(new RegExp(`${escaped}(?=[/:]|$)`, 'g'), '~') : text;
}

/**
 * What is no whole URL may hold what such a one does: a login before an `@` (that of a package's
 * scope begins its name and has no colon before it), a key behind `?` or `#`.
 */
const mayTell = /[^\s/]@|:.*@|[?#]/s;

/** Those signs, or that of such writing itself, as URLs write signs. */
const disguised = /%(23|25|2f|3a|3f|40)/i;

/** Words that a key or password stands behind, beginnings of well-known keys, and a login. */
const keyed = new RegExp(
  [
    '(key|token|secret|passw(or)?d|passphrase|pwd|auth(orization)?|credentials?)["\']?\\s*[=:]',
    '\\b(bearer|basic)\\s',
    '(^|[^a-z\\d])(sk-|hf_|gh[opsu]_|github_pat_|glpat-|xox[abp]-|nvapi-|AKIA)[a-z\\d]',
    '(^|[\\s=,])data:',
    // A drive, a path, an IPv6 address, a port and the tag of a name behind a slash are none.
    '(^|[\\s=,])(?![\\da-f:.[\\]]+([\\s,]|$))[^\\s:/\\\\=,]{1,64}:(?![/\\\\]|\\d+([\\s,]|$))[^\\s/\\\\]',
  ].join('|'),
  'i',
);

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
  return isSure ? words.join('') : hiddenValue;
}
