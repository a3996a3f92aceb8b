// Package native implements the gateway's own tools, gsv__*: the agent's files, the configuration,
// logs, schedules, messages, other chats and transfers. They are called like the tools of a node,
// so validation, approval and journal apply to them too.
package native

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// Config accesses the configuration with masked secrets.
type Config interface {
	All() (json.RawMessage, error)
	Read(path string) (json.RawMessage, error)
}

// Chats are the conversations.
type Chats interface {
	List(context.Context, protocol.SessionsListParams) (protocol.SessionsListResult, error)
	// Shared reports whether other people than the person take part in a chat.
	Shared(protocol.SessionKey) bool
}

// History returns the last messages of a chat.
type History interface {
	Preview(context.Context, protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error)
}

// Messages sends a message to a chat.
type Messages interface {
	Send(context.Context, auth.Principal, protocol.ChatSendParams) (protocol.ChatSendResult, error)
}

// Services are the dependencies of the tools.
type Services struct {
	Files    *workspace.Files
	Config   Config
	Chats    Chats
	History  History
	Messages Messages
	Machines Machines
	Watch    Watch
	Cron     toolkit.Tool[tool.Call]
	// Published are the services, and Node has the machines on which their apps run.
	Published Published
	Node      func(protocol.NodeID) (protocol.NodeInfo, bool)
	// Probe connects to the target of a service; see [service.Site.Probe].
	Probe    func(context.Context, protocol.NodeID, service.Target) error
	Networks Networks
	// Provisioning rents machines.
	Provisioning Provisioning
	Message      func(ctx context.Context, call tool.Call, in MessageIn) (any, error)
	// Transfer starts a transfer and waits for its end.
	Transfer func(ctx context.Context, call tool.Call, in TransferIn) (TransferOut, error)
}

// Machines are the connected nodes.
type Machines interface {
	// Logs reads the last lines of the log of a machine, or of the only connected one.
	Logs(ctx context.Context, p protocol.LogsGetParams, limit time.Duration) (protocol.LogsGetResult, error)
}

type tools struct{ Services }

// Tools returns the gateway's own tools.
func Tools(s Services) []tool.Own {
	t := tools{s}
	return slices.Concat(t.files(), t.inspect(), own(protocol.ScopeChat, s.Cron), t.talk(), []tool.Own{t.transferTool()}, serviceTools{s.Published, s.Node, s.Probe}.list(), networkTools{s.Networks}.list(), provisionTools{s.Provisioning}.list())
}

// own returns tools of the gateway with the scope of their equivalent methods.
func own(scope protocol.Scope, tools ...toolkit.Tool[tool.Call]) (list []tool.Own) {
	for _, t := range tools {
		list = append(list, tool.Own{Tool: t, Scope: scope})
	}
	return list
}

func (t tools) isShared(call tool.Call) bool {
	return call.Session != "" && t.Chats.Shared(call.Session)
}

func oneOf(t toolkit.Tool[tool.Call], parameter string, texts ...any) toolkit.Tool[tool.Call] {
	var s jsonschema.Schema
	err := json.Unmarshal(t.Spec.InputSchema, &s)
	if err == nil {
		s.Properties[parameter].Enum = texts
		t.Spec.InputSchema, err = protocol.Marshal(&s)
	}
	if err != nil {
		panic(err) // the schema is part of the program
	}
	return t
}

// logsLimit is the time in which a node must return its log, as in GSV.
const logsLimit = 20 * time.Second

type configIn struct {
	Path string `json:"path,omitempty" jsonschema:"dotted path of one value, such as session.dmScope; without it the whole configuration"`
}

type logsIn struct {
	NodeID protocol.NodeID `json:"nodeId,omitempty" jsonschema:"machine to read the log of; required when several are connected"`
	Lines  *float64        `json:"lines,omitempty" jsonschema:"number of lines from the end; default 100, at most 5000"`
}

func (t tools) inspect() []tool.Own {
	read := toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true}
	return own(protocol.ScopeRead,
		toolkit.Define("ConfigGet", "Read Fairlead's configuration. Keys and tokens are masked.", read, t.configGet),
		toolkit.Define("LogsGet", "Read the last lines of a machine's log.", read, t.logsGet),
	)
}

func (t tools) configGet(_ context.Context, _ tool.Call, in configIn) (protocol.ConfigGetResult, error) {
	if in.Path == "" {
		all, err := t.Config.All()
		return protocol.ConfigGetResult{Config: all}, err
	}
	value, err := t.Config.Read(in.Path)
	return protocol.ConfigGetResult{Path: in.Path, Value: value}, err
}

func (t tools) logsGet(ctx context.Context, _ tool.Call, in logsIn) (protocol.LogsGetResult, error) {
	return t.Machines.Logs(ctx, protocol.LogsGetParams{NodeID: in.NodeID, Lines: in.Lines}, logsLimit)
}

// TransferIn are the arguments of gsv__Transfer. The fields after Destination are extensions.
type TransferIn struct {
	Source      string   `json:"source" jsonschema:"source file: machine:/path/to/file, or gsv:path for a file of your own workspace; a folder is copied with everything in it"`
	Destination string   `json:"destination" jsonschema:"destination, written the same way"`
	Sources     []string `json:"sources,omitempty" jsonschema:"several sources, all on one machine, instead of source; destination is then the folder to copy them into"`
	Into        bool     `json:"into,omitempty" jsonschema:"destination is a folder, and the source keeps its name in it"`
	Conflict    string   `json:"conflict,omitempty" jsonschema:"what to do with a file that already exists: overwrite (the person can restore the old file for 30 days), rename (the new file gets a number) or skip; default overwrite"`
	Links       string   `json:"links,omitempty" jsonschema:"what to do with symbolic links in a folder: keep, follow or skip; default keep"`
	Later       bool     `json:"later,omitempty" jsonschema:"when a machine is not connected, wait for it instead of failing"`
	ExpiresIn   int64    `json:"expiresInMs,omitempty" jsonschema:"how many milliseconds to wait for a machine; default seven days"`
	Wait        *bool    `json:"wait,omitempty" jsonschema:"false returns as soon as the transfer is in the queue; default true, which waits until the files have arrived"`
}

// TransferOut is the result of gsv__Transfer: the transfer's end, or its start if Wait is false.
// The fields after Mime are extensions.
type TransferOut struct {
	Source           string              `json:"source"`
	Destination      string              `json:"destination"` // of the file or folder that was created
	BytesTransferred int64               `json:"bytesTransferred"`
	SHA256           string              `json:"sha256,omitempty"` // of the content, if it is one file
	Mime             string              `json:"mime,omitempty"`
	Path             string              `json:"path,omitempty"`    // the present path of the first file or folder
	Skipped          int                 `json:"skipped,omitempty"` // files that were left as they were, or existed already
	TransferID       protocol.TransferID `json:"transferId,omitempty"`
	State            string              `json:"state,omitempty"`
}

// Files returns the files and folders that a transfer reads and writes; nothing for invalid
// arguments, which the tool refuses. Otherwise a transfer would be a way around the rules about
// files.
func (in TransferIn) Files() (list []tool.FileAccess) {
	into := in.Into || len(in.Sources) > 1 || strings.HasSuffix(in.Destination, "/")
	sources := in.Sources
	if len(sources) == 0 {
		sources = []string{in.Source}
	}
	to, err := protocol.ParseEndpoint(in.Destination, true)
	if err != nil {
		return nil
	}
	for _, source := range sources {
		from, err := protocol.ParseEndpoint(source, true)
		if err != nil {
			return nil
		}
		at := to
		if into {
			at.Path = path.Join(to.Path, path.Base(strings.ReplaceAll(from.Path, `\`, "/")))
		}
		list = append(list, access(from, "Read", protocol.EffectRead), access(at, "Write", protocol.EffectWrite))
	}
	return list
}

func access(at protocol.Endpoint, name string, effect protocol.Effect) tool.FileAccess {
	if at.Node == protocol.NativePrefix {
		name += "File"
	}
	return tool.FileAccess{Endpoint: at, Tool: name, Effect: effect, IsWhole: true}
}

func (t tools) transferTool() tool.Own {
	own := tool.Own{Scope: protocol.ScopeInvoke, Tool: toolkit.Define("Transfer", "Transfer a file: copy it between machines, or between a machine and your own workspace. Returns when the file has arrived.",
		toolkit.Traits{Effect: protocol.EffectWrite}, t.Transfer)}
	// A large file takes long, and a transfer without progress is stopped by its queue.
	own.Spec.OwnTime = true
	own.Files = func(args json.RawMessage) []tool.FileAccess {
		var in TransferIn
		if json.Unmarshal(args, &in) != nil {
			return nil
		}
		return in.Files()
	}
	return own
}
