import { expect, test } from 'vitest';
import type { Device, DeviceBuffer } from '../contract.js';
import { DisposedError } from '../errors/disposed-error.js';
import { withScratch } from './scratch.js';
import { Workspace } from './workspace.js';

const alloc = (bytes: number) => ({ bytes, dispose: () => {} }) as DeviceBuffer;
const make = () => new Workspace({ alloc } as unknown as Device);

test('a disposed workspace refuses every use, and holds nothing', () => {
  const workspace = make();
  const mark = workspace.mark();
  workspace.tensor([4], 'f32');
  workspace.dispose();
  workspace.dispose();
  for (const use of [
    () => workspace.tensor([4], 'f32'),
    () => workspace.reset(),
    () => workspace.mark(),
    () => workspace.release(mark),
    () => workspace.lane('alt'),
  ]) {
    expect(use).toThrow(DisposedError);
  }
  expect([workspace.bytes, workspace.isDisposed]).toEqual([0, true]);
});

test('a lane that was disposed alone does not hinder its parent', () => {
  const workspace = make();
  workspace.lane('alt').dispose();
  workspace.reset();
  expect(() => workspace.lane('alt').tensor([1], 'u8')).toThrow(DisposedError);
});

test('a body that disposes the workspace is heard', () => {
  const workspace = make();
  const fail = () =>
    withScratch(workspace, () => {
      workspace.dispose();
      throw new Error('of the body');
    });
  expect(fail).toThrow('of the body');
});
