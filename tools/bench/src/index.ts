export type { BenchCase, BenchResult, BenchRow, PreparedCase } from './bench-case.js';
export { type Ceiling, copyCeiling, readCeiling } from './ceilings.js';
export { measure, type Timing } from './measure.js';
export { type PlotOptions, plotSvg, type Series } from './plot.js';
export { type Comparison, compare, readResult } from './results.js';
export { type BenchSetting, runBench } from './run-bench.js';
export { table } from './table.js';
