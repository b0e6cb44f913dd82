import { expect, it } from 'vitest';
import { Gate } from './gate.js';

it.each([
  ['no key', [], [], 0],
  ['one key', ['one'], [], 1],
  ['one key, given twice', ['one', 'one'], [], 1],
  ['keys of two clients', ['one', 'two'], [], 2],
  ['one key beside an admin key', ['one'], ['root'], 1],
  ['one key that is an admin key, too', ['one'], ['one'], 1],
  ['admin keys alone', [], ['root', 'groot'], 0],
])('counts clients, not operators, as tenants: %s', (_, apiKeys, adminApiKeys, tenants) => {
  const keys = { apiKeys, adminApiKeys };
  expect(new Gate({ ...keys, isExposed: false }).tenants).toBe(tenants);
  const gate = new Gate({ apiKeys: ['a', 'b', 'c'], adminApiKeys: [], isExposed: false });
  gate.replaceKeys(keys);
  expect(gate.tenants).toBe(tenants);
});
