// An object of names that nobody knows beforehand. TypeBox's own `Record` brings its language of types along, which is a
// tenth of a service's code and of no use here.
import { type Static, type TSchema, type TUnsafe, Unsafe } from 'typebox';

export const record = <S extends TSchema>(of: S, more: object = {}): TUnsafe<Record<string, Static<S>>> =>
  Unsafe({ type: 'object', additionalProperties: of, ...more });
