// Package shell takes a command's text apart into what it would run: every simple command anywhere in it, with its words decoded, every
// file it redirects to or from, every variable it sets, and what it holds that cannot be judged.
//
// It decides nothing. Its promise to whoever does: a word that is not marked is, character for character, what the named shell would hand
// to the program; a command that would run is in the list, or a finding says that there may be more. Where the parser is known to read a
// text differently from the shell (a backslash at a line's end, a carriage return, characters that do not show), there is a finding.
package shell
