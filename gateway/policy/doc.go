// Package policy decides about calls: the verdict is allow, ask or deny, with one reason that the
// command line, the windows and the journal show, and with every part of the call and its reason.
// [Set] holds the person's rules; [Policy] adds the settings, and decides with the chat's approval
// mode and permissions.
//
// A call gets the strictest verdict of its parts: deny wins over ask, and ask over allow, whatever
// the order or detail of the rules. A call that no rule matches gets the default, which asks. Deny
// and ask rules match broadly (the program in any folder and behind any wrapper). Allow rules match
// narrowly (the bare name, decoded and static words, and only options that the rule contains or
// that programs/options.txt lists as harmless). Every error asks.
//
// Some calls need an approval whatever the rules say: the floor. Besides, an allow that does not name
// a protected file covers only the programs that are known to read it: no table of the programs
// that write is complete. A direct action of the person
// needs none: only a rule that denies stops it. The package does not depend on the store or the
// gateway, so the gateway and the command line make the same decision.
//
// A word that only makes a program write a file, as in sort -o FILE and tee FILE, is covered by two
// rules together: one for the program with **, and one that allows writing the file. Where nothing
// hides secrets, a rule with ** for a program that shows files does not cover them (secretread.go).
//
// Where the machine contains commands ([Call.Contained]), the reader asks less: contained.go says
// about what.
//
// For the person, the parts of a command also say what is dangerous about them (programs/risks.txt)
// and what the machine's sandbox will stop. That decides nothing.
//
// A chat that allows changes or everything without asking does so for the messages of the person
// only. Others write to the same chat: strangers on a channel (in the main chat, as in GSV, unless
// session.dmScope separates them), jobs, and the agents of other chats. Their runs still need
// approvals.
//
// Files and folders are compared by their real location: a rule and a call may each use a name that
// leads through a symbolic link ([Call.Aliases], which the machine reports for its workspace,
// granted folders, home and the system's own links). An ask or deny rule applies to every one of
// these names; an allow rule applies to the real location of its pattern. Links that the machine
// did not report are followed only for the paths of file tools, by the machine.
//
// # Rules about files, and code that is not in the command
//
// A rule with a path applies to the files that a command names: in its words, redirects, options
// and the folders that it accesses as a whole. The words do not show which files make, npm test, go
// generate, cargo build, pytest, docker exec or a script of the project open, because the policy
// cannot analyze that code. For such code, the guarantees are exactly these:
//
//   - If the machine's sandbox prevents commands from accessing every file of the rule
//     ([Call.Sandbox], which lists only restrictions that were tested on that machine), the rule is
//     enforced for such code too, and the call is decided as if the rule did not exist.
//     [Decision.Enforced] names these rules.
//   - Otherwise such code is never allowed merely because no rule names it (by a default that
//     allows, or in a trusted chat): it needs an approval, and the reason names the rule. An unknown
//     program counts as such code. [Decision.Unenforced] names these rules.
//   - An allow rule for the command applies: a person who allows make allows everything that make
//     runs, with the files that it can access. The approval shows which rules are
//     not enforced.
//
// Hooks and settings of git, start-up files and the like count as the person's own, not as code of
// the project; changing them needs an approval whatever the rules say. The machine also keeps the
// commands that run from changing the existing ones; an answer lifts that for the files that its
// question named ([Decision.Lifts]).
//
// Rules about commands (argv) are applied to the words of the agent's command. Deny rules also go to
// the machine ([Decision.Rules]), which refuses these programs to everything that the command
// starts, and hides or protects the files of deny rules with a path that exist when it starts. What
// it creates at the path of such a rule about writing, if it has no wildcards, is set aside
// afterwards. That cannot stop another program that does the same, a copy of the program under
// another name, or a process whose second thread changes the arguments after the check; and rules
// for one folder (cwd) are not included.
package policy
