package protocol

// Mode is the role of a peer (docs/protocol.md#connections).
type Mode string

const (
	ModeClient  Mode = "client"
	ModeNode    Mode = "node"
	ModeChannel Mode = "channel"
)

// ConnectParams is the handshake (docs/protocol.md#connect). MaxProtocol, Client.Version and
// Client.Platform may be missing: some peers omit them.
type ConnectParams struct {
	MinProtocol int          `json:"minProtocol"`
	MaxProtocol int          `json:"maxProtocol,omitempty"`
	Client      ClientInfo   `json:"client"`
	Tools       []ToolSpec   `json:"tools,omitempty"`
	NodeRuntime *NodeRuntime `json:"nodeRuntime,omitempty"`
	Auth        *Auth        `json:"auth,omitempty"`
	// Extensions lists the extensions that the peer understands (extension).
	// docs/protocol.md#extensions lists them.
	Extensions []string `json:"extensions,omitempty"`
	// Host describes the machine of a node (extension).
	Host *HostInfo `json:"host,omitempty"`
	// Programs lists the programs in a node's PATH; missing means unknown (extension).
	Programs []string `json:"programs,omitempty"`
	// Environment lists the names, never the values, of the environment variables that a node's
	// commands may find; missing means unknown (extension).
	Environment []string `json:"environment,omitempty"`
	// Calls lists the calls from an earlier connection that a node continues or has results of
	// (extension "keep").
	Calls []CallID `json:"calls,omitempty"`
}

// Values of ConnectParams.Extensions.
const (
	// ExtDeltas: the client wants chat events with the state "delta". It is off by default because
	// GSV's command line would print every answer twice: as deltas and as the final message. A
	// client that calls feed.subscribe gets [Delta] changes and does not need it.
	ExtDeltas = "deltas"
	// ExtPreview: the node answers tool.invoke with preview set (see [ToolInvoke]).
	ExtPreview = "preview"
	// ExtProgress: the node sends tool.progress while a call runs.
	ExtProgress = "progress"
	// ExtCancel: the node stops a call when it gets the tool.cancel event.
	ExtCancel = "cancel"
	// ExtKeep: when its connection is lost, the node continues its calls, stores their results, and
	// names them when it connects again.
	ExtKeep = "keep"
)

// ClientInfo identifies a peer.
type ClientInfo struct {
	ID        string `json:"id"`
	Version   string `json:"version,omitempty"`
	Platform  string `json:"platform,omitempty"`
	Mode      Mode   `json:"mode"` // client, node or channel
	Channel   string `json:"channel,omitempty"`
	AccountID string `json:"accountId,omitempty"`
}

// Auth authenticates a peer by its token.
type Auth struct {
	Token string `json:"token,omitempty"`
	// Device proves that the paired device itself sends its token (extension).
	Device *DeviceProof `json:"device,omitempty"`
}

// Capability IDs.
const (
	CapList   = "filesystem.list"
	CapRead   = "filesystem.read"
	CapWrite  = "filesystem.write"
	CapEdit   = "filesystem.edit"
	CapSearch = "text.search"
	CapExec   = "shell.exec"
)

// Capabilities are all known capability IDs, sorted.
var Capabilities = []string{CapEdit, CapList, CapRead, CapWrite, CapExec, CapSearch}

// NodeRuntime lists the capabilities of a node and of its tools.
type NodeRuntime struct {
	HostCapabilities []string            `json:"hostCapabilities"`
	ToolCapabilities map[string][]string `json:"toolCapabilities"`
}

// HostInfo describes a node's machine for people (extension). Every field may be empty.
type HostInfo struct {
	Hostname  string `json:"hostname,omitempty"`
	OS        string `json:"os,omitempty"` // for people, such as "Debian GNU/Linux 12"
	Arch      string `json:"arch,omitempty"`
	Address   string `json:"address,omitempty"` // the gateway replaces it by the host from which the node connected
	User      string `json:"user,omitempty"`
	Home      string `json:"home,omitempty"`      // the user's home folder, absolute
	Workspace string `json:"workspace,omitempty"` // absolute
	Shell     string `json:"shell,omitempty"`
	Sandbox   string `json:"sandbox,omitempty"` // the restrictions that are enforced on commands, one line
	// Folders are the folders that the node's tools may use, the workspace first. WholeDisk is set
	// when the file tools may use the whole disk.
	Folders   []Folder `json:"folders,omitempty"`
	WholeDisk bool     `json:"wholeDisk,omitempty"`
	// Aliases are other names for these folders, and for system folders whose real path differs.
	// Rules and calls may use them.
	Aliases []Alias `json:"aliases,omitempty"`
	// Private is the absolute path of the program's own data folder on that machine. A call that
	// changes anything in it always needs an approval, whatever the rules say.
	Private string `json:"private,omitempty"`
	// Words are the words of the key of the node's device, so that people can recognize it. The gateway
	// sets them for a paired node.
	Words []string `json:"words,omitempty"`
	// Enforcement has the details of Sandbox.
	Enforcement *Enforcement `json:"enforcement,omitempty"`
	// System describes the machine to programs.
	System *HostSystem `json:"system,omitempty"`
}

// HostSystem describes a machine to programs. Every field may be empty.
type HostSystem struct {
	Platform        string `json:"platform,omitempty"` // the distribution, such as "debian"; "darwin" or "windows"
	PlatformVersion string `json:"platformVersion,omitempty"`
	KernelArch      string `json:"kernelArch,omitempty"` // as the kernel calls it, such as "x86_64"
	// Virtualization is the system and the role, such as "docker/guest" or "kvm/host"; empty for a
	// real machine.
	Virtualization string `json:"virtualization,omitempty"`
}

// Alias is another name for a folder. Path is, or leads through, a symbolic link; Folder is the
// path without symbolic links. Both are absolute.
type Alias struct {
	Path   string `json:"path"`
	Folder string `json:"folder"`
}

// Enforcement describes how a node's commands are confined, and which restrictions are known to
// work because the node tested them.
type Enforcement struct {
	Mode     string          `json:"mode"`    // read-only, workspace-write or full
	Network  string          `json:"network"` // blocked or allowed
	Summary  string          `json:"summary"` // contained, partly or none
	Checks   []EnforcedCheck `json:"checks,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	// Hidden lists absolute paths of files and folders that commands cannot read, including
	// everything in those folders, when fs.read.secrets is enforced.
	Hidden []string `json:"hidden,omitempty"`
	// SetsAside lists the absolute folders in which the node finds what a command creates under a rule
	// that denies writing it, and sets that aside: the folders that commands can write, and /tmp if
	// theirs is private. An older node lists none.
	SetsAside []string `json:"setsAside,omitempty"`
	// HidesOutside reports that the node also hides existing files outside of its folders under a rule
	// with wildcards but without **. An older node does not (extension).
	HidesOutside bool `json:"hidesOutside,omitempty"`
	// Lends reports that commands have no network, unless a person allows it for one.
	Lends bool `json:"lendsNetwork,omitempty"`
}

// ProtectedCheck is the ID of the check that commands cannot change existing files that start
// programs later, such as hooks of Git.
const ProtectedCheck = "fs.write.protected"

// Protects reports whether a machine passed [ProtectedCheck]: only there, a command that cannot be
// read completely may run because everything is allowed. If not, missing says why.
func (h *HostInfo) Protects() (ok bool, missing string) {
	if h == nil || h.Enforcement == nil {
		return false, "it does not report that it contains commands"
	}
	if h.Enforcement.Mode == "full" {
		return false, "its commands are not contained"
	}
	for _, c := range h.Enforcement.Checks {
		if c.ID == ProtectedCheck {
			return c.Enforced, c.Why
		}
	}
	return false, "it is too old for that"
}

// EnforcedCheck is one guarantee. By names the mechanism that enforces it. Where it is not
// enforced, Why gives the reason and Fix the remedy.
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

// Features lists the methods, events and extensions that the gateway offers.
type Features struct {
	Methods []string `json:"methods"`
	Events  []string `json:"events"`
	// Extensions are those of ConnectParams that the gateway understands (extension).
	Extensions []string `json:"extensions"`
}

// Extensions are all values of ConnectParams.Extensions, sorted.
var Extensions = []string{
	ExtCancel, ExtDelivery, ExtDeltas, ExtFiles, ExtKeep, ExtMedia, ExtPreview, ExtProgress, ExtTransfer, ExtDirect, ExtUndo, ExtTunnel, ExtTerminal,
}

// WebSocket close codes; GSV uses the same ones.
const (
	CloseReplaced   = 1000
	CloseNoRegistry = 4000
	// ClosePolicy is sent to a peer that does not complete the handshake in time, or sends too many
	// requests before it.
	ClosePolicy       = 1008
	CloseUnauthorized = 4001
)

// ForgottenReason is the reason in a close with [CloseReplaced] for a node that was removed from the
// gateway's list; GSV uses the same one.
const ForgottenReason = "Forgotten from node registry"
