import fc from 'fast-check';

const NS = ']<]minimax[>[';
// Pieces that machines of this kind stumble over, joined at random.
const piece = fc.oneof(
  fc.constantFrom(
    NS,
    NS.slice(0, 7),
    '<mm:think>',
    '</mm:think>',
    '</mm:th',
    '<tool_call>',
    '</tool_call>',
    `${NS}<tool_call>\n`,
    `${NS}</tool_call>`,
    `${NS}<invoke name="get_weather">`,
    `${NS}<invoke name="plan">`,
    `${NS}<invoke name="nobody">`,
    `${NS} </invoke>`,
    `${NS}</invoke>`,
    `${NS}<city>`,
    `${NS}</city>`,
    `${NS}<days>`,
    `${NS}</days>`,
    `${NS}<note>`,
    'nul',
    'l',
    `${NS}</note>`,
    `${NS}<tags>`,
    `${NS}</tags>`,
    `${NS}<opts>${NS}<fast>on${NS}</fast>`,
    `${NS}</opts>`,
    `${NS}<item>`,
    `${NS}</item>`,
    `${NS}<x>`,
    `${NS}</x>`,
    '\n',
    '  ',
    '{"a": [1, "x y"]}',
    'null',
    '12',
    '😀',
    '"\\',
    '\u0007',
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const noise = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
// Calls that are nearly right: declared names, values of one or two pieces, now and then a tag
// lost.
const lost = fc.integer({ min: 0, max: 11 }).map((i) => i === 0);
const tag = (text: string) => lost.map((isLost) => (isLost ? '' : NS + text));
const parameter = fc
  .constantFrom('city', 'days', 'note', 'tags', 'x')
  .chain((name) => {
    const value = fc.array(piece, { maxLength: 2 }).map((pieces) => pieces.join(''));
    return fc.tuple(tag(`<${name}>`), value, tag(`</${name}>`));
  })
  .map((parts) => parts.join(''));
const call = fc
  .tuple(
    tag('<invoke name="get_weather">'),
    fc.array(parameter, { maxLength: 4 }),
    tag('</invoke>'),
  )
  .map(([open, parameters, close]) => open + parameters.join('') + close);
const block = fc
  .tuple(tag('<tool_call>'), fc.array(call, { maxLength: 2 }), tag('</tool_call>'))
  .map(([open, calls, close]) => open + calls.join('\n') + close);
const message = fc.array(fc.oneof(block, piece), { maxLength: 4 }).map((parts) => parts.join(''));
/** Model output at random: noise, and calls that are nearly right. */
export const randomOutput = fc.oneof(noise, message);
