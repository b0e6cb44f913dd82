import { closeSync, openSync, writeSync } from 'node:fs';

/** Lines that are written together, so that a step does not wait for the disk each time. */
const linesAtOnce = 64;

/**
 * A new file of lines; what was in it before is gone. @throws what opening throws, such as for a
 * missing folder
 */
export function openTrace(path: string): { write: (line: string) => void; close: () => void } {
  const file = openSync(path, 'w');
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) writeSync(file, `${lines.join('\n')}\n`);
    lines = [];
  };
  return {
    write: (line) => {
      lines.push(line);
      if (lines.length >= linesAtOnce) flush();
    },
    close: () => {
      flush();
      closeSync(file);
    },
  };
}
