import { describe, expect, it, vi } from 'vitest';
import type { Device, DeviceBuffer } from '../contract.js';
import { withScratch, withScratchBytes } from './scratch.js';
import type { Tensor } from './tensor.js';
import { Workspace } from './workspace.js';

const makeWorkspace = () => {
  const alloc = (bytes: number) => ({ bytes, dispose: () => {} }) as DeviceBuffer;
  return new Workspace({ alloc } as unknown as Device);
};

function makeAllocator() {
  const disposed: string[] = [];
  const tensor = vi.fn((_shape: readonly number[], _dtype: string, label = '') => {
    const tensor = { dispose: () => disposed.push(label), borrow: () => tensor };
    return tensor as unknown as Tensor;
  });
  return { allocator: { tensor }, tensor, disposed };
}

describe('withScratch', () => {
  it('lets the next tensor of a workspace have the memory, and keeps what was made before', () => {
    const workspace = makeWorkspace();
    const output = workspace.tensor([4], 'f32');
    const scratch = withScratch(workspace, (from) => from.tensor([8], 'u8'));
    const next = workspace.tensor([8], 'u8');
    expect(scratch.byteOffset).not.toBe(output.byteOffset);
    expect(next.byteOffset).toBe(scratch.byteOffset);
  });

  it('takes a workspace back too when the body throws', () => {
    const workspace = makeWorkspace();
    const fail = () =>
      withScratch(workspace, (from) => {
        from.tensor([8], 'u8');
        throw new Error('no kernel');
      });
    expect(fail).toThrow('no kernel');
    expect(workspace.tensor([8], 'u8').byteOffset).toBe(0);
  });

  it('refuses a body that returns a promise, whose rejection is nobody’s', async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', note);
    const workspace = makeWorkspace();
    for (const allocator of [workspace, makeAllocator().allocator]) {
      const call = () =>
        withScratch(allocator, async (from) => {
          from.tensor([8], 'u8');
          throw new Error('later');
        });
      expect(call).toThrow(/withScratch: `body` returned a promise/);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
    expect(workspace.tensor([8], 'u8').byteOffset).toBe(0);
  });

  it('refuses to run without a body', () => {
    expect(() => withScratch(makeWorkspace(), undefined as never)).toThrow(/`body` is undefined/);
  });

  it('disposes each tensor of another allocator, once the body has returned or thrown', () => {
    const { allocator, tensor, disposed } = makeAllocator();
    withScratch(allocator, (from) => {
      from.tensor([8], 'u8', 'a');
      from.tensor([2, 2], 'f32', 'b');
      expect(disposed).toEqual([]);
    });
    expect(tensor.mock.calls).toEqual([
      [[8], 'u8', 'a'],
      [[2, 2], 'f32', 'b'],
    ]);
    expect(disposed).toEqual(['a', 'b']);
    const fail = () =>
      withScratch(allocator, (from) => {
        from.tensor([8], 'u8', 'c');
        throw new Error('no kernel');
      });
    expect(fail).toThrow('no kernel');
    expect(disposed).toEqual(['a', 'b', 'c']);
  });
});

describe('withScratchBytes', () => {
  it('lends one piece of bytes, and nothing where none is wanted', () => {
    const { allocator, tensor, disposed } = makeAllocator();
    expect(withScratchBytes(allocator, 0, 'none', (scratch) => scratch)).toBeNull();
    expect(tensor).not.toHaveBeenCalled();
    expect(withScratchBytes(allocator, 96, 'sums', (scratch) => scratch)).not.toBeNull();
    expect(tensor.mock.calls).toEqual([[[96], 'u8', 'sums']]);
    expect(disposed).toEqual(['sums']);
  });
});
