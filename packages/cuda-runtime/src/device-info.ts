import type { DeviceLimits } from './limits.js';

/** A device as the addon describes it. */
export interface DeviceInfo {
  readonly name: string;
  readonly uuid: string;
  readonly limits: DeviceLimits;
  readonly priorityRange: { readonly least: number; readonly greatest: number };
}

/** Reads the JSON of `deviceInfo`. */
export function parseDeviceInfo(text: string): DeviceInfo {
  const { name, uuid, priorityRange, limits } = JSON.parse(text) as NativeDeviceInfo;
  return {
    name,
    uuid,
    priorityRange,
    limits: {
      // The addon reports 0.0 for the CPU, so that a version can always be compared.
      sm: limits.sm === '0.0' ? '' : limits.sm,
      processors: limits.processors,
      maxThreadsPerBlock: limits.maxThreadsPerBlock,
      maxBlock: limits.maxBlock,
      maxGrid: limits.maxGrid,
      sharedBytesPerBlock: limits.sharedBytes,
      sharedBytesPerBlockOptIn: limits.sharedBytesOptIn,
      memoryBytes: limits.totalBytes,
      cpuLevel: limits.cpuLevel ?? '',
    },
  };
}

/** What the same JSON says of the memory at that moment. */
export function parseFreeBytes(text: string): number {
  return (JSON.parse(text) as NativeDeviceInfo).availableBytes;
}

interface NativeDeviceInfo {
  readonly availableBytes: number;
  readonly name: string;
  readonly uuid: string;
  readonly priorityRange: DeviceInfo['priorityRange'];
  readonly limits: {
    readonly sm: string;
    readonly processors: number;
    readonly maxThreadsPerBlock: number;
    readonly maxBlock: readonly number[];
    readonly maxGrid: readonly number[];
    readonly sharedBytes: number;
    readonly sharedBytesOptIn: number;
    readonly totalBytes: number;
    readonly cpuLevel?: string;
  };
}
