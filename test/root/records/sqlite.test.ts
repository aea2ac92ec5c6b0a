import { openSqlite } from '../../../root/records/sqlite.ts';
import { recordsSuite } from './suite.ts';

const test = recordsSuite('SQLite', () => openSqlite(':memory:'));

test.run();
