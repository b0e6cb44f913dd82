import { expect, test } from 'vitest';
import { benchTable } from './bench-table.js';

const target = { what: 'of the peer', value: 1.3, most: 1.2 };

test('a row has its median, its peers by their ratio, and a target that is missed', () => {
  const rows = [
    { case: { nodes: 10 }, us: 2, peers: { pytorch: 3 }, target, right: true },
    { case: { nodes: 20 }, right: false },
  ];
  const [, title, first, second] = benchTable([
    { bench: 'graph', device: 'H200', date: '', rows },
  ]).split('\n');
  expect(title).toBe('graph · H200');
  expect(first).toMatch(
    /^ {2}nodes=10 +2\.00 µs {2}pytorch 3\.00 µs \(1\.50x\), MISSED: of the peer 1\.30, at most 1\.2$/,
  );
  expect(second).toMatch(/^ {2}nodes=20 +WRONG$/);
});
