import { expect, test } from 'vitest';
import { readFindings } from './sanitizer-log.js';

const clean = '========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n';
const bad = `========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
========= ERROR SUMMARY: 2 errors
`;
const races = '========= RACECHECK SUMMARY: 3 hazards displayed (1 error, 2 warnings)\n';

test('findings of all logs are added up, and the logs that have any are shown', () => {
  const found = readFindings([clean, bad, races]);
  expect(found).toMatchObject({ summaries: 3, findings: 5 });
  expect(found.lines.join('\n')).toContain('Invalid __global__ write');
  expect(found.lines.join('\n')).not.toContain('0 errors');
});

test('a run without a summary was not checked to its end, and a line of it is a finding', () => {
  expect(readFindings(['========= COMPUTE-SANITIZER\n', ''])).toMatchObject({
    summaries: 0,
    findings: 0,
  });
  const killed = bad.slice(0, bad.indexOf('========= ERROR'));
  expect(readFindings([killed])).toMatchObject({ summaries: 0, findings: 1 });
});
