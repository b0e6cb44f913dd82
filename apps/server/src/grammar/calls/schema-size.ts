import { fieldError } from '../../openai/parse-body.js';

const mostValues = 2 ** 16;

/**
 * Refuses schemas of too many values, names or elements, all together: before rules are made, each
 * name is looked at to tell which of them can be tags.
 *
 * @param param the field of the request that is blamed
 * @throws ApiError 400 `invalid_schema`
 */
export function checkSchemaSize(schemas: readonly unknown[], param: string): void {
  const rest: unknown[] = [];
  let values = 0;
  const add = (list: readonly unknown[]): void => {
    values += list.length;
    if (values > mostValues) {
      const problem = `schemas of tools have more than ${mostValues} values together`;
      throw fieldError(param, problem, 'invalid_schema');
    }
    // Texts and numbers have nothing in them.
    for (const one of list) if (typeof one === 'object' && one !== null) rest.push(one);
  };
  add(schemas);
  while (rest.length > 0) add(Object.values(rest.pop() as object));
}
