import type { StoredTensor } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { Checkpoint } from '../src/loader/checkpoint.js';
import { bf16, makeT32 } from './makers/t32.js';

// About files, before anything is on a device: one backend says it all.
const { folder, load, logitsOf } = makeT32('cpu');

describe('the load report', () => {
  it('counts what the text model does not use', async () => {
    const extra = (name: string): StoredTensor => ({
      name,
      dtype: 'F32',
      shape: [2],
      bytes: new Uint8Array(8),
    });
    const names = ['vision_tower.vision_model.pre_layrnorm.bias', 'patch_merge_mlp.linear_1.bias'];
    const others = ['language_model.model.mtp.0.norm.weight', 'strange.weight'];
    const { model } = await logitsOf([...bf16, ...[...names, ...others].map(extra)]);
    const { used, vision, mtp, unused, storage } = model.report;
    expect(used.tensors).toBe(133);
    expect(vision).toEqual({ tensors: 2, bytes: 16 });
    expect(mtp).toEqual({ tensors: 1, bytes: 8 });
    expect(unused).toEqual(['strange.weight']);
    expect(storage.mxfp8).toBe(0);
  });

  it('tells progress up to the last byte', async () => {
    const seen: number[] = [];
    const directory = await folder({ model: 'T32', mxfp8: true, shards: 2 });
    let total = 0;
    const onProgress = (p: { bytes: number; totalBytes: number }) => {
      seen.push(p.bytes);
      total = p.totalBytes;
    };
    const { report } = await load({ directory, onProgress });
    expect(seen.at(-1)).toBe(total);
    expect(report).toMatchObject({ files: 2, used: { tensors: 237, bytes: total } });
  });

  it('tells whether files were mapped or read, and why', async () => {
    const directory = await folder({ model: 'T32', shards: 2 });
    const { report } = await load({ directory });
    expect(report.access).toEqual({ mapped: 2, read: 0, reasons: [] });
    const checkpoint = await Checkpoint.open(directory, { access: 'read' });
    const reasons = ["it was opened with access 'read'"];
    expect(checkpoint.access()).toEqual({ mapped: 0, read: 2, reasons });
    await checkpoint.close();
  });

  it('stops when asked to', async () => {
    const directory = await folder({ model: 'T32' });
    await expect(load({ directory, signal: AbortSignal.abort() })).rejects.toThrow('abort');
  });
});
