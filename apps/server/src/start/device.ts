import type { ServeFlags } from '../config/serve-flags.js';
import { ExitError } from '../errors/index.js';

/** A device as the engine's worker takes it. */
export type DeviceName = 'auto' | 'cpu' | `cuda:${number}`;

/**
 * The device that flags name. An id means CUDA: where that does not work the start fails, and takes
 * no processor in its place.
 *
 * @throws ExitError (usage) for several ids, and for ids of another device than `--device` names
 */
export function deviceOf({ device, deviceIds = [] }: ServeFlags): DeviceName {
  const [id, ...others] = deviceIds;
  if (id === undefined) return device === 'cuda' ? 'cuda:0' : device;
  if (others.length > 0) {
    const problem = `--device-ids ${deviceIds.join(' ')} names ${deviceIds.length} devices`;
    throw new ExitError('usage', `${problem}, and this server runs one rank; name one`);
  }
  const named: DeviceName = `cuda:${id}`;
  if (device === 'auto' || device === 'cuda' || device === named) return named;
  const problem = `--device ${device} and --device-ids ${id} name different devices`;
  throw new ExitError('usage', `${problem}; leave one out`);
}
