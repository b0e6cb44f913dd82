/** An error as logs and crash reports may show it. */
export interface SafeError {
  readonly type: string;
  readonly code?: string;
  readonly message: string;
  /** Where it happened: the frames of its stack. */
  readonly stack: readonly string[];
  readonly cause?: SafeError;
}

/**
 * Codes of errors whose messages we wrote, about the device, the model and the engine: no client's
 * text is in them.
 */
const ours = /^(CRT|DENSE|ATTENTION|MOE|MODEL|ENGINE|PROFILE|SERVER)_[A-Z_]+$/;
const deepest = 5;

/**
 * An error without what a client sent. Messages of the JavaScript engine quote what they are about
 * (`JSON.parse` quotes the text that it cannot read), and so do those of libraries, so from the
 * first quote to the last nothing is shown unless the error is one of ours; where it happened is
 * always shown.
 */
export function safeError(error: unknown, depth = 1): SafeError {
  if (!(error instanceof Error)) {
    return { type: typeof error, message: 'what was thrown is no error', stack: [] };
  }
  const { cause, stack = '' } = error;
  const code = codeOf(error);
  const isOurs = code !== undefined && ours.test(code);
  return {
    type: error.name,
    ...(code === undefined ? {} : { code }),
    message: isOurs ? error.message : withoutQuotes(error),
    stack: stack.split('\n').flatMap((line) => (/^\s+at /.test(line) ? [line.trim()] : [])),
    ...(cause instanceof Error && depth < deepest ? { cause: safeError(cause, depth + 1) } : {}),
  };
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : undefined;
}

function withoutQuotes({ name, message }: Error): string {
  // These are about a text, and show it in slashes, too.
  if (name === 'SyntaxError') return message.replace(/["'`/:][\s\S]*/, '…');
  return message.replace(/["'`“‘][\s\S]*["'`”’]/, '…');
}
