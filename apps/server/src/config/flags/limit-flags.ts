import type { Command } from 'commander';
import { flag, natural, positive } from './flag.js';

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
}
