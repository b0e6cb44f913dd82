import { expect, it } from 'vitest';
import { makeAnswer } from './answer.js';

const lost = new Error('the model did not go');

it.each([
  ['a value', () => 5, { type: 'answered', value: 5 }],
  ['what comes later', async () => 5, { type: 'answered', value: 5 }],
  [
    'what throws',
    () => {
      throw lost;
    },
    { type: 'unanswered', error: { message: lost.message } },
  ],
  [
    'what rejects',
    () => Promise.reject(lost),
    { type: 'unanswered', error: { message: lost.message } },
  ],
])('answers once, whatever comes of the question: %s', async (_, find, expected) => {
  const answers: object[] = [];
  await makeAnswer((answer) => answers.push(answer))(7, find);
  expect(answers).toMatchObject([{ id: 7, ...expected }]);
});
