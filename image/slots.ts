// The files a slot of the pool of skills needs, the same for each: its user, its bus policy, its activation, its quota. They are
// kept in systemd/, as tools read them there; `node --import tsx image/slots.ts` writes them anew.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SLOTS } from '../firmware/skills/slots.ts';

const numbers = Array.from({ length: SLOTS }, (_, i) => i + 1);
const each = (text: (n: number) => string) => numbers.map(text).join('');

const users = `# A user for each slot of the pool of skills (made by image/slots.ts).
${each((n) => `u ingle-skill-${n} - "Ingle skill in slot ${n}"\n`)}`;

const policy = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<!-- Made by image/slots.ts. The user of a slot owns its one name, and only the local API calls it. It may ask for a fetch; and for the journal, which ingle-supervisor gives to whom the hub's maker has granted it. -->
<busconfig>
  <policy context="default">
    <deny send_interface="io.ingle.Skill1"/>
    <deny receive_interface="io.ingle.Skill1"/>
  </policy>
  <policy user="ingle-api">
    <allow send_destination_prefix="io.ingle.Skill1"/>
    <allow receive_interface="io.ingle.Skill1"/>
  </policy>
${each(
  (n) => `  <policy user="ingle-skill-${n}">
    <allow own="io.ingle.Skill1.slot${n}"/>
    <allow send_type="signal" send_interface="io.ingle.Skill1"/>
    <allow send_destination="io.ingle.Fetch1" send_interface="io.ingle.Fetch1" send_member="Fetch"/>
    <allow send_destination="io.ingle.Supervisor1" send_interface="io.ingle.Supervisor1" send_member="Journal"/>
    <allow receive_type="method_call" receive_interface="io.ingle.Skill1"/>
  </policy>
`,
)}</busconfig>
`;

const activation = (n: number) => `[D-BUS Service]
Name=io.ingle.Skill1.slot${n}
Exec=/bin/false
User=root
SystemdService=ingle-skill@${n}.service
`;

const quota = `# Whom ingle-quota.service bounds (made by image/slots.ts).
[Service]
Environment="SLOT_USERS=${numbers.map((n) => `ingle-skill-${n}`).join(' ')}"
`;

/** Path below systemd/ -> text. */
export const slotFiles: Readonly<Record<string, string>> = {
  'sysusers.d/ingle-skills.conf': users,
  'dbus/policy/io.ingle.Skill1.conf': policy,
  'units/ingle-quota.service.d/slots.conf': quota,
  ...Object.fromEntries(
    numbers.map((n) => [`dbus/services/io.ingle.Skill1.slot${n}.service`, activation(n)]),
  ),
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [file, text] of Object.entries(slotFiles)) {
    mkdirSync(dirname(join('systemd', file)), { recursive: true });
    writeFileSync(join('systemd', file), text);
  }
