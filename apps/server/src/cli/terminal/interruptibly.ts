/** The first Ctrl-C ends the run with what it has so far; the second one ends the process. */
export async function interruptibly<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop);
  try {
    return await run(controller.signal);
  } finally {
    process.off('SIGINT', stop);
  }
}
