import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Makes `globalThis.gc`, also where Node was started without `--expose-gc`. */
export function exposeCollector(): void {
  if (globalThis.gc) return;
  setFlagsFromString('--expose-gc');
  globalThis.gc = runInNewContext('gc');
}
