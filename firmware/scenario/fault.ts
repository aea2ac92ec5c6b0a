// What is wrong with a scenario: where, by a code, and in words of either language. Pure.
import { type Fault, faultsOf } from '../protocol/endpoint/check.ts';
import { type Language, translator, type Values } from '../text/i18n.ts';
import { scenarioTexts } from '../text/scenario.ts';

type FaultCode = keyof (typeof scenarioTexts)['en'];

/** `says` is in English; `saidIn` gives the words of another language. */
export interface ScenarioFault extends Fault {
  code: FaultCode;
  values: Values;
}

const english = translator(scenarioTexts, 'en');

export const faultAt = (pointer: string, code: FaultCode, values: Values = {}): ScenarioFault => ({
  pointer,
  code,
  values,
  says: english(code, values),
});

/** The words of a fault for a reader. */
export const saidIn = (fault: ScenarioFault, language: Language): string =>
  translator(scenarioTexts, language)(fault.code, fault.values);

/** What a schema finds. */
export const formFaults = (...of: Parameters<typeof faultsOf>): ScenarioFault[] =>
  faultsOf(...of).map(({ pointer, says }) => faultAt(pointer, 'form', { says }));

/** One more step of a JSON pointer (RFC 6901). */
export const below = (pointer: string, key: string | number): string =>
  `${pointer}/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`;
