/** The text that a command works on: its argument, else all of the standard input. */
export async function argumentOrInput(argument: string | undefined): Promise<string> {
  if (argument !== undefined) return argument;
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const piece of process.stdin) text += piece;
  return text;
}
