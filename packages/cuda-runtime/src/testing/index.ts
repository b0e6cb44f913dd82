export type { BackendName } from '../probe.js';
export { bf16ToF32, f32ToBf16, roundBf16 } from './bf16.js';
export { cpuLevels } from './cpu-levels.js';
export { type BackendContext, describeEachBackend } from './describe-each-backend.js';
export { e4m3ToF32, f32ToE4m3 } from './e4m3.js';
export { e8m0ToF32, f32ToE8m0 } from './e8m0.js';
export { expectClose, type Tolerance } from './expect-close.js';
export { f16ToF32, f32ToF16 } from './f16.js';
export {
  type CallFault,
  type FaultInjector,
  type FaultyCall,
  injectFaults,
} from './inject-faults.js';
export { onEachBackend } from './on-each-backend.js';
export { type SeededRandom, seededRandom } from './seeded-random.js';
export {
  type DownloadData,
  download,
  downloadRaw,
  poison,
  type UploadData,
  upload,
} from './transfer.js';
