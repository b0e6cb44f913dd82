export class SetupError extends Error {}
export function checkNode(version: string): void;
export function findTool(name: string, why: string, remedy: string): string;
export function findCompiler(): string;
export function checkCmake(versionLine: string): void;
