/** How a capture treats calls that could break it, from this and other threads. */
export type CaptureMode = 'thread_local' | 'global' | 'relaxed';

const modes: Readonly<Record<CaptureMode, number>> = { global: 0, thread_local: 1, relaxed: 2 };

/** The addon's number of a mode; undefined for an unknown one. */
export function captureModeNumber(mode: CaptureMode = 'thread_local'): number | undefined {
  return typeof mode === 'string' && Object.hasOwn(modes, mode) ? modes[mode] : undefined;
}
