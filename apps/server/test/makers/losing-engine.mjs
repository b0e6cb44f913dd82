// The engine worker, whose CPU device is lost after some steps, as a GPU is after an illegal
// access.
import { open } from '@altstream/cuda-runtime';
import { injectFaults } from '@altstream/cuda-runtime/testing';

const runtime = await open({ backend: 'cpu' });
const after = Number(process.env.LOSE_DEVICE_AFTER_STEPS);
injectFaults(runtime).failKernel('sampling', 700, { after });
await import(process.env.LOSE_DEVICE_ENGINE);
