export function namesModel(args: readonly string[]): boolean;
export function ensureModel(folder: string, write: (folder: string) => void): string;
