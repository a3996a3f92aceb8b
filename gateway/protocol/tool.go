package protocol

import (
	"encoding/json"
	"strings"
)

// Effect is the kind of side effect that a call can have.
type Effect string

const (
	EffectRead    Effect = "read"
	EffectWrite   Effect = "write"
	EffectExec    Effect = "exec"
	EffectNetwork Effect = "network"
	// EffectUnknown is the effect of a tool that declares none. Its calls always need an approval.
	EffectUnknown Effect = ""
)

// ToolSpec describes a tool. Name is the full name in tools.list and the bare name in connect.
// Effect and the fields after it are extensions.
type ToolSpec struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Effect       Effect          `json:"effect,omitempty"` // read, write, exec, network; empty is unknown
	Idempotent   bool            `json:"idempotent,omitempty"`
	// SideEffect is the protocol's own, coarser form of Effect: whether a call changes anything. It
	// applies only when Effect is missing.
	SideEffect *bool `json:"sideEffect,omitempty"`
	// AcceptsKey reports that the tool passes its idempotency key on to the system that it changes.
	AcceptsKey bool `json:"acceptsKey,omitempty"`
	// Server is the MCP server that has the tool, whose claims about it prove nothing. ServerTool and
	// Title are how it calls the tool; Risk is what it warns of, for people.
	Server     ServerName `json:"-"`
	ServerTool string     `json:"-"`
	Title      string     `json:"-"`
	Risk       string     `json:"-"`
	// OwnTime exempts a tool of the gateway from the time limit, because it ends by itself.
	OwnTime bool `json:"-"`
	// EffectOf, when set, returns the effect of a call with these arguments, for a tool of the
	// gateway that can have several effects.
	EffectOf func(args json.RawMessage) Effect `json:"-"`
}

// ToolsListResult lists the gateway's own tools first, then each node's in the node's order.
type ToolsListResult struct {
	Tools []ToolSpec `json:"tools"`
}

// ToolInvokeParams calls a tool (docs/protocol.md#tools-and-calls).
type ToolInvokeParams struct {
	Tool ToolName        `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
}

// ToolInvokeResult holds the node's result.
type ToolInvokeResult struct {
	Result json.RawMessage `json:"result"`
}

// ToolInvoke is the payload of the tool.invoke event to a node. Tool is the bare name; Args is
// always present.
type ToolInvoke struct {
	CallID CallID          `json:"callId"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	// Preview asks for a [CallPreview] as the result; the node does nothing (extension).
	Preview bool `json:"preview,omitempty"`
	// Expect is the FileSHA256 of the preview that the person saw. The node refuses the call if the
	// file has changed since (extension).
	Expect string `json:"expect,omitempty"`
	// Approved is the hash of what the person allowed ([CallHash]). The node refuses the call if it
	// computes another hash from what it is about to do (extension).
	Approved string `json:"approved,omitempty"`
	// Policy is the version of the rules that decided, a part of the hash (extension).
	Policy string `json:"policy,omitempty"`
	// Network reports that the person allowed network access for this call (extension).
	Network bool `json:"network,omitempty"`
	// Direct reports that the person, not an agent, made the call. Commands then use the person's
	// own Git configuration (extension).
	Direct bool `json:"direct,omitempty"`
	// Folders are the folders that the person allowed for this call. They are part of the hash in
	// Approved, and the call must need each of them (extension).
	Folders []FolderAccess `json:"folders,omitempty"`
	// Lifts are protected files that the command may change: those that the question about the call
	// named (extension). Absolute paths.
	Lifts []string `json:"lifts,omitempty"`
	// Records are protected files and folders in which git records branches, remotes, submodules and
	// work trees while the command runs. Every other change in them is put back (extension). Absolute
	// paths.
	Records []string `json:"records,omitempty"`
	// Rules are the deny rules that the machine enforces against everything that a command runs
	// (extension).
	Rules *CommandRules `json:"rules,omitempty"`
	// IdempotencyKey is stable over retries of the same call (extension).
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// SessionKey and RunID identify the chat and the run of the call (extension).
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	RunID      RunID      `json:"runId,omitempty"`
	// Caller is the program that made the call over MCP, REST or the command line; nil for a chat and
	// a window (extension).
	Caller *ToolCaller `json:"caller,omitempty"`
}

// CommandRules are deny rules of the person for the code that a command runs. The machine enforces
// them as far as its report says.
type CommandRules struct {
	// Programs are command lines that nothing may start, in the form of rules: a word may have a * for
	// any characters, and ** at the end stands for any further words.
	Programs [][]string `json:"programs,omitempty"`
	// Hidden cannot be read, and ReadOnly cannot be changed: absolute path patterns with slashes, in
	// the form of rules, for what exists when the command starts. A folder stands for everything in it.
	// What a command creates at a path of ReadOnly is set aside.
	Hidden   []string `json:"hidden,omitempty"`
	ReadOnly []string `json:"readOnly,omitempty"`
}

// ToolCaller is a program that makes calls. What it opens on a machine counts for it alone, and no
// other program sees it.
type ToolCaller struct {
	ID   string `json:"id"` // of the app, or owner for one with the gateway's own token
	Name string `json:"name"`
}

// CallPreview describes what a call would do and touch (extension). Every field may be empty.
type CallPreview struct {
	Path       string    `json:"path,omitempty"`       // resolved absolute path of a file tool
	Outside    bool      `json:"outside,omitempty"`    // the path is outside the workspace
	Personal   bool      `json:"personal,omitempty"`   // the chat has other participants, and the call reads what is meant for the person's own chats only
	Secret     string    `json:"secret,omitempty"`     // the place for keys and tokens in which the path lies, such as ~/.ssh
	Folder     string    `json:"folder,omitempty"`     // absolute working directory of a command
	Shell      string    `json:"shell,omitempty"`      // the shell that would run the command
	Diff       string    `json:"diff,omitempty"`       // unified diff of a Write or Edit
	Added      int       `json:"added,omitempty"`      // lines
	Removed    int       `json:"removed,omitempty"`    // lines
	NewFile    bool      `json:"newFile,omitempty"`    // the file does not exist yet
	FileSHA256 string    `json:"fileSha256,omitempty"` // of the current file; "absent" when none exists. Of a command: of its folder and the files that it starts by their path
	Programs   []Program `json:"programs,omitempty"`   // the programs of a command
	Truncated  bool      `json:"truncated,omitempty"`  // Diff was cut; the call can be allowed only once
	// Content describes the new content of a file, if Diff shows only the beginning of its change or
	// nothing (extension).
	Content *FileContent `json:"content,omitempty"`
	// Collects reports that the call only collects content beside a file: nothing takes effect before
	// its last part, which is a call of its own (extension).
	Collects bool `json:"collects,omitempty"`
	// Publishes says what a call makes reachable under an address, and for whom, or closes (extension).
	Publishes string `json:"publishes,omitempty"`
	// Rents says which machine a call rents, or deletes, and what it costs (extension).
	Rents   string `json:"rents,omitempty"`
	Network bool   `json:"network,omitempty"` // the call needs network access
	// Folders are the folders outside the workspace that the call needs. It fails unless the person
	// allows them.
	Folders []FolderAccess `json:"folders,omitempty"`
	// Changes are start-up files that a call certainly changes, such as a tracked file that another
	// branch replaces, or a program in an environment of Python (extension).
	Changes []string `json:"changes,omitempty"`
	// PatchesRead reports that a command applies patches, and that the machine has read all of them:
	// Changes has their start-up files (extension).
	PatchesRead bool          `json:"patchesRead,omitempty"`
	Input       *CommandInput `json:"input,omitempty"`   // of a call that types into a running command (extension)
	Problem     string        `json:"problem,omitempty"` // why the call would fail, such as "oldString not found"
	Fault       *Fault        `json:"fault,omitempty"`   // the problem with its code, if the tool has one (extension)
}

// FileContent describes the content of a file (extension).
type FileContent struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Type   string `json:"type"` // such as image/png
}

// CommandInput is a text for the input of a running command, which is judged as what reads it
// (extension).
type CommandInput struct {
	ID      string `json:"id"`      // of the running command
	Command string `json:"command"` // as it was started
	Text    string `json:"text"`
	// Shell is set if a shell without a history reads complete lines: they are judged like a command,
	// with Before, all that was typed into it earlier.
	Shell  string `json:"shell,omitempty"`
	Before string `json:"before,omitempty"`
}

// FolderAccess is a folder outside the workspace and the granted folders that a call needs. The
// person may allow it for this one call (extension).
type FolderAccess struct {
	Path  string `json:"path"` // absolute, without symbolic links; it exists
	Write bool   `json:"write,omitempty"`
	// Warning explains why the folder is dangerous, for example that it holds keys, or is empty.
	Warning string `json:"warning,omitempty"`
}

// Words describes the access for a person, such as "write access to /srv/other".
func (f FolderAccess) Words() string {
	if f.Write {
		return "write access to " + f.Path
	}
	return "read access to " + f.Path
}

// Program is one program of a command and its location.
type Program struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"` // empty: not found, or a shell built-in
}

// ProtectedChange is a change of a file that starts programs later, which a command made unasked.
// The node has put the file back: what the command wrote is in the trash (extension).
type ProtectedChange struct {
	Path   string `json:"path"`             // absolute
	Kind   string `json:"kind"`             // created, changed or removed
	Why    string `json:"why,omitempty"`    // what the file does, such as "runs at your next commit"
	SHA256 string `json:"sha256,omitempty"` // of what the command wrote; the target of a link
	Trash  string `json:"trash,omitempty"`  // ID in the trash of what the command wrote
	// Problem says why the file could not be put back; it is as the command left it.
	Problem string `json:"problem,omitempty"`
}

// PutBack is what one look after commands has put back (extension). The person is asked whether to
// keep it: the gateway then calls KeepTool with the ID.
type PutBack struct {
	ID      string            `json:"id"`
	CallID  CallID            `json:"callId,omitempty"` // the call of the command
	Command string            `json:"command"`
	Changes []ProtectedChange `json:"changes"`
	// More is the number of further changes, which Changes does not name.
	More int `json:"more,omitempty"`
}

// KeepTool is the tool of nodes that makes the changes of a PutBack again, and KeepArgs its
// arguments. Nothing allows it but an answer to its own question.
const KeepTool = "keep"

// KeepArgs are the arguments of KeepTool.
type KeepArgs struct {
	ID       string   `json:"id" jsonschema:"ID of what was put back"`
	Question string   `json:"question,omitempty" jsonschema:"what the command changed, for the person"`
	Paths    []string `json:"paths,omitempty" jsonschema:"the files"`
	More     int      `json:"more,omitempty" jsonschema:"number of further files"`
}

// Kinds of ProtectedChange.
const (
	ProtectedCreated = "created"
	ProtectedChanged = "changed"
	ProtectedRemoved = "removed"
)

// ToolResultParams returns the result of a call in Result, or a non-empty Error.
type ToolResultParams struct {
	CallID CallID          `json:"callId"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Fault  *Fault          `json:"fault,omitempty"` // the error with its code, if the tool has one (extension)
	// Warnings are about the machine, not about the call: the complete list of now, for the person
	// (extension).
	Warnings []string `json:"warnings,omitempty"`
}

// NativeResult is the result of every gsv__* tool.
type NativeResult struct {
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Fault  *Fault          `json:"fault,omitempty"` // the error with its code, if it has one (extension)
}

// FailureText returns what the model reads about a call that failed without a result: a
// NativeResult for a gsv__* tool, otherwise an error text.
func FailureText(node NodeID, problem string) string {
	if node == NativePrefix {
		if raw, err := Marshal(NativeResult{Error: problem}); err == nil {
			return string(raw)
		}
	}
	return "Error: " + problem
}

// Ack confirms a request. Dropped reports that nobody waits for the result any more.
type Ack struct {
	OK      bool `json:"ok"`
	Dropped bool `json:"dropped,omitempty"`
}

// ToolProgress is a node's report on a running call (extension, from the node, at most ten times a
// second per call).
type ToolProgress struct {
	CallID CallID `json:"callId"`
	Tail   string `json:"tail"`  // the end of the output so far, at most 4,000 characters
	Bytes  int64  `json:"bytes"` // length of the output so far
	// Chunk is a part of the result of a tool that streams, such as some matches of fs_grep. Parts
	// arrive in order, and none is left out.
	Chunk json.RawMessage `json:"chunk,omitempty"`
}

// ToolCancel is the payload of the tool.cancel event. The node stops the call and still sends its
// tool.result (extension, to the node).
type ToolCancel struct {
	CallID CallID `json:"callId"`
}

// ToolRequestParams starts a call on behalf of a session.
type ToolRequestParams struct {
	CallID     CallID          `json:"callId"`
	Tool       ToolName        `json:"tool"`
	Args       json.RawMessage `json:"args"`
	SessionKey SessionKey      `json:"sessionKey"`
}

// ToolRequestResult confirms that the call was accepted.
type ToolRequestResult struct {
	Status string `json:"status"` // "sent"
}

// CallCancelParams cancels one running tool call; the run continues (extension).
type CallCancelParams struct {
	CallID CallID `json:"callId"`
}

// Call states (extension, feed and Message.Call).
const (
	CallWaiting   = "waiting" // waits for an approval
	CallRunning   = "running"
	CallDone      = "done"
	CallFailed    = "failed"
	CallDenied    = "denied"
	CallCancelled = "cancelled"
	CallUnknown   = "unknown" // started, but its outcome is not known
)

// CallInfo describes a call for display (extension).
type CallInfo struct {
	CallID     CallID          `json:"callId"`
	ToolCallID string          `json:"toolCallId,omitempty"` // the model's ID
	SessionKey SessionKey      `json:"sessionKey,omitempty"`
	RunID      RunID           `json:"runId,omitempty"`
	Node       NodeID          `json:"node,omitempty"`
	Tool       string          `json:"tool"` // bare name
	Args       json.RawMessage `json:"args,omitempty"`
	Effect     Effect          `json:"effect,omitempty"` // read, write, exec, network; empty is unknown
	State      string          `json:"state"`            // waiting, running, done, failed, denied, cancelled or unknown
	ApprovalID QuestionID      `json:"approvalId,omitempty"`
	StartedAt  int64           `json:"startedAt,omitempty"`
	EndedAt    int64           `json:"endedAt,omitempty"`
	// Tail is the end of the output of a command that runs, or whose outcome is unknown.
	Tail     string       `json:"tail,omitempty"`
	Bytes    int64        `json:"bytes,omitempty"`
	ExitCode *int         `json:"exitCode,omitempty"`
	Preview  *CallPreview `json:"preview,omitempty"`
	Error    string       `json:"error,omitempty"`
	Fault    *Fault       `json:"fault,omitempty"` // the error with its code, if the tool has one
	// Direct reports that the person made the call.
	Direct bool `json:"direct,omitempty"`
	// Undo reports that the call restored the files that a transfer with these arguments had replaced
	// (extension).
	Undo bool `json:"undo,omitempty"`
	// Edited reports that the person changed the arguments before the call ran; Args are theirs.
	Edited bool `json:"edited,omitempty"`
	// Partial counts the parts of a file change that the person allowed, if they left out others.
	Partial *PartialChange `json:"partial,omitempty"`
}

// PartialChange says that the person allowed only some parts of a file change (extension).
type PartialChange struct {
	Allowed int `json:"allowed"`
	Total   int `json:"total"`
}

// DeniedByPerson is Error when the person denied the call; DenialReason and their reason may follow.
// ChangedCallFailed begins it when the person changed the call and it could not run. They are texts for
// models; protocol.ForPerson words them for the person.
const (
	DeniedByPerson    = "The person denied this call."
	DenialReason      = " Their reason: "
	ChangedCallFailed = "The person changed the call, and the changed call could not be run: "
)

// NobodyAnswered is the beginning of Error when the call did not run because its approval expired.
// The person did not deny it.
const NobodyAnswered = "Nobody answered"

// Unanswered reports whether the call did not run because its approval expired.
func (c CallInfo) Unanswered() bool {
	return c.State == CallDenied && strings.HasPrefix(c.Error, NobodyAnswered)
}

// Over reports whether the call has ended.
func (c CallInfo) Over() bool { return c.State != CallWaiting && c.State != CallRunning }
