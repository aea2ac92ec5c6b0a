// A text by language, as manifests have it.
import * as T from 'typebox';
import { SAYS } from '../protocol/endpoint/check.ts';

const language = '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$';

export const localized = (maxLength: number, description = 'By language (BCP 47).') =>
  T.Unsafe<Record<string, string>>({
    type: 'object',
    propertyNames: { pattern: language, [SAYS]: 'is not a language' },
    additionalProperties: T.String({ minLength: 1, maxLength }),
    description,
  });
