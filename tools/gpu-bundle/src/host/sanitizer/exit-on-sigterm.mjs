// vitest ends its workers with SIGTERM. A process that dies of it leaves no summary of the
// sanitizer.
process.on('SIGTERM', () => process.exit(143));
