import { homedir } from 'node:os';

/** Variables that change what this software does. */
const telling =
  /^(ALTSTREAM_|CUDA_|NVIDIA_|NCCL_|LD_LIBRARY_PATH$|NODE_OPTIONS$|NODE_ENV$|NODE_EXTRA_CA_CERTS$|UV_THREADPOOL_SIZE$|HF_|OTEL_|MOE_KERNELS_|DENSE_KERNELS_|ATTENTION_KERNELS_|KUBERNETES_SERVICE_HOST$)/;
/** What must not be seen, and what may hold an operator's words. */
const secret =
  /KEY|TOKEN(?!IZER)|SECRET|PASSW|CREDENTIAL|AUTH|HEADERS|COOKIE|CERT_DATA|TEMPLATE_KWARGS|MOCK_ENGINE/;

/**
 * The variables of an environment that tell something, in the order of their names. Of keys, tokens
 * and templates' arguments only that they are set; the home folder is `~`.
 */
export function shownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  home = homedir(),
): Record<string, string> {
  const shown = Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || !telling.test(name)) return [];
    return [[name, secret.test(name) ? 'set, not shown' : plain(value, home)] as const];
  });
  return Object.fromEntries(shown.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A value without credentials of a URL in it, and without the name of a person's folder. */
function plain(value: string, home: string): string {
  const text = value.replaceAll(/(\w:\/\/)[^/@\s]*@/g, '$1…@');
  const escaped = home.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return home.length > 1 ? text.replaceAll(new RegExp(`${escaped}(?=[/:]|$)`, 'g'), '~') : text;
}
