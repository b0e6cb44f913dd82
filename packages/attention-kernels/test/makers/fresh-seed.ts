/**
 * A seed that is new in every process, so that inputs differ from run to run. Failures print it;
 * `ATTENTION_KERNELS_TEST_SEED=N` repeats a run.
 */
export const freshSeed: number =
  Number(process.env['ATTENTION_KERNELS_TEST_SEED'] ?? 0) ||
  1 + Math.floor(Math.random() * 2 ** 30);

/** For the message of a failed comparison. */
export const seedNote = `ATTENTION_KERNELS_TEST_SEED=${freshSeed}`;
