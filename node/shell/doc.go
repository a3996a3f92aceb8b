// Package shell implements Bash and Process, which run commands and continue to control those in
// the background. Commands run as the user who started the node, in a [sandbox.Box] that is as
// strong as the machine permits.
//
// Names, arguments and results follow GSV (docs/protocol.md), whose documents disagree in places.
// Fairlead follows its nodes:
//
//   - A command is a line for the shell, not a program with a list of arguments.
//   - A command that fails is a result with its exit code, not an error.
//   - Long output is cut at the beginning; its end is retained.
//   - A command may run for five minutes unless the call says otherwise.
//
// On purpose, Fairlead differs from GSV as follows:
//
//   - SIGTERM comes before SIGKILL, and the output up to then is retained.
//   - Words that suggest the network matter only where the system cannot keep commands off it.
package shell
