import type { Command } from 'commander';
import { flag, natural, positive, upTo } from './flag.js';
import { mostOf } from './request-ceilings.js';

/** How much clients may ask for. */
export function addLimitFlags(command: Command): void {
  command
    .addOption(
      flag('--rate-limit-rpm <n>', 'requests a minute for each key; 0 = no limit')
        .argParser(natural)
        .default(0),
    )
    .addOption(
      flag('--rate-limit-tpm <n>', 'tokens a minute for each key; 0 = no limit')
        .argParser(natural)
        .default(0),
    )
    .addOption(
      flag('--max-connections <n>', 'sockets at once; more are closed')
        .argParser(positive)
        .default(4096),
    )
    .addOption(
      flag('--overload-status <status>', 'of an answer when too many wait')
        .choices(['503', '429'])
        .default('503'),
    );
  addRequestLimits(command);
}

/** Most that one request may ask for. */
function addRequestLimits(command: Command): void {
  const limit = (name: string, what: string, [most, usual]: readonly [number, number]) =>
    flag(`--${name} <n>`, `most ${what}, at most ${most}`).argParser(upTo(most)).default(usual);
  command
    .addOption(limit('max-n', 'choices of a prompt', [mostOf.n, 16]))
    .addOption(limit('max-prompt-batch', 'prompts of a text completion', [mostOf.prompts, 128]))
    .addOption(limit('max-logprobs', 'alternatives of a token', [mostOf.logprobs, 20]))
    .addOption(limit('max-stop-strings', 'stop strings', [mostOf.stopStrings, 16]))
    .addOption(limit('max-logit-bias', 'tokens with a bias', [mostOf.logitBiases, 1024]));
}
