import {
  ByteTable,
  buildByteTokenizer,
  byteToCharacter,
  ChatTokenizer,
  controlTexts,
} from '@altstream/minimax-m3-chat';
import type { Grammar } from '../../../src/grammar/grammar.js';
import { loadGrammarLibrary } from '../../../src/grammar/library.js';
import { GrammarShelf } from '../../../src/grammar/shelf.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);
const bytes = new ByteTable(tokenizer.bytes.data);
const eos = 1;
const namespace = tokenizer.specialId(controlTexts.namespace);

/** A copy of the grammar library, over a vocabulary of bytes. */
export interface GrammarWalk {
  /** Whether a text is whole in a grammar. */
  takes(grammar: Grammar, text: string): Promise<boolean>;
  /** A text of a grammar by chance; undefined if it has no end within the tokens. */
  text(grammar: Grammar, random: () => number, mostTokens: number): Promise<string | undefined>;
}

/**
 * Throws what the library does; after an abort another copy is wanted.
 *
 * @param hasMarkers texts may have the marker of tool calls in them
 */
export async function startWalk(hasMarkers = false): Promise<GrammarWalk> {
  const library = loadGrammarLibrary();
  const vocabulary = Array.from({ length: 600 }, (_, id) =>
    bytes.isSpecial(id) && !(hasMarkers && id === namespace)
      ? ''
      : Array.from(bytes.bytesOf(id), byteToCharacter).join(''),
  );
  const type = 'byte_level' as const;
  const info = await library.TokenizerInfo.createTokenizerInfo(vocabulary, type, false, 600, [eos]);
  const shelf = new GrammarShelf(
    library.Grammar,
    await library.GrammarCompiler.createGrammarCompiler(info, false),
  );
  const open = async (grammar: Grammar) =>
    library.GrammarMatcher.createGrammarMatcher(await shelf.take(grammar), undefined, false);
  const allowed = (mask: Int32Array): number[] =>
    Array.from({ length: 600 }, (_, id) => id).filter(
      (id) => (((mask[id >> 5] ?? 0) >> (id & 31)) & 1) === 1,
    );
  return {
    async takes(grammar, text) {
      const matcher = await open(grammar);
      const isTaken = tokenizer.encode(text).every((id) => matcher.acceptToken(id));
      const isWhole = isTaken && allowed(await matcher.getNextTokenBitmask()).includes(eos);
      matcher.dispose();
      return isWhole;
    },
    async text(grammar, random, mostTokens) {
      const matcher = await open(grammar);
      const ids: number[] = [];
      for (; ids.length < mostTokens; ) {
        const next = allowed(await matcher.getNextTokenBitmask());
        if (next.includes(eos)) break;
        // Sets beyond ASCII are sets of bytes, and not all of those are UTF-8.
        const plain = next.filter((id) => bytes.bytesOf(id).every((byte) => byte < 0x80));
        // Ends of texts, lists and objects more often than their share, or few would be whole.
        const ends = next.filter(
          (id) => id === namespace || ['"', ']', '}'].includes(tokenizer.decode([id])),
        );
        const from = ends.length > 0 && random() < 0.4 ? ends : plain.length > 0 ? plain : next;
        const id = from[Math.floor(random() * from.length)];
        if (id === undefined || !matcher.acceptToken(id)) throw new Error('the mask is wrong');
        ids.push(id);
      }
      matcher.dispose();
      return ids.length < mostTokens
        ? new TextDecoder('utf-8', { fatal: true }).decode(
            Uint8Array.from(ids.flatMap((id) => [...bytes.bytesOf(id)])),
          )
        : undefined;
    },
  };
}
