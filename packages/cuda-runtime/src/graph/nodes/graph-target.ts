import type { Device } from '../../contract.js';
import type { Handle } from '../../native/binding.js';
import type { HeldObjects } from '../held-objects.js';

/** What nodes are added to: a graph. */
export interface GraphTarget {
  readonly device: Device;
  /** Stands for the graph where its nodes are checked. */
  readonly owner: object;
  readonly held: HeldObjects;
  readonly isDisposed: boolean;
  use(api: string): Handle;
}
