/**
 * Builds crt_tests with a sanitizer (`none`: plain) in a folder of its own; returns the program.
 */
export function buildTests(sanitizer: string): string;

/** Why a program with this sanitizer cannot be made or run here; undefined: it can. */
export function whyUnavailable(sanitizer: string): string | undefined;
