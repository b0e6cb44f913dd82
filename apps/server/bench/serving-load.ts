/** Something that answers requests. */
export interface ServingLoad {
  readonly name: 'engine' | 'http';
  /** False once an answer had not the tokens that it should. */
  readonly isRight: boolean;
  /** Runs one greedy request to its end. */
  run(stream: number, promptTokens: number, tokens: number): Promise<void>;
  close(): Promise<void>;
}

/** A prompt of ordinary token ids; each stream has its own. */
export function promptOf(stream: number, tokens: number): number[] {
  return Array.from({ length: tokens }, (_, index) => 3 + ((index * 7 + stream * 31) % 200));
}
