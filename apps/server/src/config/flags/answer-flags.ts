import { type Command, InvalidArgumentError } from 'commander';
import { flag, positive } from './flag.js';

/** What answers have, and what requests may leave out. */
export function addAnswerFlags(command: Command): void {
  command
    .addOption(flag('--strict-tools', 'hold arguments of every call to the schema of its function'))
    .addOption(
      flag('--grammar-backend <name>', 'none: no request may ask for a form of its answer')
        .choices(['xgrammar', 'auto', 'none'])
        .default('xgrammar'),
    )
    .addOption(flag('--strict-max-tokens', 'refuse more new tokens than fit instead of clamping'))
    .addOption(
      flag(
        '--default-max-tokens <n>',
        'new tokens of a chat that names no most (default: what fits)',
      ).argParser(positive),
    )
    .addOption(
      flag('--logprobs-mode <mode>', 'raw: of the model; processed: of what tokens are drawn from')
        .argParser(logprobsMode)
        .default('raw'),
    )
    .addOption(
      flag('--reasoning-field <name>', 'field of thoughts in answers of chats')
        .choices(['both', 'reasoning_content', 'reasoning'])
        .default('both'),
    )
    .addOption(flag('--sglang-compat', 'what ended a choice is told as matched_stop, too'))
    .addOption(flag('--allow-missing-model', 'requests that name no model get the first name'))
    .addOption(
      flag('--enable-force-include-usage', 'streams end with usage, whether asked for or not'),
    )
    .addOption(flag('--debug-headers', 'answers name the fields that were ignored'));
}

/** Both names of a mode; vLLM's modes that give logits are no log-probabilities. */
function logprobsMode(text: string): 'raw' | 'processed' {
  const mode = text.replace(/_logprobs$/, '');
  if (mode === 'raw' || mode === 'processed') return mode;
  if (text === 'raw_logits' || text === 'processed_logits') {
    throw new InvalidArgumentError(
      'Logits are not told, only log-probabilities: raw (raw_logprobs) or processed (processed_logprobs).',
    );
  }
  throw new InvalidArgumentError('Expected raw (raw_logprobs) or processed (processed_logprobs).');
}
