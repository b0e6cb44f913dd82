/** Longest that is kept of a text, in UTF-16 units. */
const mostOfText = 2 ** 16;
/** What a choice, a call or a prompt costs beside its characters. */
const entryCharacters = 64;

/** How many characters several texts may have together, none of them more than 65,536. */
export class CharacterBudget {
  #left: number;
  #isExceeded = false;

  constructor(characters: number) {
    this.#left = characters;
  }

  get left(): number {
    return this.#left;
  }

  /** Whether something found no room. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** Makes room for another text, or for what holds several; false = there is none any more. */
  enter(): boolean {
    const isRoom = this.#left >= entryCharacters;
    this.#left = isRoom ? this.#left - entryCharacters : 0;
    if (!isRoom) this.#isExceeded = true;
    return isRoom;
  }

  /** What of a piece still fits behind so many characters of its text. */
  take(piece: string, length = 0): string {
    const most = Math.min(mostOfText - length, this.#left);
    if (piece.length > most) this.#isExceeded = true;
    const kept = piece.length > most ? piece.slice(0, most) : piece;
    this.#left -= kept.length;
    return kept;
  }
}
