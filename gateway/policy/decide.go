package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// Policy is everything that decides about calls: the person's rules and the settings.
type Policy struct {
	Rules    *Set // nil asks about everything
	Settings Settings
}

// Decide applies the person's rules, the chat's approval mode and its permissions, then the
// defaults. By default, reads inside the workspace are allowed, except of credentials, and, where
// others take part, of files for the person's own chats, and so are facts about a machine;
// everything else needs an approval. A deny
// always wins. Calls that the floor names (floor.go) need an approval whatever else allows them.
// Only a deny stops a direct action of the person.
func (p Policy) Decide(q Request) Decision {
	if q.Server != "" {
		p.Settings = p.Settings.withoutBroadAllows(q.Node)
	}
	configured, applies := p.Settings.rule(q)
	if applies && configured.Verdict == Deny {
		return Decision{Verdict: Deny, Reason: configured.reason(), Rule: configured.ID}
	}
	call := q.Call()
	byRules := p.Rules.Decide(call)
	d, broad := p.combine(q, configured, byRules)
	if broad {
		if reason := cmp.Or(q.directingFile(), byRules.mentions, p.Rules.concealedReason(call)); reason != "" {
			d = Decision{Verdict: Ask, Reason: reason}
		}
	}
	if broad || d.Verdict == Allow && byRules.Verdict == Allow {
		if reason := q.unprotectedReason(byRules); reason != "" && d.Verdict == Allow {
			d = Decision{Verdict: Ask, Reason: reason}
		}
	}
	if p.Rules != nil && p.Rules.doubt != "" && d.Verdict == Allow && !q.Direct && q.Effect != protocol.EffectRead {
		d = Decision{Verdict: Ask, Reason: p.Rules.doubt}
	}
	if d.Rule != "" && d.Rule == byRules.Rule {
		d.Uses = byRules.uses()
	}
	d.Enforced, d.Unenforced, d.Lifts, d.Records, d.Rules = byRules.Enforced, byRules.Unenforced, byRules.Lifts, byRules.Records, byRules.Rules
	if d.Verdict == Ask {
		if call.Input != nil {
			d.Reason = typesInto(call.Input.Command) + ": " + lowerFirst(d.Reason)
		}
		d.Parts = byRules.Parts
		switch {
		case byRules.Floor, d.Floor:
		case q.Preview == nil && d.Rule == "" && q.Mode.Mode != protocol.ModePaused:
			d.Offers = q.offersToRead()
		case q.Preview != nil && !q.Preview.Truncated: // else nobody has seen all of the call
			d.Offers = byRules.Offers
		}
	}
	return d
}

// uses returns the deciding rule, and those of the other parts with the same verdict.
func (d Decision) uses() []string {
	ids := []string{d.Rule}
	for _, p := range d.Parts {
		if p.Rule != "" && p.Verdict == d.Verdict && !slices.Contains(ids, p.Rule) {
			ids = append(ids, p.Rule)
		}
	}
	return ids
}

// offersToRead returns rules that allow reading everything on a machine that cannot describe calls in
// advance, so that no rule about a folder could be checked there. They are for questions about a
// tool that reads.
func (q Request) offersToRead() (list []Offer) {
	if q.Server != "" || q.Node == protocol.NativePrefix || mayWrite(q.ownName()) {
		return nil
	}
	for _, tool := range []string{"Read", "Glob", "Grep"} {
		list = append(list, Offer{Rule: Rule{Node: string(q.Node), Tool: tool, Verdict: Allow, Source: SourceUser}, Text: tool})
	}
	return list
}

// combine returns the strictest decision. broad means that it allows calls that no rule names.
func (p Policy) combine(q Request, configured SettingsRule, byRules Decision) (d Decision, broad bool) {
	ruled := byRules.Rule != "" // not only the default
	switch {
	case byRules.Verdict == Deny && ruled:
		return Decision{Verdict: Deny, Reason: byRules.Reason, Rule: byRules.Rule}, false
	case q.Direct:
		return Decision{Verdict: Allow, Reason: "You did this yourself"}, false
	case q.Mode.Mode == protocol.ModeReadOnly && (q.Effect != protocol.EffectRead || q.Server != ""):
		return Decision{Verdict: Deny, Reason: "This chat is read-only"}, false
	case q.Mode.Mode == protocol.ModePaused:
		return Decision{Verdict: Ask, Reason: "This chat is paused, so every call needs your approval"}, false
	case byRules.Floor:
		return Decision{Verdict: Ask, Reason: byRules.Reason, Floor: true}, false
	case q.Preview != nil && q.Preview.Publishes != "":
		return Decision{Verdict: Ask, Reason: q.Preview.Publishes, Floor: true}, false
	case q.Preview != nil && q.Preview.Rents != "":
		return Decision{Verdict: Ask, Reason: q.Preview.Rents, Floor: true}, false
	case q.Preview != nil && q.Preview.Network:
		return Decision{Verdict: Ask, Reason: "This command requests network access"}, false
	case byRules.Verdict == Ask && ruled:
		return Decision{Verdict: Ask, Reason: byRules.Reason, Rule: byRules.Rule}, false
	case configured.Verdict == Ask:
		return Decision{Verdict: Ask, Reason: configured.reason(), Rule: configured.ID}, false
	case byRules.Verdict == Allow:
		return Decision{Verdict: Allow, Reason: byRules.Reason, Rule: byRules.Rule}, false
	case configured.Verdict == Allow:
		return Decision{Verdict: Allow, Reason: configured.reason(), Rule: configured.ID}, true
	}
	if grant, ok := q.granted(); ok {
		return Decision{Verdict: Allow, Reason: "You allowed this in this chat", Grant: grant.ID}, false
	}
	return p.byDefault(q, byRules)
}

func (p Policy) byDefault(q Request, byRules Decision) (d Decision, broad bool) {
	inside := q.Server == "" && q.Preview != nil && !q.Preview.Outside && q.Preview.Secret == ""
	switch {
	case q.Effect == protocol.EffectRead && q.Server == "" && protocol.ReadsFacts(q.Bare):
		return Decision{Verdict: Allow, Reason: "Reads facts about the machine"}, false
	case q.Effect == protocol.EffectRead && inside && !q.Preview.Personal:
		return Decision{Verdict: Allow, Reason: "Reads inside the workspace"}, false
	case q.Bare == "Process" && q.Server == "" && q.onlyReadsOutput():
		return Decision{Verdict: Allow, Reason: "Reads the output of running commands"}, false
	case q.Mode.Mode == protocol.ModeTrust && !q.isForeign() && time.Now().UnixMilli() < q.Mode.Until:
		return Decision{Verdict: Allow, Reason: "You trust this chat until " + time.UnixMilli(q.Mode.Until).Format("15:04")}, true
	// The agent's own files are excluded: SOUL.md or a skill directs everything that it does later.
	case q.Mode.Mode == protocol.ModeAcceptEdits && !q.isForeign() && q.Node != protocol.NativePrefix &&
		q.Effect == protocol.EffectWrite && inside && q.Preview.Path != "":
		return Decision{Verdict: Allow, Reason: "This chat may change files in the workspace"}, false
	case p.Settings.Default == Allow:
		return Decision{Verdict: Allow, Reason: "No rule applies, and your settings allow the call by default"}, true
	case p.Settings.Default == Deny:
		return Decision{Verdict: Deny, Reason: "No rule applies, and your settings deny the call by default"}, false
	}
	return Decision{Verdict: Ask, Reason: q.askReason(byRules)}, false
}

// askReason returns the reason for an approval that no rule requires. For a command it is the one
// of the rules, which names the part that no rule allows.
func (q Request) askReason(byRules Decision) string {
	switch {
	case q.Mode.Mode == protocol.ModeTrust && q.isForeign():
		return "Somebody else started this run; you trust this chat only for your own messages"
	case q.Server != "":
		return q.askServerReason()
	case q.Effect == protocol.EffectExec && q.Call().Command != "":
		return byRules.Reason
	case q.Preview == nil:
		return "The machine could not check what the call would access"
	case q.Effect == protocol.EffectRead && q.Preview.Personal:
		return "Reads a file for your own chats, and others take part in this one"
	case q.Effect == protocol.EffectRead && q.Preview.Secret != "":
		return "Reads passwords, keys or tokens: " + q.Preview.Secret
	case q.Effect == protocol.EffectWrite && q.Preview.Secret != "":
		return "Changes passwords, keys or tokens: " + q.Preview.Secret
	case q.Effect == protocol.EffectRead:
		return withPath("Reads outside the workspace", q.Preview.Path)
	case q.Effect == protocol.EffectWrite && q.Preview.Outside:
		return withPath("Writes outside the workspace", q.Preview.Path)
	case q.Effect == protocol.EffectWrite:
		return "File changes need your approval"
	case q.Effect == protocol.EffectExec:
		return "Commands need your approval"
	case q.Effect == protocol.EffectNetwork:
		return "Uses the network"
	}
	return fmt.Sprintf("The tool %s does not say what it can do", q.Bare)
}

func withPath(text, file string) string {
	return strings.TrimSuffix(text+": "+file, ": ")
}

// Request is everything that a decision about a tool call depends on.
type Request struct {
	Tool    protocol.ToolName
	Node    protocol.NodeID
	Bare    string // the tool's name without the node
	Own     string // the tool, if Bare is another one whose rules apply to it; empty: Bare
	Effect  protocol.Effect
	Args    json.RawMessage
	Preview *protocol.CallPreview // nil if the node could not make one
	Host    *protocol.HostInfo    // of the node, if it reports them
	Session protocol.SessionKey
	Direct  bool           // a direct action of the person
	Whole   bool           // the paths of the preview, with everything below them
	Grants  []SessionGrant // of the session
	Mode    protocol.ApprovalMode
	By      protocol.AskedBy // who caused the call
	// Server is the MCP server that has the tool: what it says about the tool proves nothing. Risk is
	// what it warns of, such as "this can delete something".
	Server protocol.ServerName
	Risk   string
}

// SessionGrant is a permission of a chat for one call, or for one tool's access to one file.
type SessionGrant struct {
	ID    string
	Node  protocol.NodeID
	Tool  string // its own bare name
	Match string // see [Request.SessionMatch]
}

// Prefixes of the text of a chat's permission, before the folder and the arguments, or the file.
const (
	CallMatch = "call "
	PathMatch = "path "
)

// ExactCommand describes a permission for one command.
const ExactCommand = "exactly this command, in this folder"

// AnyAccess describes a permission for one tool's access to one file.
func AnyAccess(tool, path string) string {
	return fmt.Sprintf("any %s of %s", strings.ToLower(tool), path)
}

// SessionMatch returns what an allow for the session would permit: in the form that calls are
// compared with, and as a description. ok is false if nothing narrow enough can be expressed.
func (q Request) SessionMatch() (match, words string, ok bool) {
	if q.Preview == nil || q.Preview.Truncated {
		return "", "", false
	}
	if q.Server != "" {
		return ServerMatch, EveryCall(string(q.Tool)) + AnyArguments, true
	}
	if in := q.Preview.Input; in != nil {
		return InputMatch + in.ID, "anything typed into " + shorten(in.Command), true
	}
	switch q.Effect {
	case protocol.EffectExec:
		args, err := protocol.Canonical(q.Args)
		if err != nil {
			return "", "", false
		}
		return CallMatch + q.Preview.Folder + " " + string(args), ExactCommand, true
	case protocol.EffectWrite, protocol.EffectRead:
		if q.Preview.Path == "" {
			return "", "", false
		}
		return PathMatch + q.Preview.Path, AnyAccess(q.ownName(), q.Preview.Path), true
	}
	return "", "", false
}

// ownName returns the tool that a chat's permission is for. It is narrower than a rule: who may
// write a file may not delete it.
func (q Request) ownName() string { return cmp.Or(q.Own, q.Bare) }

// granted returns the permission of the chat for the call.
func (q Request) granted() (SessionGrant, bool) {
	match, _, ok := q.SessionMatch()
	i := slices.IndexFunc(q.Grants, func(g SessionGrant) bool { return g.Node == q.Node && g.Tool == q.ownName() && g.Match == match })
	if !ok || i < 0 {
		return SessionGrant{}, false
	}
	return q.Grants[i], true
}

// isForeign reports whether somebody other than the person started the run. The person has trusted
// a chat with their own messages; at the same time, strangers may write to the same chat on a
// channel, and so may jobs and the agents of other chats.
func (q Request) isForeign() bool {
	foreign := []string{protocol.AskedByChannel, protocol.AskedBySchedule, protocol.AskedByAgent}
	return slices.Contains(foreign, q.By.Kind)
}

// unprotectedReason returns the reason why a command that no rule allows needs an approval although
// everything is allowed: it cannot be read completely, and nothing else protects the machine.
func (q Request) unprotectedReason(byRules Decision) string {
	if byRules.unread == "" || q.Effect != protocol.EffectExec || q.Server != "" || q.Direct || q.Call().Command == "" {
		return ""
	}
	if ok, why := q.Host.Protects(); !ok {
		return byRules.unread + ", and nothing protects start-up files on this machine: " + why
	}
	return ""
}

// onlyReadsOutput reports whether a call of Process changes nothing.
func (q Request) onlyReadsOutput() bool {
	var args struct {
		Action string `json:"action"`
	}
	return json.Unmarshal(q.Args, &args) == nil && slices.Contains([]string{"list", "poll", "log"}, args.Action)
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// directingFiles are the agent's own files that every chat reads, and its skills.
var directingFiles = regexp.MustCompile(`(?i)^/(soul|identity|user|agents|tools)\.md$|^/skills(/|$)`)

// directingFile returns the reason why a change of one of the agent's own files needs an approval
// although everything is allowed, or "".
func (q Request) directingFile() string {
	if q.Node != protocol.NativePrefix || q.Effect != protocol.EffectWrite || q.Preview == nil || !directingFiles.MatchString(path.Clean("/"+q.Preview.Path)) {
		return ""
	}
	return "Changes " + shorten(q.Preview.Path) + ", which directs everything that the agent does later"
}

// blocksNetwork reports whether the machine keeps the call off the network.
func (q Request) blocksNetwork() bool {
	if q.Effect != protocol.EffectExec || q.Preview.Network || q.Host == nil || q.Host.Enforcement == nil {
		return false
	}
	e := q.Host.Enforcement
	return e.Mode != "full" && e.Network == "blocked" && e.Summary != "none"
}

// Call converts a request to the form that rules decide.
func (q Request) Call() Call {
	c := Call{Tool: q.Bare, Node: q.Node, Agent: q.Session.Agent(), Session: q.Session, Args: q.Args, Whole: q.Whole}
	if q.Server != "" {
		c.Server = true
		if q.Risk != "" {
			c.Risk = q.askServerReason()
		}
		return c // its arguments mean what the server wants
	}
	if q.Host != nil {
		c.Root, c.Cwd, c.Home = q.Host.Workspace, q.Host.Workspace, q.Host.Home
		c.Aliases, c.Sandbox = q.Host.Aliases, sandboxOf(q.Host)
		if q.Host.Private != "" {
			c.Own = []string{q.Host.Private}
		}
	}
	if q.Preview != nil {
		c.Cwd = cmp.Or(q.Preview.Folder, c.Cwd)
		c.Shell, c.Blocked = q.Preview.Shell, q.Preview.Folders
		c.NoNetwork = q.blocksNetwork()
		if q.Preview.Path != "" {
			c.Paths = []string{q.Preview.Path}
		}
	}
	// A value of the wrong type must not hide the other one, so each is read separately.
	var command struct {
		Text    string   `json:"command"`
		User    string   `json:"username"` // of the tool command
		Changes []string `json:"changes"`
	}
	var file struct {
		Path string `json:"path"`
	}
	switch {
	case q.Preview != nil && q.Preview.Input != nil:
		c.Input = q.Preview.Input
		c.Command, c.Shell = c.Input.Text, c.Input.Shell
	case q.Effect == protocol.EffectExec && json.Unmarshal(q.Args, &command) == nil:
		c.Command, c.Changes = command.Text, command.Changes
		if q.Preview != nil {
			c.Changes = append(c.Changes, q.Preview.Changes...)
			c.PatchesRead = q.Preview.PatchesRead
		}
		if q.Host == nil || command.User != q.Host.User {
			c.User = command.User
		}
		c.Contained = c.User == "" && q.isContained()
	case q.Own == protocol.KeepTool:
		var keep protocol.KeepArgs
		if json.Unmarshal(q.Args, &keep) == nil && len(keep.Paths) > 0 {
			c.Paths = keep.Paths
		}
		c.Keep = cmp.Or(keep.Question, "Keeps what a command changed unasked")
	case q.Effect == protocol.EffectWrite && json.Unmarshal(q.Args, &file) == nil:
		c.Named = file.Path
		if q.Preview != nil {
			c.Changes = q.Preview.Changes
		}
	}
	return c
}
