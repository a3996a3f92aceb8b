// Package shell analyzes the text of a shell command: it returns every simple command anywhere in
// the text, with its words decoded, every file that it redirects to or from, every variable that it
// sets, and findings about parts that cannot be judged.
//
// It makes no decisions. It guarantees to its caller that an unmarked word is, character for
// character, the one that the shell would pass to the program, and that every command that would
// run is in the list, or else that a finding says that there may be more. The one exception is a
// variable that mktemp has set: its value is [Temporary], followed by what the text appends. If the
// parser is known to read a text differently from the shell (a backslash at the end of a line, a
// carriage return, invisible characters), there is a finding.
package shell

import "strings"

// Kind is the shell that will run a text. The analysis for one is not valid for another.
type Kind string

// The shells that can be analyzed.
const (
	Bash  Kind = "bash"
	POSIX Kind = "sh"
	Zsh   Kind = "zsh"
)

// Facts are the effects of a text when a shell runs it.
type Facts struct {
	Kind      Kind
	Commands  []Command // in the order of the text; a command is followed by those that it starts
	Redirects []Redirect
	Assigns   []Assign
	Findings  []Finding
	Texts     []Word // the words that are in no command: items of loops, and here-strings
	Invalid   bool   // a part cannot be parsed
	// Last are the folders that are possible at the end.
	Last Folders
}

// Command is one simple command, or one that another command starts.
type Command struct {
	Words []Word // the program and its arguments; never empty
	Text  string // as written
	// From and To delimit Text in the analyzed text, in bytes; To is 0 if it is not there literally.
	From, To int
	// its context: "" at the top level, or such as "substitution", "function" or "here-document"
	Origin string
	Parent int    // index of the command that starts it, -1 for none
	Via    string // name of the wrapper that starts it
	// WordIndex is the index of the command in its parent's words, 0 if not their unchanged tail.
	WordIndex int
	Stdin     *Word // its input, if it is in the text
	Piped     bool  // its input comes from another command
	Loop      bool  // it may run more than once
	// Starts means that the command was seen to start another one, or a text for a shell.
	Starts bool
	// Guess marks a reading that the shell may not share: it may be used to deny, but not to allow.
	Guess bool
	// Folder is where it runs; for one that another command starts, where that one does.
	Folder Folder
	// Possible are all folders in which it, or the one that starts it, may run.
	Possible Folders
}

// Name returns the program as written, or "" if only the running shell knows it.
func (c Command) Name() string {
	if c.Words[0].Dynamic {
		return ""
	}
	return c.Words[0].Text
}

// Word is one word after the shell's own processing, as far as that can be known.
type Word struct {
	Text      string // decoded; as written if Dynamic
	Dynamic   bool   // only the running shell knows it; it may become several words or none
	Glob      bool   // a pattern that the shell replaces by the matching files
	Tilde     bool   // starts with the home folder
	Ambiguous bool   // decoded, but shells differ about it

	value string // see Value; only if Dynamic
}

// Value returns the word with the variables to which the text itself certainly gives a path; empty if
// it is not known.
func (w Word) Value() string {
	if w.Dynamic {
		return w.value
	}
	return w.Text
}

// Path returns the path that a word names: its value, in which a ~ at the start means the home
// folder. It is empty if the word is not known, or names the home of another user.
func (w Word) Path() string {
	text := w.Value()
	if strings.HasPrefix(text, "~") {
		switch isHome := text == "~" || strings.HasPrefix(text, "~/"); {
		case w.Tilde && !isHome:
			return ""
		case !w.Tilde:
			return "./" + text
		}
	}
	return text
}

// Plain reports whether the program gets exactly Text.
func (w Word) Plain() bool { return !w.Dynamic && !w.Glob && !w.Tilde && !w.Ambiguous }

// Redirect is a file that the shell itself opens.
type Redirect struct {
	Path  Word
	Write bool // otherwise it is only read
	Text  string
	// From and To delimit Text as in [Command].
	From, To int
	// Command is the index of the redirect's command, -1 if none or more than one exists.
	Command int
	Loop    bool
	Guess   bool
	Folder  Folder // where the path begins if it is relative
}

// Assign is a variable that the text sets.
type Assign struct {
	Name  string
	Value Word
	Text  string
	Guess bool
	// index of the assignment in the command's words, as in env NAME=VALUE; 0 if not among them
	Command, WordIndex int
	// Local means that programs get it only if they got a variable of that name before.
	Local bool
}

// Finding is something that no rule can judge; a call with one needs an approval.
type Finding struct {
	Text   string // the part of the command, may be empty
	Reason string // one clause for the person, such as "defines a function"
	Soft   bool   // it matters only if not everything is allowed anyway
	File   Word   // the file that the shell runs, if the finding is about that
}
