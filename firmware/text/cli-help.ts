// Help of the `ingle` command, a text a command.
import type { Texts } from './i18n.ts';

const en = {
  top: `ingle <command> [options]    the owner's command for this hub

  init                    enrol this hub with root: owner, subnet, hub
  login [--new-passkey]   open a pairing code and wait for a browser
  hub serve               run the hub's link to root in this terminal
  hub stop                end the hub in order
  hub restart             end it and start it anew
  status                  the hub's state
  browsers list           paired browsers
  browsers forget <id>    unpair a browser and close its channels
  browsers rename <id> <name>   another name for a browser
  account login           sign this command line in at root, which you let in in a browser
  account logout          sign it out
  account sign-ins list   browsers and command lines that are signed in
  account sign-ins rename <id> <name>   a name for a sign-in
  account sign-ins revoke <id>   sign a browser or a command line out at once
  account passkeys list   your passkeys and those of guests
  account passkeys rename <id> <name>   a name for a passkey
  account passkeys remove <id>   remove a passkey and end its sign-ins
  account hubs list       your hubs as root knows them
  account hubs rename <id> <name>   a name for a hub at root
  account trail           what happened to your account, newest first
  account trail export    all of it as JSON lines
  people list             whom you have invited
  people invite <name>    invite somebody with a passkey of their own
  people change <id>      another name, role or end for a person
  people remove <id>      end a person and forget what was theirs
  subnet invite           a code for another hub of yours
  subnet join <invitation>   make this hub a member of another's subnet
  subnet nodes            the hubs of the subnet, and who is gone
  subnet remove <id>      let a member go
  subnet leave            leave the subnet
  api token rotate        a new token for the local API
  api call <method> <path>   anything else the hub can do, through its local API
  say <text>              speak a text
  voice listen            listen at the hub, and do what is said
  voice stop              listen and speak no longer
  voice phrase <on|off>   turn waking by a phrase on or off
  voice status            whether the hub listens or speaks, and what cannot be said
  hook new <name> <topic>   a webhook for a program outside
  hook list               the webhooks, when they were used and refused
  hook remove <id>        end a webhook
  hook rotate <id>        a new secret for a webhook
  mcp on                  let programs use what skills offer, over MCP
  mcp off                 let them no longer
  mcp status              whether they may, what there is, and how one is set up
  desktop show            which skills a desktop has, for whom, and how it looks
  desktop set <file>      set another desktop document
  desktop reset           back to the document of the image
  key rotate              a new key for the hub; paired browsers follow it
  setup status            where first-run setup stands
  setup restart           start setup again; what is set up stays until replaced
  setup finish            end setup without what is missing
  update status           which version runs, and where an update stands
  update check            ask the update server
  update install          install what is on offer, a file or from a USB stick
  update restart          restart into what was installed
  update rollback         go back to the earlier version
  skill new <name>        a folder with a new skill that builds, tests and packs
  skill build <folder>    build a skill
  skill test <folder>     run a skill's tests, without a hub
  skill dev <folder>      run a skill in the hub of npm start, anew at each save
  ui preview <file>       show a document of a screen as people will see it, anew at each save
  ui reference            write the page of every component of a screen, with live examples
  skill key new <file>    a publisher's key, to sign packages of skills with
  skill key show <file>   its id and its public key
  skill pack <folder>     a skill's folder as one file
  skill sign <file>       sign a package
  skill show <file>       check a package and say what is in it
  skill install <file>    look at a package, say yes, and install it on the hub
  skill update <file>     the same for a newer version of what is there
  skill list              what is on the hub, and why something is not used
  skill activate <id> <version>   install a version that lies prepared
  skill discard <id> <version>    take away a version that is not used
  skill rollback <id>     go back to the version before
  skill remove <id>       remove a skill with all it has stored
  skill logs <id>         what a skill has logged
  skill publishers        whose packages are trusted
  skill trust <key>       trust a publisher's key
  skill revoke <key>      never take anything signed with a key again
  skill developer <on|off>   take packages that nobody signed, or no longer
  scenario list           the hub's scenarios: whether they begin by themselves, and when next
  scenario run <id>       run a scenario now
  scenario status <run>   how a run stands, step by step
  scenario runs [id]      what ran, the newest first
  scenario stop <run>     end a run in order: what it did is undone
  scenario kill <run>     end a run at once; nothing is undone
  scenario pause <run>    let a run begin nothing new
  scenario resume <run>   let a paused run go on
  scenario on <id>        let a scenario begin by itself
  scenario off <id>       let it begin by itself no longer
  scenario set <id> <param>=<value>   set a parameter
  scenario rehearse <id>  what a run would do, without doing it
  scenario week           what begins by itself in the next seven days
  scenario plan <id>      let it begin at a time, once or by a time table
  scenario unplan <job>   take that back
  scenario dead           runs that failed
  scenario replay <id>    run a failed one again
  scenario discard <id>   let a failed one go
  scenario say <text>     what a text means, and the scenario it starts
  scenario check <file>   check a scenario.yaml: line and column of every fault
  scenario new <folder>   begin a scenario of your own
  scenario pack <folder>  a scenario's folder as one file
  scenario install <file>   install a package on the hub
  scenario versions <id>  its versions on the hub, and what another would change for people
  scenario use <id> <version>   use another version
  scenario rollback <id>  go back to the version before
  scenario update         use the newest version of every scenario
  scenario remove <id>    take away what was installed
  doctor                  look at everything: what is wrong and what to do
  health                  whether this version is well
  selftest                the factory's test of radios, sound and storage
  licences                the licences of what is in this image
  journal export <where>  logs without secrets, to a folder or "usb"
  completion <shell>      completion for bash, zsh or fish
  help [command]          this text, or a command's

  --json                  one JSON object a line on stdout; errors as one object on stderr
  --version               the version
Exit status: 0 done, 64 wrong use, 66 not found, 69 unavailable, 70 inside, 73 conflict, 75 try again, 77 refused.`,
  init: `ingle init [--yes --owner-id <id> --subnet-id <id> --hub-id <id> --app-url <url>] [--json]
Makes the hub's keys where there are none and enrols with root. Prints owner_id, subnet_id, hub_id, where the keys
lie and until when the certificate is valid. Once enrolled it prints what is there.
If root offers another owner or application than the hub has, it says so, and asks before it takes them: all paired
browsers and passkeys are forgotten then. Exit status 73 when nothing was taken.
  --yes             take it without asking, for scripts; only exactly what the four options name
  --owner-id, --subnet-id, --hub-id <id>, --app-url <url>    what is accepted, as "ingle init" has printed it`,
  login: `ingle login [--new-passkey] [--json]
Prints the page to open, a code valid for 10 minutes, a link and its QR code; waits until a browser is paired.
  --new-passkey   let the browser register a passkey though the owner has one;
                  the way back when every passkey is lost`,
  'hub serve': `ingle hub serve [--root <url>] [--data <folder>] [--host <address>] [--port <n>] [--json]
Runs the hub's link to root in this terminal; says when the hub is connected and when a browser is paired.
  --root <url>       address of the root service
  --data <folder>    state of a hub that runs from a checkout, default .ingle
  --host <address>   IP address the local API listens on, default 127.0.0.1
  --port <n>         its port; without it a free one that is kept`,
  'hub stop': `ingle hub stop [--data <folder>] [--json]
Ends the hub of "ingle hub serve" or "npm start": nothing new begins, what runs comes to its end, then its processes
end; who does not end in time is killed. On a flashed hub systemd does it, and root may ask.
  --data <folder>   state of the hub that is meant, default .ingle here or in a folder above`,
  'hub restart': `ingle hub restart [--data <folder>] [--json]
Ends the hub's processes as "ingle hub stop" does and starts them anew where they ran, then waits until they answer.
  --data <folder>   state of the hub that is meant, default .ingle here or in a folder above`,
  status: `ingle status [--json]
The link to root, the hub's identity, paired browsers and open channels. Exit status 69 while root cannot be reached.`,
  'browsers list': `ingle browsers list [--json]
Paired browsers: id, label, when paired and last seen.`,
  'browsers forget': `ingle browsers forget <id> [--json]
Unpairs a browser and closes its channels at once.`,
  'browsers rename': `ingle browsers rename <id> <name> [--json]
Gives a paired browser another name in the list, of at most 64 characters.`,
  'account login': `ingle account login [--root <url>] [--name <name>] [--json]
Signs this command line in at root for an hour, to read and tend what root keeps of your account. It shows a code; type
it on the page of access of a browser where you are signed in, look at what asks, and allow it by your passkey. It leads
to no hub and lets nobody else in. Only let in what you have just started yourself.
  --root <url>     the root; without it the one the hub hereabouts is configured with
  --name <name>    what the command line is called there; without it the name of this computer`,
  'account logout': `ingle account logout [--json]
Signs this command line out at root, and forgets what was kept of it.`,
  'account sign-ins list': `ingle account sign-ins list [--json]
Browsers and command lines that are signed in: id, name, when last seen, and the network they signed in from, cut short.`,
  'account sign-ins rename': `ingle account sign-ins rename <id> <name> [--json]
Gives a sign-in a name of at most 64 characters.`,
  'account sign-ins revoke': `ingle account sign-ins revoke <id> [--json]
Signs a browser or a command line out at once. A browser's passkey stays, and it can sign in again.`,
  'account passkeys list': `ingle account passkeys list [--json]
Your passkeys and those of guests: id, name, and when last used.`,
  'account passkeys rename': `ingle account passkeys rename <id> <name> [--json]
Gives a passkey a name of at most 64 characters.`,
  'account passkeys remove': `ingle account passkeys remove <id> [--json]
Removes a passkey: what signed in by it is out at once, also a command line. With the last one everybody is signed out,
and you need a new code of the hub to come back.`,
  'account hubs list': `ingle account hubs list [--json]
Your hubs at root: id, name, whether each is online, when it was last seen, and when its certificate expires.`,
  'account hubs rename': `ingle account hubs rename <id> <name> [--json]
Gives a hub a name at root, of at most 64 characters.`,
  'account trail': `ingle account trail [--json]
The last hundred things that happened to your account, newest first: what, by whom, and from which network.`,
  'account trail export': `ingle account trail export [--json]
All that root keeps of it, the last 1,000 events of up to a year, as JSON lines, oldest first.`,
  'people list': `ingle people list [--json]
The people you have invited: id, name, role, when their time ends, their browsers and when they were last seen.`,
  'people invite': `ingle people invite <name | id> [--role <role>] [--until <when>] [--json]
Adds a person and prints a link and a code for a browser of theirs, valid for ten minutes. They make a passkey of their
own. With the id of a person who is there: a code for them, anew or for a further browser.
  --role <role>    what they may do: admin, adult, kid or guest (default)
  --until <when>   when their time ends: 2026-12-31, 2026-12-31T18:00, 12h, 3d, or never (default)`,
  'people change': `ingle people change <id> [--name <name>] [--role <role>] [--until <when>] [--json]
Changes a person at once and everywhere. What is left out stays.
  --name <name>    what they are called
  --role <role>    admin, adult, kid or guest
  --until <when>   as with "ingle people invite"; what is past ends them now`,
  'people remove': `ingle people remove <id> [--json]
Ends a person at once and forgets their browsers, passkeys, documents, pins and order.`,
  'subnet invite': `ingle subnet invite [--json]
Prints a code and a link for another hub, valid for 10 minutes and for one. That hub becomes a member of this one's
subnet and gets its owner. It closes a pairing code that is open.`,
  'subnet join': `ingle subnet join <invitation> [--yes] [--json]
Makes this hub a member of the subnet of the hub the invitation is of: its link, or its twelve digits. The two hubs
prove themselves to each other through an encrypted channel, then this one has the owner of the other. Browsers and
people that were let in here are forgotten; it asks before.
  --yes   without asking, for scripts`,
  'subnet nodes': `ingle subnet nodes [--json]
The members of the subnet: id, name, whether they are here or gone and since when. A member says who leads it.`,
  'subnet remove': `ingle subnet remove <id> [--json]
Removes a member and closes its channel at once. The member is told now, or when it is next online.`,
  'subnet leave': `ingle subnet leave [--json]
Leaves the subnet. The hub is alone again, as it was before it joined, and forgets who was let in.`,
  'api token rotate': `ingle api token rotate [--json]
Makes a new token for the local API; the old one is refused from then on. The token itself is not printed.`,
  'api call': `ingle api call <method> <path> [--query <name=value>]... [--body <file | ->] [--json]
Asks the hub's local API as local control, with its token, and prints the answer. A stream of events is printed an event
a line, until Ctrl-C. What there is: ingle api call GET /api/openapi.json
  --query <name=value>   what comes after the "?" of the path; may be given several times
  --body <file | ->      a file with what is sent, a JSON object for most paths; "-" reads the standard input`,
  say: `ingle say <text> [--lang <en | ru>] [--json]
Speaks a text of at most 500 characters through the best output.
  --lang <en | ru>   its language; without it the hub's own`,
  'voice listen': `ingle voice listen [--lang <en | ru>] [--json]
Wakes the hub as a tap does: it listens for eight seconds, starts the scenario of what is said, and prints what it
understood. Say what a rule understands; the answer stops when you speak.
  --lang <en | ru>   the language that is spoken; without it the hub's own`,
  'voice stop': `ingle voice stop [--json]
The hub listens and speaks no longer. What was started goes on.`,
  'voice phrase': `ingle voice phrase <on | off> [--json]
Whether the hub wakes at its phrase as it does at a tap: say it, wait for the tone, and speak. While this is on, the
microphone is open; what is said is compared with the phrase on the hub and forgotten. The phrase is "speech.wake" of
/etc/ingle/config.json; "ingle voice status" shows it.`,
  'voice status': `ingle voice status [--lang <en | ru>] [--json]
Prints whether the hub listens or speaks, the patterns of its rules that cannot be said aloud, and words that its
recogniser cannot pronounce.
  --lang <en | ru>   the language that is spoken; without it the hub's own`,
  'hook new': `ingle hook new <name> <topic> [--json]
Makes a webhook and prints its path and its secret, which is shown this once. Its messages come as events of the topic,
which begins with "external.". Whoever sends signs as Standard Webhooks has it.`,
  'hook list': `ingle hook list [--json]
The webhooks without their secrets: when each was used last, and why a message was refused last.`,
  'hook remove': `ingle hook remove <id> [--json]
Ends a webhook; what is sent to it is refused from then on.`,
  'hook rotate': `ingle hook rotate <id> [--json]
Makes a new secret for a webhook and prints it once; the old one is refused from then on.`,
  'mcp on': `ingle mcp on [--json]
Lets programs use the actions of skills over MCP (Model Context Protocol, streamable HTTP), and prints the address and
where the token is. A program with the token acts as local control; one that names a person may do what that person may.`,
  'mcp off': `ingle mcp off [--json]
Refuses every further call of a program at once; a call that has begun comes to its end. The token goes on opening the
rest of the local API: "ingle api token rotate" makes a new one.`,
  'mcp status': `ingle mcp status [--json]
Prints whether programs may use the actions of skills, and which these are; while they may, how a program is set up.`,
  'desktop show': `ingle desktop show [--json]
Prints the desktop document with its etag, and the skills it names that are not on this hub. "ingle desktop set"
takes a file of this output.`,
  'desktop set': `ingle desktop set <file> [--json]
Sets the desktop document; every desktop follows at once. Edit "document" in a file that "ingle desktop show" printed: it
is refused if somebody has set another one since. A file with the document only, without an etag, replaces any document.
Its schema is dist/schemas/desktop.json.`,
  'desktop reset': `ingle desktop reset [--json]
Goes back to the document of the image.`,
  completion: `ingle completion <shell> [--json]
Prints the script with which bash, zsh or fish complete what is typed after "ingle". To switch it on:
  bash   ingle completion bash > ~/.local/share/bash-completion/completions/ingle
  zsh    ingle completion zsh > a folder of $fpath, as _ingle
  fish   ingle completion fish > ~/.config/fish/completions/ingle.fish`,
  'key rotate': `ingle key rotate [--json]
Makes a new static key for the hub, signed by its identity key. Paired browsers follow it; hub_id stays.`,
  'setup status': `ingle setup status [--json]
The step of setup, open channels, the joined network, the chosen sound devices and the newest trouble.`,
  'setup restart': `ingle setup restart [--json]
Starts first-run setup again from the sound test, and opens its channels. Nothing set up is forgotten.`,
  'setup finish': `ingle setup finish [--json]
Ends setup without what is missing (the hub needs a network). Exit status 73 when there is nothing to finish.`,
  'update status': `ingle update status [--json]
The version and slot that run, what is on offer, how far an update is, and what came of the newest one.`,
  'update check': `ingle update check [--channel <name>] [--json]
Asks the update server. The channel (stable, beta, ...) is kept for the next time.`,
  'update install': `ingle update install [--source <what>] [--restart now|night] [--json]
Installs into the slot that does not run and follows it to its end. Without --restart it waits for one.
  --source <what>   nothing: the offered version; stream: the same without a download; an https address; the absolute
                    path of a .raucb file; or usb`,
  'update restart': `ingle update restart [--night] [--json]
Restarts into what was installed, now or between 03:00 and 05:00. If it does not prove itself, the hub goes back.`,
  'update rollback': `ingle update rollback [--json]
Goes back to the version in the other slot and restarts. What was installed and never started is set aside.`,
  'skill new': `ingle skill new <name> [--json]
Makes the folder <name> with a skill in TypeScript: manifest, code, texts, a test. A folder that is there stays.`,
  'skill build': `ingle skill build <folder> [--json]
Checks the manifest and builds skill.ts with all it imports: <folder>/dist is what "ingle skill pack" takes.`,
  'skill test': `ingle skill test <folder> [--json]
Builds the files *.test.ts of the folder and runs them by Node's test runner. They need no hub (@ingle/skill-sdk/test).`,
  'skill dev': `ingle skill dev <folder> [--json]
Runs a skill in the hub that "npm start" runs hereabouts, in developer mode: its title says so, and nobody signed it.
Each save builds it and starts it anew. A new skill needs one restart of the hub. Runs until Ctrl+C.`,
  'ui preview': `ingle ui preview <file> [--port <n>] [--json]
Shows a document of a screen in a browser, on a phone and a desk, in light and dark, with what is to be put right, and
draws it anew at each save. A file *.json or *.yaml is ui/v0, USDL, UMF or A2UI, *.md is ULM, *.jsonl messages of A2UI.
Beside screen.json, screen.state.json holds what the skill's state would be. Nothing is sent to a hub.
  --port <n>   the port of the page on this computer; without it a free one`,
  'ui reference': `ingle ui reference [--out <folder>] [--json]
Writes index.html, the reference of all that a skill's screen can be made of: every part of ui/v0, USDL and ULM with its
properties, its bounds and an example that works. The page is one file and asks nobody for anything.
  --out <folder>   where to write; dist/reference without it`,
  'skill key new': `ingle skill key new <file> [--json]
Makes a publisher's key (Ed25519, PKCS#8 in PEM) that only the file's owner may read. A file that is there stays.`,
  'skill key show': `ingle skill key show <file> [--json]
Prints the key's id, and the public key that a hub's owner puts on the list of those they trust.`,
  'skill pack': `ingle skill pack <folder> [--key <file>] [--out <file>] [--json]
Checks a skill that was built (dist/skills/<id>) and makes the package <id>-<version>.ingle-skill of it.
  --key <file>   sign with this key; an unsigned package is taken by a hub in developer mode only
  --out <file>   where to write; only another package is replaced`,
  'skill sign': `ingle skill sign <file> --key <file> [--out <file>] [--json]
Checks a package and writes it with your signature.`,
  'skill show': `ingle skill show <file> [--json]
Checks the signature and every file; prints version, publisher, whether the hub trusts them, the files, and what the
skill may do. Exit status 64 for a damaged package, 65 for one too large, 77 for a wrong signature or publisher.`,
  'skill install': `ingle skill install <file> [--yes] [--json]
Sends a package to the hub, which checks it, and says whose it is and what the skill may do; then asks for a yes. Follows
the trial to its end: a version that does not come up gives way to the one before.
  --yes   install without asking, for scripts`,
  'skill update': `ingle skill update <file> [--yes] [--json]
As "ingle skill install", for a skill that is there: says from which version to which. Its state stays.
  --yes   update without asking, for scripts`,
  'skill list': `ingle skill list [--json]
Every skill with its version, publisher and state; what lies prepared, and why the version tried last is not used.`,
  'skill activate': `ingle skill activate <id> <version> [--json]
Begins the trial of a prepared version and follows it to its end.`,
  'skill discard': `ingle skill discard <id> <version> [--json]
Takes away a version that is not used.`,
  'skill rollback': `ingle skill rollback <id> [--json]
Goes back to the version before; the skill keeps its state.`,
  'skill remove': `ingle skill remove <id> [--yes] [--json]
Removes a skill with all versions, what it stored, its documents and its place on the desktop. Asks first.
  --yes   remove without asking, for scripts`,
  'skill logs': `ingle skill logs <id> [--json]
The newest lines the skill's process logged, oldest first, without secrets.`,
  'skill publishers': `ingle skill publishers [--json]
Whose packages are trusted, for which skills, and which keys are revoked.`,
  'skill trust': `ingle skill trust <key> --name <name> [--ids <list>] [--json]
Trusts a publisher's public key. Compare its id first with what the publisher told you by another way.
  --name <name>   what you call the publisher
  --ids <list>    the skills it may publish, with commas between; "acme_*" is every id that begins so; without it any`,
  'skill revoke': `ingle skill revoke <key> [--json]
Revokes a key for good. What is installed goes on until it is removed.`,
  'skill developer': `ingle skill developer <on|off> [--json]
Developer mode takes packages that nobody signed. What was installed so is marked for ever.`,
  'scenario list': `ingle scenario list [--json]
Every scenario of the hub: whether it begins by itself, its name and version, when next, the skills it still needs and
what a newer version left to decide.`,
  'scenario run': `ingle scenario run <id> [--ctx <key>=<value>]... [--json]
Runs a scenario now and prints the id of the run. Exit status 73 where it is running already or a skill is missing.
  --ctx <key>=<value>   what the run is given; a value that is JSON counts as that; may be given several times`,
  'scenario status': `ingle scenario status <run> [--json]
How a run stands and its journal: each step with its time and end, what it waits for, why it failed.`,
  'scenario runs': `ingle scenario runs [<id>] [--json]
The last runs, the newest first; of one scenario where it is named.`,
  'scenario stop': `ingle scenario stop <run> [--json]
Ends a run in order: what it did is undone. Exit status 73 where it has ended.`,
  'scenario kill': `ingle scenario kill <run> [--json]
Ends a run at once. Nothing is undone.`,
  'scenario pause': `ingle scenario pause <run> [--json]
Lets a run begin nothing new. What it waits for goes on.`,
  'scenario resume': `ingle scenario resume <run> [--json]
Lets a paused run go on.`,
  'scenario on': `ingle scenario on <id> [--json]
Lets a scenario begin by itself, as its triggers say.`,
  'scenario off': `ingle scenario off <id> [--json]
Lets a scenario begin by itself no longer. It can still be run.`,
  'scenario set': `ingle scenario set <id> <param>=<value> [--json]
Sets a parameter. The value has the kind of the default: a text, a number, true or false, or a list as one,two or JSON.`,
  'scenario rehearse': `ingle scenario rehearse <id> [--ctx <key>=<value>]... [--json]
What a run would do, step by step, without doing it: every wait ends at once and every action works.
  --ctx <key>=<value>   what the run would be given`,
  'scenario week': `ingle scenario week [--json]
What begins by itself in the next seven days, by day, in local time.`,
  'scenario plan': `ingle scenario plan <id> --cron <table> | --at <time> [--zone <zone>] [--json]
Plans a scenario and prints the id of the job.
  --cron <table>   minutes, hours, days, months and days of the week: "0 8 * * 1-5"
  --at <time>      once: 2026-12-24T18:00, with Z or +01:00 for another zone, or 18:00 for the next time it is that
  --zone <zone>    the zone of a time table, as Europe/Berlin; without it the hub's own`,
  'scenario unplan': `ingle scenario unplan <job> [--json]
Takes back what was planned.`,
  'scenario dead': `ingle scenario dead [--json]
Runs that failed: id, scenario, when, at which step and why.`,
  'scenario replay': `ingle scenario replay <id> [--from <start | step>] [--json]
Runs a failed one again. Exit status 73 where it was run again already, or where something was undone and it cannot go
on from the step.
  --from <start | step>   from its start (default), or from the step that failed`,
  'scenario discard': `ingle scenario discard <id> [--json]
Forgets a run that failed.`,
  'scenario say': `ingle scenario say <text> [--json]
Says what a text means, as if it was said to the hub, and starts the scenario of it. Exit status 66 where nothing
understands it.`,
  'scenario check': `ingle scenario check <file> [--json]
Checks a scenario.yaml with all that it includes from its folder; says line and column of every fault. Exit status 64
where there is one. Needs no hub.`,
  'scenario new': `ingle scenario new <folder> [--id <namespace/name>] [--from <file>] [--json]
Writes scenario.yaml and README.md of a scenario of your own into a folder. Replaces nothing. Needs no hub.
  --id <namespace/name>   what it is called; my/<folder> where it is left out
  --from <file>           another scenario.yaml as its template, with its includes put in`,
  'scenario pack': `ingle scenario pack <folder> [--key <file>] [--out <file>] [--json]
Checks scenario.yaml, puts its includes in and makes the package <id>-<version>.ingle-scenario of it and README.md.
  --key <file>   signs it with this key of "ingle skill key new"; hubs take unsigned ones in developer mode only
  --out <file>   where it is written; only another package is replaced`,
  'scenario install': `ingle scenario install <file> [--json]
Sends a package to the hub, which checks and uses it. What people changed of the version before is carried over.`,
  'scenario versions': `ingle scenario versions <id> [--json]
The versions of a scenario that are on the hub, which of them is used, and what another one would make of what people
changed.`,
  'scenario use': `ingle scenario use <id> <version> [--yes] [--json]
Uses another version that is on the hub. What people changed is carried over. Exit status 73, with nothing done, where
something of it does not fit.
  --yes   use it even so; whoever goes back before changing anything has what they had`,
  'scenario rollback': `ingle scenario rollback <id> [--yes] [--json]
Goes back to the version before the one that is used. Exit status 73 where none is there, or where something that people
changed does not fit.
  --yes   go back even so`,
  'scenario update': `ingle scenario update [--json]
Uses the newest version on the hub of every scenario. What people changed is carried over; "ingle scenario list" says
what does not fit.`,
  'scenario remove': `ingle scenario remove <id> [--json]
Takes the installed versions of a scenario away. Where the image has one, that is used again.`,
  doctor: `ingle doctor [--json]
Looks at services, root, clock, disk, slots and updates, sound, Wi-Fi, Bluetooth, certificates and databases, and says
what is wrong and what to do. Works on a hub that is down. Run it as root on a hub, so that it may look everywhere.
Marks: ok, - (not here), ! (worth a look), !!! (wrong). Exit status 69 when something is wrong.`,
  health: `ingle health [--wait <seconds>] [--commit] [--json]
Whether this version is well: services answer, none failed, root is reached or never was, sound and Wi-Fi answer.
  --wait <seconds>   look again until it is well or the time is over
  --commit           keep this version (a trial boot after an update); the boot loader counts its tries no more
Exit status 69 when it is not well.`,
  selftest: `ingle selftest [--json]
Exercises what the device file says the device has: radios, speaker and microphone, storage, clock, label. Prints
PASS- and four characters of this device and version, or FAIL- with the codes of what failed; see image/README.md.`,
  licences: `ingle licences [--json]
Prints the licences of Ingle and of the npm packages in it. Those of Debian's packages are in
/usr/share/doc/<package>/copyright.`,
  'journal export': `ingle journal export <folder | usb> [--json]
Writes the journal, the doctor's findings and what runs into a new folder, without passwords, PINs, tokens and keys.
"usb" takes the first USB stick (FAT, exFAT or ext4); it needs root.`,
  technician: `ingle technician [--export]
Answers what the console has asked for. systemd starts it (ingle-technician.path, ingle-export.path).`,
  rescue: `ingle rescue
The menu of a hub that was started by its rescue entry: check, logs, the other version, factory reset, and a shell
behind the console secret. systemd starts it on each terminal (rescue.service).`,
  help: 'ingle help [command]',
} as const;

const ru: Record<keyof typeof en, string> = {
  top: `ingle <команда> [параметры]    команда владельца для этого хаба

  init                    зарегистрировать хаб на root: владелец, подсеть, хаб
  login [--new-passkey]   открыть код подключения и ждать браузер
  hub serve               держать связь хаба с root в этом терминале
  hub stop                завершить работу хаба по порядку
  hub restart             завершить и запустить заново
  status                  состояние хаба
  browsers list           подключённые браузеры
  browsers forget <id>    отключить браузер и закрыть его каналы
  browsers rename <id> <имя>    дать браузеру другое имя
  account login           вход этой командной строки в службу; впускаете вы в браузере
  account logout          завершить её вход
  account sign-ins list   вошедшие браузеры и командные строки
  account sign-ins rename <id> <имя>   дать входу имя
  account sign-ins revoke <id>   сразу завершить вход браузера или командной строки
  account passkeys list   ваши ключи доступа и ключи гостей
  account passkeys rename <id> <имя>   дать ключу имя
  account passkeys remove <id>   удалить ключ и завершить его входы
  account hubs list       ваши хабы, какими их знает служба
  account hubs rename <id> <имя>   дать хабу имя в службе
  account trail           что происходило с учётной записью, сначала новое
  account trail export    всё это строками JSON
  people list             кого вы пригласили
  people invite <имя>     пригласить человека с его собственным ключом доступа
  people change <id>      другое имя, роль или срок
  people remove <id>      удалить человека и всё, что было его
  subnet invite           код для другого вашего хаба
  subnet join <приглашение>   сделать этот хаб участником подсети другого
  subnet nodes            хабы подсети и кто пропал
  subnet remove <id>      исключить участника
  subnet leave            снова быть самому по себе
  api token rotate        новый ключ локального API
  api call <метод> <путь>    всё остальное, что умеет хаб: его локальный API
  say <текст>             произнести текст
  voice listen            слушать у хаба и сделать, что скажут
  voice stop              больше не слушать и не говорить
  voice phrase <on|off>   включить или выключить пробуждение по фразе
  voice status            слушает или говорит ли хаб и чего нельзя сказать
  hook new <имя> <тема>     вебхук для внешней программы
  hook list               вебхуки: когда сработали и кому отказали
  hook remove <id>        убрать вебхук
  hook rotate <id>        новый секрет вебхука
  mcp on                  разрешить программам то, что предлагают навыки, по MCP
  mcp off                 больше не разрешать
  mcp status              можно ли им, что им можно и как подключить
  desktop show            какие навыки на рабочем столе, для кого, и как он выглядит
  desktop set <файл>      задать другой документ рабочего стола
  desktop reset           вернуться к документу образа
  key rotate              новый ключ хаба; подключённые браузеры перейдут на него
  setup status            на каком шаге первая настройка
  setup restart           начать настройку заново; настроенное остаётся, пока не заменено
  setup finish            закончить настройку без недостающего
  update status           какая версия работает и что с обновлением
  update check            спросить сервер обновлений
  update install          установить предложенное, файл или с USB-накопителя
  update restart          перезапустить хаб с установленной версией
  update rollback         вернуть прежнюю версию
  skill new <имя>         папка с новым навыком, который собирается и проверяется
  skill build <папка>     собрать навык
  skill test <папка>      запустить проверки навыка, без хаба
  skill dev <папка>       запустить навык в хабе из npm start, заново при сохранении
  ui preview <файл>       показать документ экрана таким, каким его увидят
  ui reference            записать страницу обо всех компонентах экрана, с примерами
  skill key new <файл>    ключ издателя, которым подписывают пакеты навыков
  skill key show <файл>   номер ключа и открытый ключ
  skill pack <папка>      папка навыка одним файлом
  skill sign <файл>       подписать пакет
  skill show <файл>       проверить пакет и сказать, что в нём
  skill install <файл>    посмотреть пакет, согласиться и установить на хаб
  skill update <файл>     то же для новой версии того, что есть
  skill list              что есть на хабе и почему что-то не работает
  skill activate <id> <версия>   установить версию, что лежит наготове
  skill discard <id> <версия>    убрать версию, которая не используется
  skill rollback <id>     вернуться к прежней версии
  skill remove <id>       удалить навык со всем, что он хранит
  skill logs <id>         что навык записал в журнал
  skill publishers        чьим пакетам есть доверие
  skill trust <ключ>      доверять ключу издателя
  skill revoke <ключ>     никогда больше не принимать подписанного ключом
  skill developer <on|off>   принимать пакеты без подписи или больше нет
  scenario list           сценарии хаба: начинаются ли сами и когда в следующий раз
  scenario run <id>       запустить сценарий сейчас
  scenario status <запуск>   как идёт запуск, по шагам
  scenario runs [id]      что запускалось, новые сначала
  scenario stop <запуск>  остановить по порядку: сделанное отменяется
  scenario kill <запуск>  прервать сразу; ничего не отменяется
  scenario pause <запуск>   не начинать в запуске нового
  scenario resume <запуск>  продолжить запуск
  scenario on <id>        пусть сценарий начинается сам
  scenario off <id>       пусть больше не начинается сам
  scenario set <id> <параметр>=<значение>   задать параметр
  scenario rehearse <id>  что сделал бы запуск, ничего не делая
  scenario week           что начнётся само в ближайшие семь дней
  scenario plan <id>      назначить время, один раз или по расписанию
  scenario unplan <задание>   отменить это
  scenario dead           неудавшиеся запуски
  scenario replay <id>    повторить неудавшийся
  scenario discard <id>   отпустить неудавшийся
  scenario say <текст>    что значит текст и какой сценарий он запускает
  scenario check <файл>   проверить scenario.yaml: строка и столбец каждой ошибки
  scenario new <папка>    начать свой сценарий
  scenario pack <папка>   папка сценария одним файлом
  scenario install <файл>   установить пакет на хаб
  scenario versions <id>  его версии на хабе и что другая изменит для людей
  scenario use <id> <версия>   перейти на другую версию
  scenario rollback <id>  вернуться к предыдущей версии
  scenario update         перейти на новейшую версию каждого сценария
  scenario remove <id>    убрать установленное
  doctor                  осмотреть всё: что не так и что делать
  health                  в порядке ли эта версия
  selftest                заводская проверка радио, звука и памяти
  licences                лицензии того, что есть в этом образе
  journal export <куда>   журналы без секретов: папка или "usb"
  completion <оболочка>   дополнение команд для bash, zsh или fish
  help [команда]          эта справка или справка команды

  --json                  по объекту JSON в строке на stdout; ошибка одним объектом на stderr
  --version               версия
Код возврата: 0 готово, 64 неверный вызов, 66 не найдено, 69 недоступно, 70 сбой, 73 конфликт, 75 повторите, 77 отказ.`,
  init: `ingle init [--yes --owner-id <id> --subnet-id <id> --hub-id <id> --app-url <url>] [--json]
Создаёт ключи хаба, если их нет, и регистрирует его на root. Печатает owner_id, subnet_id, hub_id, где лежат ключи и
до какого срока действует сертификат. Если хаб уже зарегистрирован, печатает то, что есть.
Если root предлагает другого владельца или другое приложение, сообщает об этом и спрашивает: при согласии все
подключённые браузеры и ключи доступа будут забыты. Код возврата 73, если ничего не изменено.
  --yes             согласиться без вопроса, для скриптов; только на то, что названо четырьмя параметрами
  --owner-id, --subnet-id, --hub-id <id>, --app-url <url>    на что вы согласны, как это напечатал "ingle init"`,
  login: `ingle login [--new-passkey] [--json]
Печатает страницу, код на 10 минут, ссылку и её QR-код; ждёт, пока браузер подключится.
  --new-passkey   разрешить новый ключ доступа, хотя у владельца он уже есть;
                  так возвращаются, когда все ключи потеряны`,
  'hub serve': `ingle hub serve [--root <url>] [--data <папка>] [--host <адрес>] [--port <n>] [--json]
Держит связь хаба с root в этом терминале; сообщает, когда хаб подключён и когда подключился браузер.
  --root <url>      адрес службы root
  --data <папка>    состояние хаба, запущенного из папки проекта, по умолчанию .ingle
  --host <адрес>    IP-адрес локального API, по умолчанию 127.0.0.1
  --port <n>        его порт; без него свободный, который остаётся тем же`,
  'hub stop': `ingle hub stop [--data <папка>] [--json]
Завершает хаб, запущенный "ingle hub serve" или "npm start": новое не начинается, начатое доводится до конца, потом
процессы завершаются; кто не успел, того прерывают. На готовом хабе это делает systemd по просьбе root.
  --data <папка>    состояние нужного хаба, по умолчанию .ingle здесь или в папке выше`,
  'hub restart': `ingle hub restart [--data <папка>] [--json]
Завершает процессы хаба, как "ingle hub stop", запускает их заново там же и ждёт, пока они ответят.
  --data <папка>    состояние нужного хаба, по умолчанию .ingle здесь или в папке выше`,
  status: `ingle status [--json]
Связь с root, хаб, подключённые браузеры и открытые каналы. Код возврата 69, пока root недоступен.`,
  'browsers list': `ingle browsers list [--json]
Подключённые браузеры: номер, название, когда подключён и когда был.`,
  'browsers forget': `ingle browsers forget <id> [--json]
Отключает браузер и сразу закрывает его каналы.`,
  'browsers rename': `ingle browsers rename <id> <имя> [--json]
Даёт браузеру другое имя в списке, не длиннее 64 знаков.`,
  'account login': `ingle account login [--root <url>] [--name <имя>] [--json]
Вход этой командной строки в службу на час, чтобы смотреть и менять то, что служба хранит о вашей учётной записи.
Покажет код: введите его на странице «Доступ» в браузере, где выполнен вход, посмотрите, кто просит, и разрешите ключом
доступа. Ни к одному хабу это не ведёт и никого больше не впускает. Впускайте только то, что сами сейчас запустили.
  --root <url>     служба; без него та, с которой настроен здешний хаб
  --name <имя>     как командная строка там называется; без него имя этого компьютера`,
  'account logout': `ingle account logout [--json]
Завершает вход этой командной строки и удаляет то, что о нём хранилось.`,
  'account sign-ins list': `ingle account sign-ins list [--json]
Вошедшие браузеры и командные строки: номер, имя, когда были на связи и начало адреса сети.`,
  'account sign-ins rename': `ingle account sign-ins rename <id> <имя> [--json]
Даёт входу имя не длиннее 64 знаков.`,
  'account sign-ins revoke': `ingle account sign-ins revoke <id> [--json]
Сразу завершает вход браузера или командной строки. Ключ доступа браузера останется, и с ним можно войти снова.`,
  'account passkeys list': `ingle account passkeys list [--json]
Ваши ключи доступа и ключи гостей: номер, имя и когда использован.`,
  'account passkeys rename': `ingle account passkeys rename <id> <имя> [--json]
Даёт ключу имя не длиннее 64 знаков.`,
  'account passkeys remove': `ingle account passkeys remove <id> [--json]
Удаляет ключ: все, кто вошёл с ним, сразу теряют доступ, и командная строка тоже. С последним ключом завершаются все
входы, и чтобы вернуться, нужен новый код от хаба.`,
  'account hubs list': `ingle account hubs list [--json]
Ваши хабы, какими их знает служба: номер, имя, на связи ли, когда был и до какого дня действует сертификат.`,
  'account hubs rename': `ingle account hubs rename <id> <имя> [--json]
Даёт хабу имя в службе не длиннее 64 знаков.`,
  'account trail': `ingle account trail [--json]
Последние сто событий вашей учётной записи, сначала новые: что, кем и из какой сети.`,
  'account trail export': `ingle account trail export [--json]
Всё, что хранит служба: последние 1000 событий не старше года, строками JSON, сначала старые.`,
  'people list': `ingle people list [--json]
Кого вы пригласили: номер, имя, роль, когда кончается срок, браузеры и когда человек был.`,
  'people invite': `ingle people invite <имя | id> [--role <роль>] [--until <когда>] [--json]
Добавляет человека и печатает ссылку и код для его браузера, они действуют десять минут. Ключ доступа человек создаёт
свой. С номером того, кто уже есть: новый код для него или для ещё одного браузера.
  --role <роль>    что ему можно: admin, adult, kid или guest (по умолчанию)
  --until <когда>  когда кончается срок: 2026-12-31, 2026-12-31T18:00, 12h, 3d или never (по умолчанию)`,
  'people change': `ingle people change <id> [--name <имя>] [--role <роль>] [--until <когда>] [--json]
Меняет сразу и везде. Что не названо, остаётся.
  --name <имя>     как его зовут
  --role <роль>    admin, adult, kid или guest
  --until <когда>  как в "ingle people invite"; прошедшее время завершает доступ сейчас`,
  'people remove': `ingle people remove <id> [--json]
Сразу завершает доступ и забывает браузеры, ключи доступа, документы, закреплённое и порядок.`,
  'subnet invite': `ingle subnet invite [--json]
Печатает код и ссылку для другого хаба: на 10 минут и для одного. Тот хаб станет участником подсети этого и получит
его владельца. Открытый код подключения закрывается.`,
  'subnet join': `ingle subnet join <приглашение> [--yes] [--json]
Делает этот хаб участником подсети того, чьё это приглашение: ссылка или двенадцать цифр. Хабы доказывают друг другу,
кто они, через зашифрованный канал; затем у этого тот же владелец. Допущенные сюда браузеры и люди будут забыты;
перед этим он спросит.
  --yes   не спрашивать, для сценариев`,
  'subnet nodes': `ingle subnet nodes [--json]
Участники подсети: id, имя, на связи или пропал и с какого времени. Участник говорит, кто ведёт подсеть.`,
  'subnet remove': `ingle subnet remove <id> [--json]
Исключает участника: его канал закрывается сразу. Он узнает об этом, сейчас или когда вернётся, и снова будет сам по
себе.`,
  'subnet leave': `ingle subnet leave [--json]
Выходит из подсети. Хаб снова сам по себе, как до неё, и забывает, кто был допущен.`,
  'api token rotate': `ingle api token rotate [--json]
Делает новый ключ локального API; старый больше не принимается. Сам ключ не печатается.`,
  'api call': `ingle api call <метод> <путь> [--query <имя=значение>]... [--body <файл | ->] [--json]
Обращается к локальному API хаба от имени того, кто у хаба, с его ключом, и печатает ответ. Поток событий печатается
по событию в строке, до Ctrl-C. Что там есть: ingle api call GET /api/openapi.json
  --query <имя=значение>   то, что стоит в пути после "?"; можно указать несколько раз
  --body <файл | ->        файл с тем, что отправить, для большинства путей объект JSON; "-" читает стандартный ввод`,
  say: `ingle say <текст> [--lang <en | ru>] [--json]
Произносит текст до 500 знаков через лучший выход.
  --lang <en | ru>   его язык; без него — язык хаба`,
  'voice listen': `ingle voice listen [--lang <en | ru>] [--json]
Будит хаб, как нажатие: он слушает восемь секунд, запускает сценарий по сказанному и печатает, что понял. Говорите
то, что понимают правила; ответ умолкает, когда вы говорите.
  --lang <en | ru>   язык речи; без него язык хаба`,
  'voice stop': `ingle voice stop [--json]
Хаб больше не слушает и не говорит. То, что запущено, продолжается.`,
  'voice phrase': `ingle voice phrase <on | off> [--json]
Просыпается ли хаб от своей фразы, как от нажатия: произнесите её, дождитесь сигнала и говорите. Пока это включено,
микрофон открыт; услышанное хаб сам сравнивает с фразой и забывает. Фраза задана как «speech.wake» в
/etc/ingle/config.json; её показывает «ingle voice status».`,
  'voice status': `ingle voice status [--lang <en | ru>] [--json]
Печатает, слушает или говорит ли хаб, какие образцы правил нельзя сказать вслух и какие слова его распознаватель не
может произнести.
  --lang <en | ru>   язык речи; без него язык хаба`,
  'hook new': `ingle hook new <имя> <тема> [--json]
Создаёт вебхук и печатает его путь и секрет, который показан один раз. Сообщения приходят событиями темы, которая
начинается с «external.». Отправитель подписывает их по Standard Webhooks.`,
  'hook list': `ingle hook list [--json]
Вебхуки без секретов: когда каждый сработал и почему сообщению отказали в последний раз.`,
  'hook remove': `ingle hook remove <id> [--json]
Убирает вебхук; с этой минуты его сообщения не принимаются.`,
  'hook rotate': `ingle hook rotate <id> [--json]
Создаёт новый секрет вебхука и печатает его один раз; старый с этой минуты не действует.`,
  'mcp on': `ingle mcp on [--json]
Разрешает программам действия навыков по MCP (Model Context Protocol, streamable HTTP), печатает адрес и где лежит ключ.
Программа с ключом действует как тот, кто у хаба; если она называет человека, ей можно то, что можно ему.`,
  'mcp off': `ingle mcp off [--json]
Сразу отклоняет новые вызовы программ; начатый вызов завершится. Остальной локальный API ключ открывает и дальше: новый
делает "ingle api token rotate".`,
  'mcp status': `ingle mcp status [--json]
Печатает, можно ли программам пользоваться действиями навыков и какие это действия; если можно, то и как подключить
программу.`,
  'desktop show': `ingle desktop show [--json]
Печатает документ рабочего стола с его etag и навыки, которые в нём названы, но на хабе их нет. Такой файл берёт
«ingle desktop set».`,
  'desktop set': `ingle desktop set <файл> [--json]
Задаёт документ рабочего стола; все столы меняются сразу. Файл тот, что напечатал «ingle desktop show», с изменениями в
"document": если за это время задали другой, он не принимается. Документ сам по себе, без etag, заменяет любой.
Его схема: dist/schemas/desktop.json.`,
  'desktop reset': `ingle desktop reset [--json]
Возвращает документ образа.`,
  completion: `ingle completion <оболочка> [--json]
Печатает скрипт, по которому bash, zsh или fish дополняют то, что набрано после "ingle". Чтобы включить:
  bash   ingle completion bash > ~/.local/share/bash-completion/completions/ingle
  zsh    ingle completion zsh > папка из $fpath, под именем _ingle
  fish   ingle completion fish > ~/.config/fish/completions/ingle.fish`,
  'key rotate': `ingle key rotate [--json]
Делает новый ключ хаба, подписанный его ключом личности. Подключённые браузеры перейдут на него; hub_id остаётся.`,
  'setup status': `ingle setup status [--json]
Шаг настройки, открытые каналы, сеть, выбранные звуковые устройства и последняя неполадка.`,
  'setup restart': `ingle setup restart [--json]
Начинает первую настройку заново с проверки звука и открывает её каналы. Ничего не забывается.`,
  'setup finish': `ingle setup finish [--json]
Заканчивает настройку без недостающего (нужна сеть). Код возврата 73, если заканчивать нечего.`,
  'update status': `ingle update status [--json]
Какая версия работает и в каком слоте, что предложено, как идёт обновление и чем кончилось последнее.`,
  'update check': `ingle update check [--channel <имя>] [--json]
Спрашивает сервер обновлений. Канал (stable, beta, ...) запоминается.`,
  'update install': `ingle update install [--source <что>] [--restart now|night] [--json]
Устанавливает в слот, который не работает, и следит до конца. Без --restart ждёт перезапуска.
  --source <что>    ничего: предложенная версия; stream: она же без загрузки на диск; адрес https; полный путь
                    файла .raucb; или usb`,
  'update restart': `ingle update restart [--night] [--json]
Перезапускает хаб с установленной версией, сейчас или с 03:00 до 05:00. Если она не заработает, хаб вернётся.`,
  'update rollback': `ingle update rollback [--json]
Возвращает версию из другого слота и перезапускает. Установленное, но не запущенное откладывается.`,
  'skill new': `ingle skill new <имя> [--json]
Создаёт папку <имя> с навыком на TypeScript: манифест, код, тексты, проверка. Папка, которая уже есть, не тронута.`,
  'skill build': `ingle skill build <папка> [--json]
Проверяет манифест и собирает skill.ts со всем, что он импортирует: <папка>/dist берёт "ingle skill pack".`,
  'skill test': `ingle skill test <папка> [--json]
Собирает файлы *.test.ts из папки и запускает их средствами Node. Хаб им не нужен (@ingle/skill-sdk/test).`,
  'skill dev': `ingle skill dev <папка> [--json]
Запускает навык в хабе из "npm start" поблизости, в режиме разработчика: это видно в названии, подписи нет. При каждом
сохранении собирает и запускает его заново. Новому навыку нужен один перезапуск хаба. Работает до Ctrl+C.`,
  'ui preview': `ingle ui preview <файл> [--port <n>] [--json]
Показывает документ экрана в браузере: на телефоне и на компьютере, в светлой и тёмной теме, с тем, что нужно исправить,
и рисует заново при каждом сохранении. Файл *.json или *.yaml — ui/v0, USDL, UMF или A2UI, *.md — ULM, *.jsonl —
сообщения A2UI. Рядом с screen.json файл screen.state.json хранит состояние навыка. Хабу ничего не отправляется.
  --port <n>   порт страницы на этом компьютере; без него — свободный`,
  'ui reference': `ingle ui reference [--out <папка>] [--json]
Записывает index.html — справочник всего, из чего может состоять экран навыка: каждая часть ui/v0, USDL и ULM со
свойствами, пределами и работающим примером. Страница — один файл и ни к кому не обращается.
  --out <папка>   куда записать; без него — dist/reference`,
  'skill key new': `ingle skill key new <файл> [--json]
Делает ключ издателя (Ed25519, PKCS#8 в PEM), который читает только владелец файла. Существующий файл не меняется.`,
  'skill key show': `ingle skill key show <файл> [--json]
Печатает номер ключа и открытый ключ, который владелец хаба вносит в список доверенных.`,
  'skill pack': `ingle skill pack <папка> [--key <файл>] [--out <файл>] [--json]
Проверяет собранный навык (dist/skills/<id>) и делает из него пакет <id>-<версия>.ingle-skill.
  --key <файл>   подписать этим ключом; пакет без подписи хаб примет только в режиме разработчика
  --out <файл>   куда записать; заменяется только другой пакет`,
  'skill sign': `ingle skill sign <файл> --key <файл> [--out <файл>] [--json]
Проверяет пакет и записывает его с вашей подписью.`,
  'skill show': `ingle skill show <файл> [--json]
Проверяет подпись и каждый файл; печатает версию, издателя, доверяет ли ему хаб, файлы и что навыку можно.
Код выхода 64, если пакет испорчен, 65, если слишком велик, 77, если подпись неверна или издатель не тот.`,
  'skill install': `ingle skill install <файл> [--yes] [--json]
Передаёт пакет хабу, тот его проверяет; говорит, чей он и что навыку можно, и спрашивает согласия. Следит за проверкой до
конца: версия, которая не запустилась, уступает место прежней.
  --yes   установить без вопроса, для скриптов`,
  'skill update': `ingle skill update <файл> [--yes] [--json]
Как "ingle skill install", для навыка, который уже есть: говорит, с какой версии на какую. Его состояние остаётся.
  --yes   обновить без вопроса, для скриптов`,
  'skill list': `ingle skill list [--json]
Все навыки: версия, издатель и состояние; что лежит наготове и почему последняя проверенная версия не используется.`,
  'skill activate': `ingle skill activate <id> <версия> [--json]
Начинает проверку версии, что лежит наготове, и следит за ней до конца.`,
  'skill discard': `ingle skill discard <id> <версия> [--json]
Убирает версию, которая не используется.`,
  'skill rollback': `ingle skill rollback <id> [--json]
Возвращается к прежней версии; состояние навыка остаётся.`,
  'skill remove': `ingle skill remove <id> [--yes] [--json]
Удаляет навык со всеми версиями, всем, что он хранит, его документами и местом на столе. Сначала спрашивает.
  --yes   удалить без вопроса, для скриптов`,
  'skill logs': `ingle skill logs <id> [--json]
Последние записи процесса навыка, старые сначала, без секретов.`,
  'skill publishers': `ingle skill publishers [--json]
Чьим пакетам есть доверие, для каких навыков, и какие ключи отозваны.`,
  'skill trust': `ingle skill trust <ключ> --name <имя> [--ids <список>] [--json]
Доверяет открытому ключу издателя. Сначала сравните его номер с тем, что издатель сообщил вам другим путём.
  --name <имя>     как вы зовёте издателя
  --ids <список>   какие навыки он может выпускать, через запятую; "acme_*" значит любые с таким началом; без этого любые`,
  'skill revoke': `ingle skill revoke <ключ> [--json]
Отзывает ключ навсегда. Установленное работает, пока его не удалят.`,
  'skill developer': `ingle skill developer <on|off> [--json]
В режиме разработчика принимаются пакеты без подписи. Установленное так помечено навсегда.`,
  'scenario list': `ingle scenario list [--json]
Все сценарии хаба: начинаются ли сами, имя и версия, когда в следующий раз, каких навыков не хватает и что новая версия
оставила решить.`,
  'scenario run': `ingle scenario run <id> [--ctx <имя>=<значение>]... [--json]
Запускает сценарий сейчас и печатает id запуска. Код возврата 73, если он уже выполняется или не хватает навыка.
  --ctx <имя>=<значение>   что дать запуску; JSON понимается как JSON; можно указать несколько раз`,
  'scenario status': `ingle scenario status <запуск> [--json]
Как идёт запуск и его журнал: каждый шаг с временем и исходом, чего он ждёт, почему не удался.`,
  'scenario runs': `ingle scenario runs [<id>] [--json]
Последние запуски, новые сначала; одного сценария, если он назван.`,
  'scenario stop': `ingle scenario stop <запуск> [--json]
Останавливает по порядку: сделанное отменяется. Код возврата 73, если запуск уже закончен.`,
  'scenario kill': `ingle scenario kill <запуск> [--json]
Прерывает сразу. Ничего не отменяется.`,
  'scenario pause': `ingle scenario pause <запуск> [--json]
Запуск не начинает нового. То, чего он ждёт, идёт дальше.`,
  'scenario resume': `ingle scenario resume <запуск> [--json]
Продолжает запуск, который на паузе.`,
  'scenario on': `ingle scenario on <id> [--json]
Сценарий начинается сам, как говорят его условия.`,
  'scenario off': `ingle scenario off <id> [--json]
Сценарий больше не начинается сам. Запустить его можно по-прежнему.`,
  'scenario set': `ingle scenario set <id> <параметр>=<значение> [--json]
Задаёт параметр. Значение того же рода, что изначальное: текст, число, true или false, список как one,two или JSON.`,
  'scenario rehearse': `ingle scenario rehearse <id> [--ctx <имя>=<значение>]... [--json]
Что сделал бы запуск, по шагам, ничего не делая: ожидания кончаются сразу, действия удаются.
  --ctx <имя>=<значение>   что было бы дано запуску`,
  'scenario week': `ingle scenario week [--json]
Что начнётся само в ближайшие семь дней, по дням, по местному времени.`,
  'scenario plan': `ingle scenario plan <id> --cron <расписание> | --at <время> [--zone <пояс>] [--json]
Назначает время сценарию и печатает id задания.
  --cron <расписание>   минуты, часы, дни, месяцы и дни недели: "0 8 * * 1-5"
  --at <время>          один раз: 2026-12-24T18:00, с Z или +01:00 для другого пояса, или 18:00 — ближайшее
  --zone <пояс>         пояс расписания, как Europe/Berlin; без него — хаба`,
  'scenario unplan': `ingle scenario unplan <задание> [--json]
Отменяет назначенное.`,
  'scenario dead': `ingle scenario dead [--json]
Неудавшиеся запуски: id, сценарий, когда, на каком шаге и почему.`,
  'scenario replay': `ingle scenario replay <id> [--from <start | step>] [--json]
Повторяет неудавшийся запуск. Код возврата 73, если его уже повторили или часть отменена и с шага не продолжить.
  --from <start | step>   с начала (по умолчанию) или с неудавшегося шага`,
  'scenario discard': `ingle scenario discard <id> [--json]
Забывает неудавшийся запуск.`,
  'scenario say': `ingle scenario say <текст> [--json]
Говорит, что значит текст, как если бы его сказали хабу, и запускает его сценарий. Код возврата 66, если текст ничему
не соответствует.`,
  'scenario check': `ingle scenario check <файл> [--json]
Проверяет scenario.yaml со всем, что он включает из своей папки; называет строку и столбец каждой ошибки. Код возврата
64, если ошибка есть. Хаб не нужен.`,
  'scenario new': `ingle scenario new <папка> [--id <пространство/имя>] [--from <файл>] [--json]
Записывает в папку scenario.yaml и README.md своего сценария. Ничего не заменяет. Хаб не нужен.
  --id <пространство/имя>   как он называется; без этого my/<папка>
  --from <файл>             другой scenario.yaml как шаблон, включения вставляются`,
  'scenario pack': `ingle scenario pack <папка> [--key <файл>] [--out <файл>] [--json]
Проверяет scenario.yaml, вставляет включения и делает из него и README.md пакет <id>-<версия>.ingle-scenario.
  --key <файл>   подписать этим ключом от "ingle skill key new"; без подписи хаб примет только в режиме разработчика
  --out <файл>   куда записать; заменяется только другой пакет`,
  'scenario install': `ingle scenario install <файл> [--json]
Передаёт пакет хабу, тот проверяет и использует его. Изменённое людьми в прежней версии переносится.`,
  'scenario versions': `ingle scenario versions <id> [--json]
Версии сценария на хабе, какая из них используется и что другая сделает с изменённым людьми.`,
  'scenario use': `ingle scenario use <id> <версия> [--yes] [--json]
Переходит на другую версию, которая есть на хабе. Изменённое людьми переносится. Код возврата 73, и ничего не сделано,
если что-то из этого не подходит.
  --yes   всё равно перейти; кто вернётся, ничего не меняя, получит прежнее`,
  'scenario rollback': `ingle scenario rollback <id> [--yes] [--json]
Возвращается к версии перед используемой. Код возврата 73, если её нет или изменённое людьми не подходит.
  --yes   всё равно вернуться`,
  'scenario update': `ingle scenario update [--json]
Переходит на новейшую версию каждого сценария. Изменённое людьми переносится; что не подходит, покажет
"ingle scenario list".`,
  'scenario remove': `ingle scenario remove <id> [--json]
Убирает установленные версии сценария. Если он есть в образе, снова используется тот.`,
  doctor: `ingle doctor [--json]
Осматривает службы, root, часы, диск, разделы и обновления, звук, Wi-Fi, Bluetooth, сертификаты и базы данных; говорит,
что не так и что делать. Работает и на лежащем хабе. На хабе запускайте от root, чтобы осмотреть всё.
Знаки: ok, - (здесь нет), ! (стоит взглянуть), !!! (неисправно). Код возврата 69, если что-то неисправно.`,
  health: `ingle health [--wait <секунды>] [--commit] [--json]
В порядке ли эта версия: службы отвечают, сбоев нет, root доступен или не был доступен никогда, звук и Wi-Fi отвечают.
  --wait <секунды>   проверять снова, пока не станет хорошо или не выйдет время
  --commit           оставить эту версию (пробный запуск после обновления); загрузчик больше не считает попыток
Код возврата 69, если не в порядке.`,
  selftest: `ingle selftest [--json]
Проверяет то, что есть у устройства по его описанию: радио, динамик и микрофон, память, часы, наклейку. Печатает
PASS- и четыре знака этого устройства и версии или FAIL- с кодами отказов; см. image/README.md.`,
  licences: `ingle licences [--json]
Печатает лицензии Ingle и пакетов npm в нём. Лицензии пакетов Debian лежат в
/usr/share/doc/<пакет>/copyright.`,
  'journal export': `ingle journal export <папка | usb> [--json]
Пишет журнал, выводы doctor и сведения о системе в новую папку, без паролей, пин-кодов, токенов и ключей.
"usb" берёт первую флешку (FAT, exFAT или ext4); нужны права root.`,
  technician: `ingle technician [--export]
Отвечает на просьбу консоли. Запускает systemd (ingle-technician.path, ingle-export.path).`,
  rescue: `ingle rescue
Меню хаба, запущенного записью восстановления: осмотр, журнал, другая версия, сброс и командная строка по секрету
консоли. На каждом терминале его запускает systemd (rescue.service).`,
  help: 'ingle help [команда]',
};

export const cliHelp: Texts<keyof typeof en> = { en, ru };
