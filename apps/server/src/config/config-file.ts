import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import type { Command, Option } from 'commander';
import { ExitError } from '../errors/index.js';
import { isAlias } from './flag-aliases.js';
import { type FlatEntry, parseFlatYaml, textOfJson } from './flat-yaml.js';
import { nearestName } from './nearest-name.js';

/** More is no config file. */
const mostBytes = 2 ** 20;

/** What a config file cannot say: they are about one run. */
const notInFiles = new Set(['config', 'print-config', 'help', 'version']);

/** Entries of a JSON file have no line. */
type Entry = Omit<FlatEntry, 'line'> & { readonly line?: number };

/**
 * Gives the options that neither the command line nor the environment set the values of the file
 * that `--config` names; without that flag, nothing happens.
 *
 * @throws ExitError (usage) naming the file, the line, and the nearest known name
 */
export function applyConfigFile(command: Command): void {
  const path = command.opts<{ config?: string }>().config;
  if (path === undefined) return;
  const settings = optionsByName(command);
  const taken = new Map<string, string>();
  for (const entry of readEntries(path)) {
    const where = `${path}${entry.line === undefined ? '' : `, line ${entry.line}`}`;
    const option = settings.get(nameOf(entry.key));
    if (!option) throw unknownKey(entry.key, where, settings.keys());
    const attribute = option.attributeName();
    const twin = taken.get(attribute);
    if (twin !== undefined) throw wrong(where, `${entry.key} and ${twin} are the same setting`);
    taken.set(attribute, entry.key);
    // Values that do not count are checked all the same.
    const value = settingOf(option, entry, where);
    if (canSet(command, attribute)) command.setOptionValueWithSource(attribute, value, 'config');
  }
}

function canSet(command: Command, attribute: string): boolean {
  const source = command.getOptionValueSource(attribute);
  return source === undefined || source === 'default';
}

/** Names as in vLLM's config files: flags without their dashes; underscores count as dashes. */
function nameOf(text: string): string {
  return text.replace(/^--/, '').replaceAll('_', '-');
}

/** `--no-x` is there as `no-x` and as `x`, which says the opposite. */
function optionsByName(command: Command): Map<string, Option> {
  const byName = new Map<string, Option>();
  for (const option of command.options) {
    const name = nameOf(option.long ?? '');
    if (name === '' || notInFiles.has(name)) continue;
    byName.set(name, option);
    const positive = name.replace(/^no-/, '');
    if (option.negate && !isAlias(option) && !byName.has(positive)) byName.set(positive, option);
  }
  return byName;
}

function readEntries(path: string): Entry[] {
  try {
    const { size } = statSync(path);
    if (size > mostBytes) throw new Error(`it has ${size} bytes, at most ${mostBytes} are read`);
    const text = readFileSync(path, 'utf8');
    return extname(path).toLowerCase() === '.json' ? jsonEntries(text) : parseFlatYaml(text);
  } catch (cause) {
    const problem = `--config ${path} cannot be read: ${(cause as Error).message}`;
    throw new ExitError('usage', problem, { cause });
  }
}

function jsonEntries(text: string): Entry[] {
  const file: unknown = JSON.parse(text);
  if (typeof file !== 'object' || file === null || Array.isArray(file)) {
    throw new Error('expected a JSON object of flags and values');
  }
  return Object.entries(file).map(([key, value]) => {
    if (value === null) throw new Error(`${key} is null; leave it out instead`);
    if (Array.isArray(value)) return { key, value: value.map(textOfJson) };
    return typeof value === 'object' ? { key, value } : { key, value: textOfJson(value) };
  });
}

/** What the option would hold had the value been on the command line. */
function settingOf(option: Option, { key, value }: Entry, where: string): unknown {
  if (option.isBoolean() || option.negate) return switchOf(option, key, value, where);
  if (Array.isArray(value) && !option.variadic) {
    throw wrong(where, `${key} is a list, expected one value`);
  }
  const texts = Array.isArray(value) ? value : isText(value) ? [value] : objectTexts(option, value);
  if (texts.length === 0) throw wrong(where, `${key} is an empty list; leave it out instead`);
  let parsed: unknown = option.variadic && !option.parseArg ? [] : undefined;
  for (const text of texts) {
    try {
      if (option.parseArg) parsed = option.parseArg(text, parsed);
      else parsed = option.variadic ? [...(parsed as string[]), text] : text;
    } catch (cause) {
      const problem = (cause as Error).message;
      throw wrong(where, `${key} is ${JSON.stringify(text)}. ${problem}`);
    }
  }
  return parsed;
}

function isText(value: FlatEntry['value']): value is string {
  return typeof value === 'string';
}

/** Fields for a flag that takes several `field=value`, or JSON for any other. */
function objectTexts(option: Option, value: FlatEntry['value']): readonly string[] {
  if (!option.variadic) return [JSON.stringify(value)];
  return Object.entries(value).map(([field, one]) => `${field}=${JSON.stringify(one)}`);
}

/** `x: false` and `no-x: true` say the same. */
function switchOf(
  option: Option,
  key: string,
  value: FlatEntry['value'],
  where: string,
): boolean | undefined {
  if (value !== 'true' && value !== 'false') {
    throw wrong(where, `${key} is ${JSON.stringify(value)}, expected true or false`);
  }
  const isOn = value === 'true';
  // A switch that is on by default has an opposite; any other is just not there.
  const off = option.defaultValue === true ? false : undefined;
  if (!option.negate) return isOn ? true : off;
  return nameOf(key) === nameOf(option.long ?? '') ? !isOn : isOn;
}

function unknownKey(key: string, where: string, known: Iterable<string>): ExitError {
  const near = nearestName(nameOf(key), known);
  const remedy = near === undefined ? '`altstream serve --help` lists them' : `meant ${near}?`;
  return wrong(where, `${key} is no flag of this command; ${remedy}`);
}

function wrong(where: string, problem: string): ExitError {
  return new ExitError('usage', `--config ${where}: ${problem}`);
}
