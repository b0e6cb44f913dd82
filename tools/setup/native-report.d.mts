export function nativeReport(packages: string): string;
