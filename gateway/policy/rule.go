package policy

import (
	"encoding/json"
	"time"

	"fairlead/gateway/protocol"
)

// Verdict is what happens with a call or a part of one.
type Verdict string

// Verdicts, from the loosest to the strictest.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

func (v Verdict) rank() int {
	switch v {
	case Allow:
		return 0
	case Deny:
		return 2
	}
	return 1 // whatever is not understood asks
}

// Stricter is the stricter of two verdicts.
func Stricter(a, b Verdict) Verdict {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// Sources of a rule.
const (
	SourceUser    = "user"
	SourceProject = "project" // may only ask and deny
	SourceAdmin   = "admin"
)

// Rule lets calls pass, asks about them or refuses them. All conditions that are set must hold. Node, Agent and Session are exact; empty
// or "*" is any.
type Rule struct {
	ID      string `json:"id,omitempty"` // default: its place in the file, such as "rule 3"
	Source  string `json:"source,omitempty"`
	Node    string `json:"node,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	// Tool is a tool's bare name ("Bash"), or "node__Tool"; * is any text in either half. A file that a command redirects to is judged as
	// a call of "Write", one that it is fed from as a call of "Read".
	Tool string `json:"tool"`
	// Argv is compared with a command's decoded words: "*" is one word, a * inside a word any text in it, "**" as the last one any rest,
	// and "\*" a star. In an allow, a * inside a word leads to no other folder: docs/* is not docs/../x. Without Argv an ask or deny rule is about every command.
	Argv []string `json:"argv,omitempty"`
	// Path is compared with the file, relative to the workspace: * stays in a folder, ** crosses folders, "!/" starts an absolute path
	// outside the workspace, "/" one wherever the workspace is, "~/" one in the home folder. A strict rule also covers commands that
	// are known to read or write the files they are given.
	Path string `json:"path,omitempty"`
	When []Cond `json:"when,omitempty"`
	// Cwd is the working folder: absolute, or "/folder/**" for it and everything below.
	Cwd     string    `json:"cwd,omitempty"`
	Verdict Verdict   `json:"verdict"`
	Profile string    `json:"profile,omitempty"` // sandbox profile that this allow asks for
	Expires time.Time `json:"expires,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	// Match and NotMatch are examples (commands, or paths for file tools): the rule must decide the first and must not decide the second.
	Match    []string `json:"match,omitempty"`
	NotMatch []string `json:"notMatch,omitempty"`
}

// Cond is a condition on one argument of a call, in the form of the original system. A condition
// that cannot be evaluated does not match in an allow rule, and matches in an ask or deny rule.
type Cond struct {
	Path  string `json:"path"` // dotted, with numeric indexes
	Op    string `json:"op"`   // equals, contains, startsWith, regex
	Value any    `json:"value"`
}

// Scopes of a grant.
const (
	ScopeOnce    = "once"
	ScopeSession = "session"
)

// Grant is an allow that a person gave for exactly one thing: these words in this folder. It never lowers the floor, nor a rule that asks
// or denies.
type Grant struct {
	ID    string `json:"id,omitempty"`
	Scope string `json:"scope,omitempty"` // once or session; who holds the grants removes a used "once"
	Tool  string `json:"tool,omitempty"`  // default Bash
	// Argv are the decoded words, compared one by one; nothing in them is a pattern. It covers one command of a text, not the others.
	Argv []string `json:"argv,omitempty"`
	// Command is the whole text, compared character by character.
	Command string `json:"command,omitempty"`
	Shell   string `json:"shell,omitempty"` // the shell that Command is for; only one that is taken apart (bash, sh, zsh) need not be named
	// Args are all arguments of the call, where they say more than Command.
	Args json.RawMessage `json:"args,omitempty"`
	// Path is the file of a file tool, absolute.
	Path    string    `json:"path,omitempty"`
	Cwd     string    `json:"cwd"` // absolute working folder; a command runs in another one: no grant
	Node    string    `json:"node,omitempty"`
	Session string    `json:"session,omitempty"`
	Verdict Verdict   `json:"verdict,omitempty"` // only allow, which is also the default
	Expires time.Time `json:"expires,omitzero"`
	Reason  string    `json:"reason,omitempty"`
}

// File is the form in which rules are imported and exported.
type File struct {
	Default Verdict `json:"default,omitempty"` // of what no rule names; default ask
	Rules   []Rule  `json:"rules"`
	Grants  []Grant `json:"grants,omitempty"`
}

// Call is what is judged. A call with a Command is judged as what its shell would run.
type Call struct {
	Tool    string // bare name
	Node    protocol.NodeID
	Agent   protocol.AgentID
	Session protocol.SessionKey
	Cwd     string // absolute; where a command starts, and what relative paths start from
	Root    string // the workspace's folder; "" means Cwd
	Home    string // home folder of who runs it; "" when not known
	Shell   string // name or path of the shell that will run Command; "" is bash
	Command string
	Args    json.RawMessage
	Paths   []string // files that a file tool touches
	Named   string   // the file as the call names it, where Paths has what a link leads to; only the floor looks at it
	Whole   bool     // each of Paths with all that is below it, as when a folder is moved
	Own     []string // folders with our own settings, rules, journal and keys: writing there is always asked about
	// Resolve follows links in an absolute path of the machine that runs the call; nil takes paths as they are written. An error asks.
	Resolve func(path string) (string, error)
	// Aliases are folders of that machine that are known by a name that leads through a symbolic link. A rule and a call mean the same folder by
	// either name.
	Aliases []protocol.Alias
	Sandbox Sandbox
	Now     time.Time // default time.Now()
}

// Part is one thing that was judged.
type Part struct {
	Kind    string   `json:"kind"` // command, redirect, assignment, finding, file, call
	Text    string   `json:"text"`
	Argv    []string `json:"argv,omitempty"`
	Origin  string   `json:"origin,omitempty"` // where in the text it stands, when not at its top
	Verdict Verdict  `json:"verdict"`
	Rule    string   `json:"rule,omitempty"` // id of the rule or grant that decided
	Floor   bool     `json:"floor,omitempty"`
	Reason  string   `json:"reason"`

	ruled bool // a rule, not the lack of one, makes it ask
}

// Judgement is a verdict with everything that led to it. Rule and Reason are those of the part that decided.
type Judgement struct {
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule,omitempty"`
	Reason  string  `json:"reason"`
	Floor   bool    `json:"floor,omitempty"` // asked about whatever the rules say; an answer covers this one call
	Parts   []Part  `json:"parts"`
	// Offers are the rules that may be proposed as "always"; none when the call is not only a matter of missing rules.
	Offers  []Offer `json:"offers,omitempty"`
	Profile string  `json:"profile,omitempty"` // sandbox profile that an allow asked for
	// Held and Loose are the paths of the rules about files that hold for the code that the call runs and those that do not, because the machine keeps
	// commands from the files or does not. Both are empty where the words of the call tell which files it opens.
	Held  []string `json:"held,omitempty"`
	Loose []string `json:"loose,omitempty"`
}

// Offer is a rule that may be proposed for one command of a call.
type Offer struct {
	Rule Rule   `json:"rule"`
	Text string `json:"text"` // in words
}
