import { wrongKind } from '../../arguments/faults.js';
import { checkOptions, type OptionNames } from '../../arguments/options.js';
import type { EdgeOptions } from '../graph-node.js';

const names: OptionNames<EdgeOptions> = { type: true, port: true };
const ports = { completion: 0, programmatic: 1, launch: 2 } as const;

/**
 * Type and port of an edge as the addon names them; what does not go together the addon refuses.
 */
export function edgePort(
  api: string,
  options: EdgeOptions,
): { readonly programmatic: boolean; readonly port: number } {
  checkOptions(api, 'options', options, names);
  const { type = options.port === 'programmatic' ? 'programmatic' : 'full' } = options;
  const { port = type === 'programmatic' ? 'programmatic' : 'completion' } = options;
  if (type !== 'full' && type !== 'programmatic') {
    throw wrongKind(api, 'type', type, 'full or programmatic');
  }
  if (typeof port !== 'string' || !Object.hasOwn(ports, port)) {
    throw wrongKind(api, 'port', port, 'completion, programmatic or launch');
  }
  return { programmatic: type === 'programmatic', port: ports[port] };
}
