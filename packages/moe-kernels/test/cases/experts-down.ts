import { type ExpertsCase, expertsCases } from './experts-gate-up.js';

const base = { tokens: 5, k: 2, experts: 4, activations: 'bf16' } as const;

/** The cases of the gate and up projections that differ for this one, and its own block border. */
export const expertsDownCases: readonly ExpertsCase[] = [
  ...expertsCases.filter(({ swiglu }) => swiglu === undefined),
  ...[63, 64, 65, 130].map((hidden) => ({
    name: `hidden ${hidden}: blocks of 64 rows`,
    ...{ ...base, hidden, intermediate: 32, weights: 'bf16' as const },
  })),
];
