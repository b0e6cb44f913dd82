import {
  describeEachBackend,
  download,
  expectClose,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expertsDown, loadMoeKernels, permute } from '../src/index.js';
import { expertsDownCases } from './cases/experts-down.js';
import { makeExperts, uploadWeight } from './makers/experts.js';
import { poisoned } from './makers/poisoned-allocator.js';
import { referenceDown } from './reference/experts-down.js';
import { referencePermute } from './reference/permute.js';
import { activationTolerance } from './tolerance.js';

describeEachBackend('expertsDown', expertsDownCases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { tokens, k, experts, hidden, intermediate, activations, every = 1 } = testCase;
  const data = makeExperts(testCase);
  const map = referencePermute(data.ids, { offset: 0, local: experts, tileRows: 1 });
  const rows = map.offsets.at(-1) ?? 0;
  const activated = seededRandom(rows)
    .floats(tokens * k * intermediate)
    .map(data.round);
  // Rows behind the last one are NaN: they must be neither read into a result nor written.
  activated.fill(Number.NaN, rows * intermediate);

  const ids = upload(stream, data.ids, [tokens, k], 'i32');
  const permutation = permute(ids, { numExperts: experts }, { stream });
  const y = upload(stream, activated, [tokens * k, intermediate], activations);
  const w2 = uploadWeight(stream, data.w2);
  const options = { stream, allocator: poisoned(stream) };
  const actual = await download(stream, expertsDown({ y, w2, permutation }, options));

  const [is, should]: [number[], number[]] = [[], []];
  map.tiles.forEach(([expert = 0, row = 0]) => {
    const yRow = activated.subarray(row * intermediate, (row + 1) * intermediate);
    for (let c = row % every; c < hidden; c += every) {
      is.push(Number(actual[row * hidden + c]));
      should.push(referenceDown(yRow, expert, c, data.reference));
    }
  });
  expectClose(is, should, activationTolerance(should, activations));
});
