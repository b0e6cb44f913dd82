/** The control tokens of MiniMax-M3 by role. Ids always come from tokenizer.json, by text. */
export const controlTexts = {
  beginDocument: ']~!b[',
  beginTurn: ']~b]',
  endTurn: '[e~[',
  unknown: ']!d~[',
  image: ']<]image[>[',
  video: ']<]video[>[',
  namespace: ']<]minimax[>[',
  thinkOpen: '<mm:think>',
  thinkClose: '</mm:think>',
} as const;
