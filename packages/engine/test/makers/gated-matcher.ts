import { type Allowed, ListMatcher } from './list-matcher.js';

/** Answers as a list does, but for some tokens not before it is told to. */
export class GatedMatcher extends ListMatcher {
  readonly #gates: Map<number, { readonly opened: Promise<void>; readonly open: () => void }>;
  /** Tokens whose mask was wanted while its gate was closed, in order. */
  readonly waitedAt: number[] = [];

  /** @param gated numbers of the tokens, from 0, whose masks come late */
  constructor(vocab: number, lists: readonly Allowed[], gated: readonly number[]) {
    super(vocab, lists);
    this.#gates = new Map(
      gated.map((token) => {
        let open = (): void => undefined;
        const opened = new Promise<void>((resolve) => {
          open = resolve;
        });
        return [token, { opened, open }];
      }),
    );
  }

  /** Lets the mask of a token go. */
  open(token: number): void {
    this.#gates.get(token)?.open();
    this.#gates.delete(token);
  }

  override async mask(): Promise<Int32Array | undefined> {
    const token = this.accepted.length;
    const gate = this.#gates.get(token);
    if (gate) this.waitedAt.push(token);
    await gate?.opened;
    return super.mask();
  }
}
