package protocol

import (
	"encoding/json"
	"time"
)

// actsAs maps each tool that nodes offer to programs only to the tool that the agent has for the
// same purpose. The rules of that tool apply to it, so that a rule about a file or a command holds
// however it is reached. Tools mapped to "" read facts about the machine.
var actsAs = map[string]string{
	"command": "Bash", "serve": "Bash", KeepTool: "Write",
	"fs_read": "Read", "fs_stat": "Read", "fs_list": "Glob", "fs_glob": "Glob", "fs_grep": "Grep",
	"fs_write": "Write", "fs_delete": "Write", "fs_mkdir": "Write", "fs_fetch": "Write",
	"net_interfaces": "", "net_metrics": "", "net_routes": "", "net_dns": "",
}

// ForPrograms reports whether a node's tool is meant for programs that call over MCP, REST or the
// command line. The agent does not see it, because it has another tool for the same purpose.
func ForPrograms(bare string) bool {
	_, ok := actsAs[bare]
	return ok
}

// ActsAs returns the tool whose rules apply to a node's tool: usually the tool itself.
func ActsAs(bare string) string {
	if as := actsAs[bare]; as != "" {
		return as
	}
	return bare
}

// appScopes are the scopes of the tools of nodes that apps reach without the scope for all tools.
var appScopes = map[string][]Scope{
	"command": {ScopeShell},
	"fs_read": {ScopeFilesRead}, "fs_stat": {ScopeFilesRead}, "fs_list": {ScopeFilesRead}, "fs_glob": {ScopeFilesRead}, "fs_grep": {ScopeFilesRead},
	"fs_write": {ScopeFilesWrite}, "fs_delete": {ScopeFilesWrite}, "fs_mkdir": {ScopeFilesWrite}, FetchTool: {ScopeFilesWrite},
	"Edit":           {ScopeAllTools, ScopeFilesWrite}, // which fs_edit calls
	"net_interfaces": {ScopeNetRead}, "net_metrics": {ScopeNetRead}, "net_routes": {ScopeNetRead}, "net_dns": {ScopeNetRead},
}

// ScopesOf returns the scopes of which an app needs one to call a node's tool.
func ScopesOf(bare string) []Scope {
	if s := appScopes[bare]; s != nil {
		return s
	}
	return []Scope{ScopeAllTools}
}

// ReadsFacts reports whether a node's tool only reads facts about its machine, such as its network
// interfaces, and no files: the scope of the app that calls it decides.
func ReadsFacts(bare string) bool {
	as, ok := actsAs[bare]
	return ok && as == ""
}

// BatchTool names several calls of one machine in a question about all of them, with BatchArgs. It is
// no tool of its own.
const BatchTool = "fs_batch"

// BatchArgs are the arguments in a question about several calls.
type BatchArgs struct {
	Files string `json:"files"` // what happens to each file, one a line
}

// CommandTool is the tool of nodes that runs commands for programs.
const CommandTool = "command"

// FetchTool is the tool of nodes that downloads a file, and FetchTime how long it may take. The node
// ends it then.
const (
	FetchTool = "fs_fetch"
	FetchTime = 30 * time.Minute
)

// MaxCommandWait is how long a call of CommandTool waits for a command that keeps printing, unless
// its idle_timeout is longer.
const MaxCommandWait = 2 * time.Minute

// CommandTime returns how long a call of CommandTool can take. The node ends it before.
func CommandTime(args json.RawMessage) time.Duration {
	var in struct {
		IdleTimeout float64 `json:"idle_timeout"` // in seconds
	}
	const most = 3600             // more than a node takes
	_ = json.Unmarshal(args, &in) // the node refuses invalid arguments
	return max(time.Duration(min(in.IdleTimeout, most)*float64(time.Second)), MaxCommandWait) + 30*time.Second
}
