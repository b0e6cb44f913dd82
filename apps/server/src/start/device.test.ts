import { describe, expect, it } from 'vitest';
import type { ServeFlags } from '../config/serve-flags.js';
import { deviceOf } from './device.js';

const of = (device: ServeFlags['device'], ...deviceIds: number[]): string =>
  deviceOf({ device, ...(deviceIds.length > 0 && { deviceIds }) } as unknown as ServeFlags);

describe('the device of the flags', () => {
  it('is as --device says', () => {
    expect([of('auto'), of('cpu'), of('cuda'), of('cuda:3')]).toEqual([
      ...['auto', 'cpu', 'cuda:0', 'cuda:3'],
    ]);
  });

  it('is CUDA where an id is named', () => {
    expect([of('auto', 2), of('cuda', 0), of('cuda:2', 2)]).toEqual(['cuda:2', 'cuda:0', 'cuda:2']);
  });

  it.each([
    [() => of('auto', 0, 1), /names 2 devices.* one rank/],
    [() => of('cpu', 0), /--device cpu and --device-ids 0 name different devices; leave one out/],
    [() => of('cuda:0', 1), /--device cuda:0 and --device-ids 1/],
  ])('is refused where flags contradict: %#', (make, message) => {
    expect(make).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringMatching(message) }),
    );
  });
});
