export function stageFiles(folder: string, strip?: (file: string) => void): void;
