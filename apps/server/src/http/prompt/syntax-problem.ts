/**
 * What the parser says of a template, out of a `CHAT_TEMPLATE_SYNTAX`, the rest of which speaks of
 * the checkpoint's own.
 */
export function syntaxProblem(message: string): string {
  return /cannot be parsed \((.*)\);/s.exec(message)?.[1] ?? message;
}
