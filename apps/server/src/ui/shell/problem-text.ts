/** The sentence of an error body of OpenAI's shape, or what can be said without one. */
export function problemText(status: number, body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') return `${error.message} (${status})`;
  } catch {
    // A proxy's page, say: the status is all that is known.
  }
  return `the server answered with status ${status}`;
}
