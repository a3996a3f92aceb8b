package shell

// Kind is the shell that will run a text. The analysis of one is void for another.
type Kind string

// Shells that can be analysed. Every other name is unknown: only [Facts.Lines] is filled.
const (
	Bash  Kind = "bash"
	POSIX Kind = "sh"
	Zsh   Kind = "zsh"
)

// Facts is what a text would do when a shell runs it.
type Facts struct {
	Kind      Kind
	Commands  []Command // in the order of the text; what a command starts follows it
	Redirects []Redirect
	Assigns   []Assign
	Findings  []Finding
}

// Command is one simple command, or one that another command starts.
type Command struct {
	Words  []Word // the program and its arguments; never empty
	Text   string // as written
	Origin string // where it stands: "" at the top, else such as "substitution", "function" or "here-document"
	Parent int    // index of the command that starts it, -1 for none
	Via    string // name of the wrapper that starts it
	// Spelled is the place of the command in its parent's words, 0 when it is not a plain tail of them.
	Spelled int
	Stdin   *Word // what it reads, when the text says so
	Piped   bool  // it reads from another command
	Loop    bool  // it may run more than once
	// Starts says that it was seen to start another command, or a text for a shell.
	Starts bool
	// Guess marks a reading that the shell may not share: good enough to deny, not to allow.
	Guess bool
}

// Name is the program as written, or "" when only the running shell would know.
func (c Command) Name() string {
	if c.Words[0].Dynamic {
		return ""
	}
	return c.Words[0].Text
}

// Word is one word after the shell's own processing, as far as that can be known.
type Word struct {
	Text    string // decoded; as written when Dynamic
	Dynamic bool   // only the running shell knows it; it may become several words or none
	Glob    bool   // a pattern that the shell replaces by the files that match
	Tilde   bool   // starts with the home folder
	Odd     bool   // decoded, but shells differ about it
}

// Plain reports whether the program gets exactly Text.
func (w Word) Plain() bool { return !w.Dynamic && !w.Glob && !w.Tilde && !w.Odd }

// Redirect is a file that the shell itself opens.
type Redirect struct {
	Path  Word
	Write bool // else it is only read
	Text  string
	// Command is the command that the redirect belongs to, -1 when it is none or more than one.
	Command int
	Loop    bool
	Guess   bool
}

// Assign is a variable that the text sets.
type Assign struct {
	Name  string
	Value Word
	Text  string
	Guess bool
	// Spelled is the place of the assignment in the words of the command Command, as in env NAME=VALUE; 0 when it is none of a command's words.
	Command, Spelled int
}

// Finding is something that no rule can judge; whoever meets one asks.
type Finding struct {
	Text   string // the part of the command, may be empty
	Reason string // one clause for the person, such as "defines a function"
	Soft   bool   // it matters only where not everything is allowed anyway
}
