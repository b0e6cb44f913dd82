import type { DeviceLimits } from './limits.js';

/** A device as the addon describes it, with every limit filled in. */
export interface DeviceInfo {
  readonly name: string;
  readonly uuid: string;
  readonly limits: DeviceLimits;
  readonly priorityRange: { readonly least: number; readonly greatest: number };
}

/** Limits that all CUDA devices of our architectures share; the CPU backend keeps to them too. */
const shared: DeviceLimits = {
  sm: '',
  processors: 1,
  maxThreadsPerBlock: 1024,
  maxBlock: [1024, 1024, 64],
  maxGrid: [2_147_483_647, 65_535, 65_535],
  sharedBytesPerBlock: 49_152,
  sharedBytesPerBlockOptIn: 232_448,
  memoryBytes: 0,
  cpuLevel: '',
};

/** Reads the JSON of `deviceInfo`. */
export function parseDeviceInfo(text: string): DeviceInfo {
  const json = JSON.parse(text) as Partial<DeviceInfo> & { readonly sm?: string };
  const { name = 'device', uuid = '', sm = '', limits, priorityRange } = json;
  return {
    name,
    uuid,
    limits: { ...shared, sm, ...limits },
    priorityRange: priorityRange ?? { least: 0, greatest: 0 },
  };
}
