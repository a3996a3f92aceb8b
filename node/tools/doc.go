// Package tools implements a node's tools: Bash, Process, Read, Write, Edit, Glob and Grep. Each
// has one source file and one description for the model. File tools access the disk through a
// [workspace.Root]. Previews name the location of keys and tokens that a path is in, even within
// the workspace, and searches skip such locations unless they start in one. Commands run as the
// user who started the node, in a [sandbox.Box] that is as strong as the machine permits.
//
// Names, arguments and results follow the original system (docs/protocol.md), whose documents
// disagree in places. Fairlead follows its nodes:
//
//   - A command is a line for the shell, not a program with a list of arguments.
//   - Edit replaces text; it does not apply patches.
//   - A command that fails is a result with its exit code, not an error.
//   - Long output is cut at the beginning; its end is retained.
//   - A command may run for five minutes; a search has the time limit of any call.
//
// On purpose, Fairlead differs from the original system as follows:
//
//   - SIGTERM comes before SIGKILL, and the output up to then is retained.
//   - Grep searches for regular expressions in this process, so no option can be smuggled into
//     another program.
//   - Files may be larger than 200 KB ([FileLimits]).
//   - Words that suggest the network ([sandbox.CheckTokens]) matter only where the system cannot
//     keep commands off the network, because they contain nothing.
package tools
