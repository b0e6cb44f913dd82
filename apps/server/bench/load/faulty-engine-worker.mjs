// The engine worker on a CPU device of which some calls fail, for want of memory, after it is
// ready.
import { open } from '@altstream/cuda-runtime';
import { injectFaults } from '@altstream/cuda-runtime/testing';

const runtime = await open({ backend: 'cpu' });
await import(process.env.FAULTY_ENGINE);
const faults = injectFaults(runtime);
const count = Number(process.env.FAULTS);
for (let fault = 1; fault <= count; fault += 1) {
  // Decode steps are launches of graphs; prompts, and what a step sends, are calls of their own.
  faults.failCall({ api: 'exec.launch', after: fault * 300 });
  faults.failCall({ api: 'stream.launch', after: fault * 9000 });
  faults.failCall({ api: 'stream.write', after: fault * 5000 });
}
