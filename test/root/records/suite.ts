// The one suite of root's records: what every database must do, by the verbs only.
import { suite } from 'uvu';
import type { Records } from '../../../root/records/records.ts';
import { commandLineTests } from './command-lines.ts';
import { estateTests } from './estate.ts';
import { hubTests } from './hubs.ts';
import type { Open } from './kit.ts';
import { memberTests } from './members.ts';
import { pageTests } from './pages.ts';
import { passkeyTests } from './passkeys.ts';
import { sessionTests } from './sessions.ts';

/** @param open records with nothing in them; called before each test */
export function recordsSuite(name: string, open: Open) {
  const test = suite<{ records: Records }>(`records in ${name}`);
  test.before.each(async (c) => {
    c.records = await open();
  });
  test.after.each((c) => c.records.close());
  sessionTests(test);
  hubTests(test);
  passkeyTests(test);
  memberTests(test);
  pageTests(test);
  estateTests(test);
  commandLineTests(test);
  return test;
}
