// How `ingle scenario` speaks.
import { cliScenarioTexts } from '../../../firmware/text/cli-scenario.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';

export const scenarioTextOf = (language: Language) => translator(cliScenarioTexts, language);
export type Text = ReturnType<typeof scenarioTextOf>;
