import { spawnSync } from 'node:child_process';

/** Name and driver version of each GPU as nvidia-smi tells them; none without nvidia-smi. */
export function gpus(): readonly { readonly name: string; readonly driver: string }[] {
  const query = ['--query-gpu=name,driver_version', '--format=csv,noheader'];
  const { status, stdout } = spawnSync('nvidia-smi', query, { encoding: 'utf8' });
  return status === 0 ? parseGpus(stdout) : [];
}

/** Reads lines of `name, driver`. */
export function parseGpus(text: string): readonly { name: string; driver: string }[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', driver = ''] = line.split(', ');
      return { name, driver };
    });
}
