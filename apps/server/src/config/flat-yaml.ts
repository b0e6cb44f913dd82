// The YAML of a config file: one setting a line. Lists and objects are one level deep, or in
// brackets. What a full YAML reader would take and this one does not is an error with its line,
// never something else.

/** A value as it was written, or several of them, or fields with values. */
export type FlatValue = string | readonly string[] | Readonly<Record<string, unknown>>;

/** A setting and where it stands, counted from 1. */
export interface FlatEntry {
  readonly key: string;
  readonly line: number;
  readonly value: FlatValue;
}

interface Line {
  readonly number: number;
  readonly indent: number;
  readonly text: string;
}

/** Reads a config file's text. @throws Error whose message begins with the line */
export function parseFlatYaml(source: string): FlatEntry[] {
  const lines = linesOf(source);
  const entries: FlatEntry[] = [];
  for (let next = 0; next < lines.length; ) {
    const line = lines[next] as Line;
    if (line.indent > 0 || isItem(line)) throw problem(line, 'expected `name: value`');
    const { key, rest } = splitKey(line);
    if (entries.some((entry) => entry.key === key)) throw problem(line, `${key} is there twice`);
    const end = endOfBlock(lines, next + 1);
    const block = lines.slice(next + 1, end);
    if (block.length > 0 && rest !== '') {
      throw problem(block[0] as Line, 'a value goes on over several lines; write it in one');
    }
    const value = block.length > 0 ? blockValue(block) : inlineValue(rest, line);
    entries.push({ key, line: line.number, value });
    next = end;
  }
  return entries;
}

function linesOf(source: string): Line[] {
  const all = source.replace(/^\uFEFF/, '').split(/\r?\n/);
  return all.flatMap((raw, index) => {
    const text = withoutComment(raw).trimEnd();
    const trimmed = text.trimStart();
    const line = { number: index + 1, indent: text.length - trimmed.length, text: trimmed };
    if (trimmed === '' || (trimmed === '---' && line.indent === 0 && isFirst(all, index))) {
      return [];
    }
    if (/^\s*\t/.test(raw)) throw problem(line, 'a tab stands before the value; use spaces');
    return [line];
  });
}

function isFirst(all: readonly string[], index: number): boolean {
  return all.slice(0, index).every((line) => withoutComment(line).trim() === '');
}

/** Without what follows a `#` that begins a line or stands after a space, outside quotes. */
function withoutComment(text: string): string {
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (quote !== '') {
      const isEscaped = quote === '"' ? character === '\\' : text.slice(at, at + 2) === "''";
      if (isEscaped) at += 1;
      else if (character === quote) quote = '';
    } else if (/["']/.test(character) && /(^|[\s:[{,-])$/.test(text.slice(0, at))) {
      quote = character;
    } else if (character === '#' && (at === 0 || /\s/.test(text[at - 1] ?? ''))) {
      return text.slice(0, at);
    }
  }
  return text;
}

/** Lines that belong to the key before them: the indented ones, and items of a list. */
function endOfBlock(lines: readonly Line[], start: number): number {
  let end = start;
  while (end < lines.length) {
    const line = lines[end] as Line;
    if (line.indent === 0 && !isItem(line)) break;
    end += 1;
  }
  return end;
}

function isItem({ text }: Line): boolean {
  return text === '-' || text.startsWith('- ');
}

function splitKey(line: Line): { key: string; rest: string } {
  const [, quoted, plain, rest = ''] =
    /^(?:"([^"\\]*)"|([^\s"'[\]{},&*!|>%@`?:-][^\s:]*))\s*:(?:\s+(.*))?$/.exec(line.text) ?? [];
  const key = quoted ?? plain;
  if (key === undefined) throw problem(line, `expected \`name: value\`, found \`${line.text}\``);
  return { key, rest };
}

function blockValue(block: readonly Line[]): FlatValue {
  const [first] = block as [Line];
  const other = block.find(({ indent }) => indent !== first.indent);
  if (other) throw problem(other, 'values one level below a name stand in one column');
  if (isItem(first)) {
    return block.map((line) => {
      if (!isItem(line)) throw problem(line, 'expected `- value`, as above it');
      return scalarText(line.text.slice(1).trim(), line);
    });
  }
  return Object.fromEntries(
    block.map((line) => {
      const { key, rest } = splitKey(line);
      return [key, typedValue(rest, line)];
    }),
  );
}

function inlineValue(text: string, line: Line): FlatValue {
  if (text.startsWith('{')) return json(text, line) as Record<string, unknown>;
  return text.startsWith('[') ? flowList(text, line) : scalarText(text, line);
}

/** `["a", "b"]` as JSON, or `[1, 2, word]` with plain values. */
function flowList(text: string, line: Line): readonly string[] {
  const inner = /^\[([^[\]{}"']*)\]$/.exec(text)?.[1];
  if (inner === undefined) return (json(text, line) as unknown[]).map(textOfJson);
  if (inner.trim() === '') return [];
  return inner.split(',').map((item) => scalarText(item.trim(), line));
}

function json(text: string, line: Line): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw problem(line, `a value in brackets must be JSON, found \`${text}\``);
  }
}

/** An element of a list as the flag would get it on a command line. */
export function textOfJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The text of a value, kept as it was written, so that `1.10` stays `1.10`. */
function scalarText(text: string, line: Line): string {
  if (text === '' || text === '~' || text === 'null') throw problem(line, 'a value is missing');
  if (text.startsWith('"')) {
    const value = json(text, line);
    if (typeof value === 'string') return value;
  }
  if (text.startsWith("'")) {
    const inner = /^'((?:[^']|'')*)'$/.exec(text)?.[1];
    if (inner === undefined) throw problem(line, `a quote is not closed in \`${text}\``);
    return inner.replaceAll("''", "'");
  }
  if (/^[&*!|>%@`[\]{},]/.test(text) || /^[?:-](\s|$)/.test(text) || /:(\s|$)/.test(text)) {
    throw problem(line, `\`${text}\` needs quotes, or is YAML that a config file cannot have`);
  }
  return text;
}

/** A value inside an object, where its type counts. */
function typedValue(text: string, line: Line): unknown {
  if (text === 'null' || text === '~') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[[{]/.test(text)) return json(text, line);
  if (/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text)) return Number(text);
  return scalarText(text, line);
}

function problem({ number }: { readonly number: number }, what: string): Error {
  return new Error(`line ${number}: ${what}`);
}
