/** What was wrong with the model's markup, as counts. All zero for well-formed output. */
export interface ParserFaults {
  /** Thoughts ended at a tool call without `</mm:think>`. */
  impliedReasoningEnd: number;
  /** Namespace markers without a tag; removed. */
  strayMarker: number;
  /** Tags in a place where they mean nothing; shown as content outside a call, dropped inside. */
  unexpectedTag: number;
  /** Calls, values or blocks that were closed by what came after them. */
  impliedClose: number;
  /** Text inside a call but outside any parameter; dropped. */
  droppedText: number;
  /** Text beside nested tags of one value; dropped. */
  mixedText: number;
  /** A parameter that had been given before; dropped. */
  repeatedParameter: number;
  /** Calls of functions that no tool declares. */
  unknownFunction: number;
  /** Calls cut off inside a value, or by the size limit. */
  truncatedCall: number;
}

/** No faults yet. */
export function noFaults(): ParserFaults {
  return {
    impliedReasoningEnd: 0,
    strayMarker: 0,
    unexpectedTag: 0,
    impliedClose: 0,
    droppedText: 0,
    mixedText: 0,
    repeatedParameter: 0,
    unknownFunction: 0,
    truncatedCall: 0,
  };
}
