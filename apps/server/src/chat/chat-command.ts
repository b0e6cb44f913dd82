import type { ThoughtStyle } from './answer-display.js';

/** A line that is no question. */
export type ChatCommand =
  | { readonly type: 'exit' | 'clear' | 'help' }
  | { readonly type: 'thinking'; readonly mode: string }
  | { readonly type: 'thoughts'; readonly style: ThoughtStyle }
  | { readonly type: 'unknown'; readonly problem: string };

/** What templates of M3 know. */
export const thinkingModes = ['enabled', 'disabled', 'adaptive'] as const;
/** How thoughts may be shown. */
export const thoughtStyles = ['shown', 'folded', 'hidden'] as const;

/** What `/help` shows. */
export const commandHelp = [
  '/clear               forget the conversation',
  '/thinking MODE       enabled, disabled or adaptive',
  '/thoughts HOW        shown, folded or hidden',
  '/exit                leave (also Ctrl-D, or Ctrl-C twice)',
  '//TEXT               ask /TEXT',
].join('\n');

/** Reads a line that begins with a slash; undefined for every other one. */
export function parseCommand(line: string): ChatCommand | undefined {
  if (!line.startsWith('/') || line.startsWith('//')) return undefined;
  const [name = '', argument = ''] = line.slice(1).split(/\s+/);
  switch (name) {
    case 'exit':
    case 'quit':
      return { type: 'exit' };
    case 'clear':
    case 'help':
      return { type: name };
    case 'thinking': {
      const mode = thinkingModes.find((one) => one === argument);
      return mode ? { type: 'thinking', mode } : wrongArgument(name, argument, thinkingModes);
    }
    case 'thoughts': {
      const style = thoughtStyles.find((one) => one === argument);
      return style ? { type: 'thoughts', style } : wrongArgument(name, argument, thoughtStyles);
    }
    default:
      return { type: 'unknown', problem: `/${name} is no command` };
  }
}

function wrongArgument(name: string, given: string, known: readonly string[]): ChatCommand {
  return { type: 'unknown', problem: `/${name} is "${given}", expected ${known.join(', ')}` };
}
