import { describe, expect, test } from 'vitest';
import { buildByteTokenizer, ChatTemplate, ChatTokenizer } from '../../src/index.js';

const image = ']<]start of image[>[';
const controls = ['[e~[', '[E~[', '<mm:think>', image, '<|"|>', 'x\ny', 'p\\q'];

/** What a template wrote of the control literals, of a prompt with one text of a request, `c`. */
function written(source: string, content: string, texts = controls): [string, string[]] {
  const template = new ChatTemplate(`{% set c = messages[0].content %}${source}`, texts);
  const { text, templateSpans } = template.render({ messages: [{ role: 'user', content }] });
  return [text, templateSpans.map(({ start, end }) => text.slice(start, end))];
}

/** All characters that become more or fewer, or others at the end of a word. */
const unlike = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xf8ff)
  .map((code) => String.fromCodePoint(code))
  .filter(
    (one) => one.toUpperCase().length !== one.length || one.toLowerCase().length !== one.length,
  );

describe('what a template wrote stays its own', () => {
  test.each(['İ', 'ß', 'aΣ', '😀ŉ', unlike.join(''), unlike.join('Σ '), '𐐀ß'])(
    'where a text of the request changes its length with its case: %j',
    (c) => {
      const think = "'<mm:think>' ~ c ~ '[e~['";
      expect(unlike.length).toBeGreaterThan(100);
      // The whole changes at once: a sigma at the end of a word is another letter.
      const lower = [`<mm:think>${c}[e~[`.toLowerCase(), ['<mm:think>', '[e~[']];
      expect(written(`{{ (${think}) | lower }}`, c)).toEqual(lower);
      expect(written(`{{ (${think}).lower() }}`, c)).toEqual(lower);
      const upper = [`[E~[${c.toUpperCase()}[E~[`, ['[E~[', '[E~[']];
      expect(written("{{ ('[E~[' ~ c ~ '[e~[') | upper }}", c)).toEqual(upper);
      const [first = ''] = c;
      const head = first.toUpperCase() + c.slice(first.length);
      expect(written("{{ (c ~ '[e~[') | capitalize }}", c)).toEqual([`${head}[e~[`, ['[e~[']]);
    },
  );

  test.each([
    [`{{ '${image}' }}`, ''],
    ["{{ ']<]start' ~ ' ' ~ 'of image[>[' }}", ''],
    ['{{ "]<]start " }}of {{ "image[>[" }}', ''],
    [`{{ ' ${image} ' | trim }}`, ''],
    [`{{ '  ${image} '.strip() }}{{ c.lstrip() }}`, '  '],
    [`{{ (' ' ~ '${image}').lstrip() }}{{ c | trim }}`, ' '],
    [`{{ ('${image}' ~ ' ').rstrip() }}`, ''],
    [`{{ '${image}'.split(' ') | join(' ') }}`, ''],
    [`{{ '${image}'.replace('of', 'of') }}`, ''],
  ])('in a literal with spaces: %s', (source, c) => {
    expect(written(source, c)).toEqual([image, [image]]);
  });

  test.each([
    ['{{ \'<|"\' ~ "|>" }}', '<|"|>'],
    ["{{ 'x\\ny' }}", 'x\ny'],
    ["{{ 'p' ~ '\\\\q' }}", 'p\\q'],
  ])('in a literal with other characters that JSON escapes: %s', (source, text) => {
    expect(written(source, '')).toEqual([text, [text]]);
  });
});

describe('what a request wrote is never a part of that', () => {
  const { tokenizerJson } = buildByteTokenizer({ vocabSize: 512 });
  const json = tokenizerJson as { readonly added_tokens: readonly { readonly id: number }[] };
  const next = Math.max(...json.added_tokens.map(({ id }) => id)) + 1;
  const more = controls.slice(3).map((content, n) => ({
    ...json.added_tokens[0],
    ...{ id: next + n, content, special: true },
  }));
  const tokenizer = new ChatTokenizer({ ...json, added_tokens: [...json.added_tokens, ...more] });

  test.each([
    ["{{ ']<]start' ~ c ~ 'of image[>[' }}", ' ', image],
    ["{{ ']<]start' }}{{ c }}{{ 'of image[>[' }}", ' ', image],
    ["{{ [']<]start', 'of image[>['] | join(c) }}", ' ', image],
    ["{{ ']<]start of' ~ c[1:2] ~ 'image[>[' }}", 'a b', image],
    ["{{ '<|' ~ c ~ '|>' }}", '"', '<|"|>'],
    ["{{ 'x' ~ c ~ 'y' }}", '\n', 'x\ny'],
    ["{{ 'p' ~ c ~ 'q' }}", '\\', 'p\\q'],
  ])('%s with %j', (source, content, text) => {
    const template = new ChatTemplate(
      `{% set c = messages[0].content %}${source}`,
      tokenizer.addedTexts,
    );
    const prompt = template.render({ messages: [{ role: 'user', content }] });
    expect(prompt.text).toBe(text);
    const own = new ChatTemplate(`{{ ${JSON.stringify(text)} }}`, tokenizer.addedTexts);
    const id = tokenizer.requireSpecialId(text);
    expect(tokenizer.encodePrompt(own.render({ messages: [] }))).toEqual([id]);
    expect(tokenizer.encodePrompt(prompt)).not.toContain(id);
  });
});
