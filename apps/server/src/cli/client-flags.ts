import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultBaseUrl } from '../client/server-address.js';

/** Flags of commands that talk to a running server. */
export interface ClientFlags {
  readonly baseUrl: string;
  readonly model?: string;
  readonly apiKey?: string;
}

/** Adds them; each also reads `ALTSTREAM_…`, apart from the model, which names a folder there. */
export function addClientFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--base-url <url>', 'address of an OpenAI-compatible API')
        .env('ALTSTREAM_BASE_URL')
        .default(defaultBaseUrl),
    )
    .option('--model <name>', 'model to ask for (default: the first served one)')
    .addOption(new Option('--api-key <key>', 'key of the server').env('ALTSTREAM_API_KEY'));
}

/** Reads a number. */
export function numberFrom(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('Expected a number.');
}
