// Package policy judges a call by the person's rules: allow, ask or deny, with every part that was seen and why.
//
// A call gets the strictest verdict of its parts: deny beats ask beats allow, whatever the order or detail of the rules. What no rule names
// gets the default, which asks. Deny and ask rules match generously (whatever the folder of the program, whatever wraps it), allow rules
// match stingily (the bare name, decoded and static words, only options that the rule spells or
// that options.txt knows as harmless). Every error asks.
//
// A few things are asked about whatever the rules say: the floor. The package knows no store and no gateway; the same judgement is made
// by the gateway, by the node before it runs something, and by the command line.
//
// Files and folders are compared as they truly are: a rule and a call may each name one by another name that leads through a symbolic link
// ([Call.Aliases], which the machine tells of: its workspace, granted folders, home and the system's own links). A rule that asks or denies holds by
// every one of these names, one that allows for what truly lies where its pattern leads. Of links that no machine told of, only the paths of file tools
// are followed, by the machine.
//
// # Rules about files, and code that is not in the command
//
// A rule with a path holds for the files that a command names: by its words, redirects, options and the folders that it takes as a whole. What the
// words do not tell is what make, npm test, go generate, cargo build, pytest, docker exec or a script of the project open: that is code which no judge of
// commands can look into. About it, this is promised and no more:
//
//   - Where the machine's sandbox keeps commands from all that the rule is about ([Call.Sandbox], which holds only what was tried on that machine), the
//     rule holds for such code too, and the call is judged as if the rule were not there. [Judgement.Held] names these rules.
//   - Where nothing does, such code is never let pass because nothing names it (a default that allows, a chat that is trusted): it is asked about, and the
//     reason names the rule. A program that is not known counts as such code. [Judgement.Loose] names these rules.
//   - An allow that names the command stands: whoever allows make allows what make runs, with the files that it can reach. Loose says so at the question.
//
// Hooks and settings of git, start-up files and their like are taken for the person's own: they are no code of the project, and changing them is asked
// about whatever the rules say. Rules about commands (argv) are about the commands of the agent, not about those that a program starts by itself.
package policy
