// Package tools holds a node's tools as seed 000 names them: Bash, Process, Read, Write, Edit, Glob and Grep. Each is one file and one description
// written for a model. File tools go through a [workspace.Root]; previews name the place of keys and tokens that a path lies in, also within the workspace,
// and searches leave such places out unless they begin there. Commands run as the user who started the node, in a [sandbox.Box] as strong as
// the machine has one.
//
// Where seed 001 says something else than seed 000, seed 000 holds: a command is a line for the shell, not a program and its arguments, so that
// there is no limit for their number; Edit replaces text, it applies no patch; a command that fails is a result with its exit code, not an error;
// of a long output the end is kept, not the beginning; five minutes are the time of a command, not one, and a search has that of any call. Of seed
// 001 other things were decided otherwise on purpose: SIGTERM comes before SIGKILL, and what was printed until then is kept; a regular expression
// is sought by this program, so that no option of another can hide in it; files may be larger than 200 KB ([FileLimits]); network words
// ([sandbox.CheckTokens]) count only where the system cannot keep commands off the network, for they are no wall.
package tools
