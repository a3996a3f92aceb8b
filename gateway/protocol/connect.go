package protocol

// Mode is what a peer is (seed 004, connect).
type Mode string

const (
	ModeClient  Mode = "client"
	ModeNode    Mode = "node"
	ModeChannel Mode = "channel"
)

// ConnectParams is the handshake (seed 004, connect). MaxProtocol, Client.Version and Client.Platform may be missing: real peers
// leave them out.
type ConnectParams struct {
	MinProtocol int          `json:"minProtocol"`
	MaxProtocol int          `json:"maxProtocol,omitempty"`
	Client      ClientInfo   `json:"client"`
	Tools       []ToolSpec   `json:"tools,omitempty"`
	NodeRuntime *NodeRuntime `json:"nodeRuntime,omitempty"`
	Auth        *Auth        `json:"auth,omitempty"`
	// Extensions names what the peer understands beyond the seeds (extension). See the Ext constants.
	Extensions []string `json:"extensions,omitempty"`
	// Host says what machine a node runs on (extension).
	Host *HostInfo `json:"host,omitempty"`
	// Programs are the names of the programs that a node's PATH leads to; absent is not known (extension).
	Programs []string `json:"programs,omitempty"`
	// Environment are the names of the variables that a node's commands may find set, never their values; absent is not known (extension).
	Environment []string `json:"environment,omitempty"`
	// Calls are the calls that a node goes on with, or whose results it has, from before it connected; see [ExtKeep] (extension).
	Calls []CallID `json:"calls,omitempty"`
}

// What a peer may name in ConnectParams.Extensions.
const (
	// ExtDeltas: the client wants chat events of the state "delta". The original command line would
	// print every answer twice: the deltas, and then the final message. A client that calls
	// feed.subscribe gets [Delta] changes and does not need it.
	ExtDeltas = "deltas"
	// ExtPreview: the node answers tool.invoke with preview set (see [ToolInvoke]).
	ExtPreview = "preview"
	// ExtProgress: the node sends tool.progress while a call runs.
	ExtProgress = "progress"
	// ExtCancel: the node obeys the tool.cancel event.
	ExtCancel = "cancel"
	// ExtKeep: the node goes on with calls when its connection is lost, keeps their results, and names them when it connects again.
	ExtKeep = "keep"
)

// ClientInfo identifies a peer.
type ClientInfo struct {
	ID        string `json:"id"`
	Version   string `json:"version,omitempty"`
	Platform  string `json:"platform,omitempty"`
	Mode      Mode   `json:"mode"`
	Channel   string `json:"channel,omitempty"`
	AccountID string `json:"accountId,omitempty"`
}

// Auth carries the token.
type Auth struct {
	Token string `json:"token,omitempty"`
	// Device proves that the token's device is the one that sends it (extension).
	Device *DeviceProof `json:"device,omitempty"`
}

// Capability ids (seed 000, Capability Mapping).
const (
	CapList   = "filesystem.list"
	CapRead   = "filesystem.read"
	CapWrite  = "filesystem.write"
	CapEdit   = "filesystem.edit"
	CapSearch = "text.search"
	CapExec   = "shell.exec"
)

// Capabilities are all known capability ids, sorted.
var Capabilities = []string{CapEdit, CapList, CapRead, CapWrite, CapExec, CapSearch}

// NodeRuntime says what a node can do (seed 004, Node Runtime Info).
type NodeRuntime struct {
	HostCapabilities []string            `json:"hostCapabilities"`
	ToolCapabilities map[string][]string `json:"toolCapabilities"`
}

// HostInfo describes a node's machine for people (extension). Every field may be empty.
type HostInfo struct {
	Hostname  string `json:"hostname,omitempty"`
	OS        string `json:"os,omitempty"` // as a person would say it: "Debian GNU/Linux 12"
	Arch      string `json:"arch,omitempty"`
	Address   string `json:"address,omitempty"`
	User      string `json:"user,omitempty"`
	Home      string `json:"home,omitempty"`      // of the user, an absolute path
	Workspace string `json:"workspace,omitempty"` // absolute path
	Shell     string `json:"shell,omitempty"`
	Sandbox   string `json:"sandbox,omitempty"` // what is enforced on commands, one line
	// Folders are what its tools may use, the workspace first; WholeDisk says that the file tools use everything.
	Folders   []Folder `json:"folders,omitempty"`
	WholeDisk bool     `json:"wholeDisk,omitempty"`
	// Aliases are other names of such folders, and of those that the system keeps under another name, by which rules and calls may name them.
	Aliases []Alias `json:"aliases,omitempty"`
	// Private is the program's own data folder on that machine, absolute: what changes something there is asked about whatever the rules say.
	Private string `json:"private,omitempty"`
	// Enforcement is the same in detail.
	Enforcement *Enforcement `json:"enforcement,omitempty"`
}

// Alias is another name of a folder: Path is or leads through a symbolic link, and Folder is what it leads to, without any. Both are absolute.
type Alias struct {
	Path   string `json:"path"`
	Folder string `json:"folder"`
}

// Enforcement says how a node's commands are confined, and what its machine is known to enforce because it was tried.
type Enforcement struct {
	Mode     string          `json:"mode"`    // read-only, workspace-write or full
	Network  string          `json:"network"` // blocked or allowed
	Summary  string          `json:"summary"` // contained, partly or none
	Checks   []EnforcedCheck `json:"checks,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	// Hidden are absolute files and folders that commands cannot read, nor what lies in them, where fs.read.secrets is enforced.
	Hidden []string `json:"hidden,omitempty"`
	// Lends says that the network is kept from commands, and given to single ones for which the person allows it.
	Lends bool `json:"lendsNetwork,omitempty"`
}

// EnforcedCheck is one guarantee. By names the layer that keeps it; Why says what is missing where it is not kept, Fix what to do about it.
type EnforcedCheck struct {
	ID       string `json:"id"`
	Enforced bool   `json:"enforced"`
	By       string `json:"by,omitempty"`
	Why      string `json:"why,omitempty"`
	Fix      string `json:"fix,omitempty"`
}

// ConnectResult answers connect.
type ConnectResult struct {
	Type     string     `json:"type"` // "hello-ok"
	Protocol int        `json:"protocol"`
	Server   ServerInfo `json:"server"`
	Features Features   `json:"features"`
}

// HelloOK is ConnectResult.Type.
const HelloOK = "hello-ok"

// ServerInfo identifies the gateway.
type ServerInfo struct {
	Version      string `json:"version"`
	ConnectionID ConnID `json:"connectionId"`
}

// Features lists what the gateway offers.
type Features struct {
	Methods []string `json:"methods"`
	Events  []string `json:"events"`
	// Extensions are the values that the gateway understands in ConnectParams.Extensions (extension).
	Extensions []string `json:"extensions"`
}

// Extensions are all values of ConnectParams.Extensions, sorted.
var Extensions = []string{
	ExtCancel, ExtDelivery, ExtDeltas, ExtDirect, ExtFiles, ExtKeep, ExtMedia, ExtPreview, ExtProgress, ExtTransfer, ExtEarly, ExtLane, ExtUndo,
}

// WebSocket close codes of the original (gsv interop notes).
const (
	CloseReplaced   = 1000
	CloseNoRegistry = 4000
	// ClosePolicy is sent to a peer that does not shake hands in time, or asks too much before.
	ClosePolicy       = 1008
	CloseUnauthorized = 4001
)
