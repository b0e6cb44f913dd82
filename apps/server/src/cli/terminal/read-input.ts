import { ExitError } from '../../errors/index.js';
import { utf8Text } from '../../http/request/utf8-text.js';

/**
 * The text that a command works on: its argument, else all of the standard input.
 *
 * @throws ExitError for an input that is no text in UTF-8
 */
export async function argumentOrInput(argument: string | undefined): Promise<string> {
  if (argument !== undefined) return argument;
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  const read = utf8Text(Buffer.concat(pieces));
  if ('text' in read) return read.text;
  const problem = `the standard input is not UTF-8 from byte ${read.wrongAt} on`;
  throw new ExitError('usage', `${problem}; convert it first, as \`iconv -t UTF-8\` does`);
}
