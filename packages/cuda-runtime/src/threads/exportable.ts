import type { DeviceBuffer, GraphExec, Stream } from '../contract.js';
import type { Event } from '../stream/event.js';

/** What can be used by several threads, by the name of its kind. */
export interface ExportableObjects {
  readonly buffer: DeviceBuffer;
  readonly event: Event;
  readonly stream: Stream;
  readonly graphExec: GraphExec;
}

/** One of those names. */
export type ExportableKind = keyof ExportableObjects;

/** Kinds as the addon numbers them. */
export const exportableKinds: Readonly<Record<ExportableKind, number>> = {
  buffer: 1,
  stream: 2,
  event: 4,
  graphExec: 5,
};
