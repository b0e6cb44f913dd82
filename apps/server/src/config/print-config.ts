import type { Command, Option } from 'commander';
import { isFixed } from './fixed-flags.js';
import { isAlias } from './flag-aliases.js';

/** What no file and no screen should show. */
const secret = /(^|-)(api-key|token|password|secret)$/;

const sourceNames: Readonly<Record<string, string>> = {
  cli: 'flag',
  env: 'environment',
  config: 'file',
  default: 'default',
  implied: 'default',
};

/** A setting that has a value. */
export interface ShownSetting {
  readonly name: string;
  /** As a config file has it; of what no one should see only how many there are. */
  readonly text: string;
  readonly isSecret: boolean;
  /** `flag`, `environment`, `file` or `default`. */
  readonly source: string;
}

/**
 * Every setting that has a value, with where it is from. Keys that keep others out are counted, not
 * shown.
 */
export function shownSettings(command: Command): ShownSetting[] {
  const shown = command.options.filter(
    (option) =>
      !isAlias(option) &&
      !isFixed(option) &&
      !isOpposite(option, command) &&
      !/^--(print-)?config$/.test(option.long ?? ''),
  );
  return shown.flatMap((option) => settingOf(command, option));
}

/** The settings as a config file that says the same. */
export function printedConfig(command: Command): string {
  const lines = shownSettings(command).map(({ name, text, isSecret, source }) =>
    isSecret ? `# ${name}: ${text}  # ${source}\n` : `${name}: ${text}  # ${source}\n`,
  );
  return lines.join('');
}

/** `--no-x` where `--x` says it already. */
function isOpposite(option: Option, { options }: Command): boolean {
  const positive = `--${option.name().replace(/^no-/, '')}`;
  return option.negate && options.some(({ long }) => long === positive);
}

function settingOf(command: Command, option: Option): ShownSetting[] {
  const attribute = option.attributeName();
  const value: unknown = command.getOptionValue(attribute);
  if (value === undefined) return [];
  const source = sourceNames[command.getOptionValueSource(attribute) ?? ''] ?? 'default';
  const name = option.name().replace(/^no-/, '');
  const isSecret = secret.test(name);
  const count = Array.isArray(value) ? value.length : 1;
  const text = isSecret ? `not shown (${count})` : textOf(option, value);
  return [{ name, text, isSecret, source }];
}

/** As a config file has it; what a flag's reader made of a text goes back to that text. */
function textOf(option: Option, value: unknown): string {
  if (option.attributeName() === 'simulateTpRank') {
    const { rank, size } = value as { rank: number; size: number };
    return `${rank}/${size}`;
  }
  return JSON.stringify(value);
}
