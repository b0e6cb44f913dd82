/** What making tensors costs the JavaScript thread: views, arena slices, allocations. */
import { Tensor, Workspace } from '../src/index.js';
import { openBench } from './bench-runtime.js';
import { measure, milliseconds } from './measure.js';
import { type Row, report } from './report.js';

const setup = await openBench('tensor-overhead');
const { device, stream, isQuick } = setup;
const items = isQuick ? 50 : 2000;
const workspace = new Workspace(device);
const base = Tensor.allocate(device, [64, 1024], 'bf16', { stream });

const makers: Readonly<Record<string, () => Tensor>> = {
  'workspace.tensor': () => workspace.tensor([16, 64], 'bf16'),
  'tensor.slice': () => base.slice(0, 3, 9),
  'tensor.view': () => base.view([32, -1]),
  'Tensor.of': () => Tensor.of(base.buffer, [64, 64], 'f32'),
  'stream.tensor and dispose': allocateAndDispose,
};

const rows: Row[] = [];
for (let round = 0; round < (isQuick ? 10 : 20_000); round += 1) {
  workspace.reset();
  for (const make of Object.values(makers)) make();
}
for (const [what, make] of Object.entries(makers)) {
  const right = make().elements > 0;
  const times = await measure(isQuick ? 3 : 60, items, () => {
    workspace.reset();
    return milliseconds(() => {
      for (let index = 0; index < items; index += 1) make();
    });
  });
  rows.push({ case: { what }, ...times, right });
}
await report(setup, rows);

function allocateAndDispose(): Tensor {
  const tensor = stream.tensor([16, 64], 'bf16');
  tensor.dispose();
  return tensor;
}
