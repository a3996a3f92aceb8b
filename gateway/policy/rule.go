package policy

import (
	"encoding/json"
	"time"

	"fairlead/gateway/protocol"
)

// Verdict is the decision about a call or a part of one.
type Verdict string

// The verdicts, from the loosest to the strictest.
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
	return 1 // an unknown verdict asks
}

// The sources of a rule.
const (
	SourceUser    = "user"
	SourceProject = "project" // may only ask and deny
)

// Rule allows, asks about or denies calls. All conditions that are set must be met. Node, Agent and
// Session are compared exactly; empty or "*" means any.
type Rule struct {
	ID      string `json:"id,omitempty"` // default: its position in the file, such as "rule 3"
	Source  string `json:"source,omitempty"`
	Node    string `json:"node,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	// Tool is a tool's bare name ("Bash"), or "node__Tool"; * stands for any text in either half. A
	// command's redirect counts as a call of "Write" or "Read".
	Tool string `json:"tool"`
	// Argv is compared with a command's decoded words: "*" stands for one word, a * inside a word
	// for any text in it, "**" as the last one for any further words, and "\*" for a star. In an
	// allow rule, a * inside a word does not reach another folder: docs/* does not match docs/../x.
	// An ask or deny rule without Argv applies to every command.
	Argv []string `json:"argv,omitempty"`
	// Path is compared with the file, relative to the workspace: * stays within a folder, **
	// crosses folders, "!/" starts an absolute path outside the workspace, "/" one wherever the
	// workspace is, "~/" one in the home folder. A strict rule also applies to commands that are
	// known to read or write the files in their arguments.
	Path string `json:"path,omitempty"`
	When []Cond `json:"when,omitempty"`
	// Cwd is the working folder: absolute, or "/folder/**" for it and everything below.
	Cwd     string    `json:"cwd,omitempty"`
	Verdict Verdict   `json:"verdict"`
	Expires time.Time `json:"expires,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	// examples (commands, or paths for file tools) that the rule must decide, and must not decide
	Match    []string `json:"match,omitempty"`
	NotMatch []string `json:"notMatch,omitempty"`
}

// Cond is a condition on one argument of a call, in the form of GSV. A condition that cannot be
// evaluated does not match in an allow rule, and matches in an ask or deny rule.
type Cond struct {
	Path  string `json:"path"` // dotted, with numeric indexes
	Op    string `json:"op"`   // equals, contains, startsWith, regex
	Value any    `json:"value"`
}

// Grant permits exactly one thing. It overrides neither the floor nor an ask or deny rule.
type Grant struct {
	ID string `json:"id,omitempty"`
	// protocol.ScopeOnce or ScopeSession; the owner of the grants removes a used "once"
	Scope string `json:"scope,omitempty"`
	Tool  string `json:"tool,omitempty"` // default Bash
	// Argv are the decoded words of one command of a text, compared one by one without patterns.
	Argv []string `json:"argv,omitempty"`
	// Command is the whole text, compared character by character.
	Command string `json:"command,omitempty"`
	// the shell of Command; may be empty only for a parsed one (bash, sh, zsh)
	Shell string `json:"shell,omitempty"`
	// Args are all arguments of the call, if there are more than Command.
	Args json.RawMessage `json:"args,omitempty"`
	// Path is the absolute file of a file tool.
	Path string `json:"path,omitempty"`
	// absolute working folder; the grant does not cover a command in another one
	Cwd     string    `json:"cwd"`
	Node    string    `json:"node,omitempty"`
	Session string    `json:"session,omitempty"`
	Verdict Verdict   `json:"verdict,omitempty"` // only allow, which is also the default
	Expires time.Time `json:"expires,omitzero"`
	Reason  string    `json:"reason,omitempty"`
}

// File is the format in which rules are imported and exported.
type File struct {
	Default Verdict `json:"default,omitempty"` // for calls that no rule names; default ask
	Rules   []Rule  `json:"rules"`
	Grants  []Grant `json:"grants,omitempty"`
	// Doubt says which rule that may ask or deny is missing: then nothing is allowed.
	Doubt string `json:"-"`
}

// Call is a call to be decided; with a Command, the commands that its shell would run.
type Call struct {
	Tool    string // bare name
	Node    protocol.NodeID
	Agent   protocol.AgentID
	Session protocol.SessionKey
	Cwd     string // absolute; the working folder, to which paths are relative
	Root    string // the workspace's folder; "" means Cwd
	Home    string // home folder of the user that runs the call; "" means unknown
	Shell   string // name or path of the shell that will run Command; "" means bash
	User    string // the user that runs Command instead of the machine's own; "" for that one
	Command string
	Args    json.RawMessage
	Input   *protocol.CommandInput // Command is a text for the input of a running command
	Paths   []string               // files that a file tool accesses
	// the file as the call names it, if Paths has the target of a link; only the floor uses it
	Named string
	Whole bool // each of Paths with everything below it, as when a folder is moved
	// folders with Fairlead's settings, rules, journal and keys: writes there need an approval
	Own []string
	// Resolve follows links in an absolute path of the call's machine; nil does not. An error asks.
	Resolve func(path string) (string, error)
	// Aliases are folders of that machine that also have a name that leads through a symbolic link.
	// A rule and a call mean the same folder by either name.
	Aliases []protocol.Alias
	Sandbox Sandbox
	// Contained means that the machine keeps the command, whatever it runs, from protected files,
	// secrets, other folders than its own, and the network; see contained.go.
	Contained bool
	// NoNetwork means that the machine blocks the network for the command, and Blocked are the folders
	// that it blocks.
	NoNetwork bool
	Blocked   []protocol.FolderAccess
	// Changes are protected files that the call has to change, as the caller or the machine says.
	Changes []string
	// PatchesRead means that Changes has the protected files in all patches that the command applies.
	PatchesRead bool
	// Keep is the question whether to keep what a command changed unasked in Paths; only its own answer
	// allows it.
	Keep string
	// Server means that an MCP server has the tool, and Risk is what it warns of.
	Server bool
	Risk   string
	Now    time.Time // default time.Now()
}

// Part is one part of a call.
type Part struct {
	Kind    string   `json:"kind"` // command, redirect, assignment, finding, file, call
	Text    string   `json:"text"`
	Argv    []string `json:"argv,omitempty"`
	Origin  string   `json:"origin,omitempty"` // its context in the text, if not at the top level
	Verdict Verdict  `json:"verdict"`
	Rule    string   `json:"rule,omitempty"` // ID of the deciding rule or grant
	Floor   bool     `json:"floor,omitempty"`
	Reason  string   `json:"reason"`
	// From and To delimit Text in the command, in bytes; To is 0 if it is not there literally.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Risk says in plain words why the part is dangerous; "" if it is not known to be.
	Risk string `json:"risk,omitempty"`
	// Starts are the programs that the part's program starts, such as "systemctl" for sudo.
	Starts  string `json:"starts,omitempty"`
	Started bool   `json:"started,omitempty"` // the program of another part starts this one
	// The sandbox will stop the part: it uses the network, or one of Call.Blocked, by index.
	NoNetwork bool  `json:"noNetwork,omitempty"`
	Blocked   []int `json:"blocked,omitempty"`
	// Changes are the protected files that the part may change if the call runs.
	Changes []string `json:"changes,omitempty"`

	byRule bool // a rule, not the lack of one, makes it ask
}

func (p *Part) set(v Verdict, rule, reason string) { p.Verdict, p.Rule, p.Reason = v, rule, reason }

// Decision is a verdict with its details. Rule and Reason are those of the deciding part.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule,omitempty"`
	Reason  string  `json:"reason"`
	// Uses are the IDs of Rule and of the other rules that decided a part in the same way. It is empty
	// if no rule about commands and files decided.
	Uses []string `json:"-"`
	// Grant is the ID of the chat's permission that decided; empty if none did.
	Grant string `json:"-"`
	// needs an approval whatever the rules say; an answer covers this one call only
	Floor bool   `json:"floor,omitempty"`
	Parts []Part `json:"parts"`
	// rules that may be offered as "always"; none if more than missing rules prevents an allow
	Offers []Offer `json:"offers,omitempty"`
	// Enforced and Unenforced are the paths of the rules about files that are enforced for the code that
	// the call runs, and of those that are not: the machine's sandbox protects the files of the
	// first. Both are empty if the words of the call name the files that it opens.
	Enforced   []string `json:"held,omitempty"`
	Unenforced []string `json:"loose,omitempty"`
	// Lifts are the files that the machine protects from commands and that this call may change if it
	// runs, because the question names them. Absolute, with slashes. Records are those that git may
	// change without a question, as far as it records branches, remotes and the like in them.
	Lifts   []string `json:"lifts,omitempty"`
	Records []string `json:"records,omitempty"`
	// Rules are the deny rules that the machine enforces against everything that the command runs.
	Rules *protocol.CommandRules `json:"-"`

	// a protected file is among the words of a command, so an allow that does not name it asks
	mentions string
	// why the reader does not know all that a command does that no rule allows
	unread string
}

// Offer is a rule that may be offered for one command of a call.
type Offer struct {
	Rule Rule   `json:"rule"`
	Text string `json:"text"` // as text for people
}

// QuestionParts returns the parts of a decision for an approval.
func (d Decision) QuestionParts() (list []protocol.QuestionPart) {
	for _, p := range d.Parts {
		list = append(list, protocol.QuestionPart{
			Kind: p.Kind, Text: p.Text, From: p.From, To: p.To, Argv: p.Argv, Verdict: string(p.Verdict), Reason: p.Reason, Floor: p.Floor,
			Risk: p.Risk, Starts: p.Starts, Started: p.Started, NoNetwork: p.NoNetwork, Folders: p.Blocked, Changes: p.Changes,
		})
	}
	return list
}
