// Package shell analyzes the text of a shell command: it returns every simple command anywhere in
// the text, with its words decoded, every file that it redirects to or from, every variable that it
// sets, and findings about parts that cannot be judged.
//
// It makes no decisions. It guarantees to its caller that an unmarked word is, character for
// character, the one that the shell would pass to the program, and that every command that would
// run is in the list, or else that a finding says that there may be more. If the parser is known to
// read a text differently from the shell (a backslash at the end of a line, a carriage return,
// invisible characters), there is a finding.
package shell
