package protocol

import "encoding/json"

// AppID identifies a connected app: a program that calls tools over MCP or REST with a token of its
// own.
type AppID string

// Grantee returns the key under which the permissions that the person gave to an app are stored,
// beside those of chats.
func (id AppID) Grantee() SessionKey { return SessionKey("app:" + string(id)) }

// The scopes that an app can have. A scope lets an app ask; the rules and the person still decide
// about every call with an effect.
const (
	ScopeNetworkRead   Scope = "network.read"       // list machines
	ScopeNetworkWrite  Scope = "network.write"      // create and delete networks
	ScopeNodeRegister  Scope = "node.register"      // make invitations for machines
	ScopeProvision     Scope = "provisioning.write" // rent machines
	ScopeService       Scope = "service.write"      // publish services
	ScopeShell         Scope = "shell.exec"
	ScopeFilesRead     Scope = "fs.read"
	ScopeFilesWrite    Scope = "fs.write"
	ScopeNetRead       Scope = "net.read"       // network diagnostics of machines
	ScopeForward       Scope = "net.forward"    // reach ports of machines through forwards
	ScopeAllTools      Scope = "tools.all"      // the agent's tools and every tool of every machine
	ScopeOfflineAccess Scope = "offline_access" // refresh tokens
)

// UsualAppScopes are those that a client program is set up with, or told to ask for: everything
// except forwards and the agent's own tools.
var UsualAppScopes = []Scope{ScopeNetworkRead, ScopeShell, ScopeFilesRead, ScopeFilesWrite, ScopeNetRead}

// AppScopes lists every scope that an app can have and that gives access to something that exists.
var AppScopes = []Scope{
	ScopeNetworkRead, ScopeNetworkWrite, ScopeNodeRegister, ScopeProvision, ScopeShell, ScopeFilesRead, ScopeFilesWrite, ScopeNetRead, ScopeForward, ScopeService, ScopeAllTools,
}

// ScopeNames returns scopes as texts.
func ScopeNames(scopes []Scope) []string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return names
}

// Kinds of connected apps.
const (
	AppToken = "token" // a token that the person made by hand
	AppOAuth = "oauth" // an app that the person signed in
)

// App is a connected app. The secret of its token is stored only as a hash.
type App struct {
	ID         AppID   `json:"id"`
	Kind       string  `json:"kind"` // token or oauth
	Name       string  `json:"name"`
	ClientID   string  `json:"clientId,omitempty"`   // of an app that signed in
	ClientHost string  `json:"clientHost,omitempty"` // the host that published the app; empty: not proven
	Scopes     []Scope `json:"scopes"`
	// Nodes and Networks are the machines that it may use; both empty: all.
	Nodes      []NodeID    `json:"nodes,omitempty"`
	Networks   []NetworkID `json:"networks,omitempty"`
	CreatedAt  int64       `json:"createdAt"`
	ExpiresAt  int64       `json:"expiresAt,omitempty"` // 0: never
	LastUsedAt int64       `json:"lastUsedAt,omitempty"`
	LastTool   string      `json:"lastTool,omitempty"` // the last tool that it called
	Calls      int64       `json:"calls"`
	RevokedAt  int64       `json:"revokedAt,omitempty"`
}

// MachineLimit returns the machines that the app may use.
func (a App) MachineLimit() MachineLimit { return MachineLimit{a.Nodes, a.Networks} }

// AppsListResult lists the connected apps, newest first, also revoked ones of the last 30 days.
type AppsListResult struct {
	Apps []App `json:"apps"`
	// Commands are the running commands of apps, and of programs with the gateway's own token, oldest
	// first.
	Commands []AppCommand `json:"commands"`
}

// AppCommand is a running command of an app.
type AppCommand struct {
	ID        string `json:"id"`
	App       AppID  `json:"app,omitempty"` // empty for a program with the gateway's own token
	Name      string `json:"name"`          // of the app
	Node      NodeID `json:"nodeId"`
	Text      string `json:"text"` // the command line
	StartedAt int64  `json:"startedAt"`
}

// AppStopParams names a running command of an app.
type AppStopParams struct {
	ID string `json:"id"`
}

// AppParams names an app.
type AppParams struct {
	ID AppID `json:"id"`
}

// AppUpdateParams changes an app; what is nil stays. It takes effect with the app's next call.
type AppUpdateParams struct {
	ID     AppID    `json:"id"`
	Name   *string  `json:"name,omitempty"`
	Scopes *[]Scope `json:"scopes,omitempty"`
	// Nodes and Networks are the machines that it may use; both empty: all.
	Nodes    *[]NodeID    `json:"nodes,omitempty"`
	Networks *[]NetworkID `json:"networks,omitempty"`
}

// TokenCreateParams makes a token by hand.
type TokenCreateParams struct {
	Name   string  `json:"name"`
	Scopes []Scope `json:"scopes"`
	// Nodes and Networks are the machines that it may use; both empty: all.
	Nodes     []NodeID    `json:"nodes,omitempty"`
	Networks  []NetworkID `json:"networks,omitempty"`
	ExpiresIn int64       `json:"expiresIn,omitempty"` // seconds; 0: never
}

// TokenCreateResult has the token, which is not stored and cannot be shown again.
type TokenCreateResult struct {
	App   App    `json:"app"`
	Token string `json:"token"`
}

// CatalogTool is a tool for programs that call over MCP, REST or the command line.
type CatalogTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Mode         string          `json:"mode"` // one_shot or server_stream
	Scopes       []Scope         `json:"scopes"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	ReadOnly     bool            `json:"readOnly"`
	Destructive  bool            `json:"destructive"`
	Idempotent   bool            `json:"idempotent"`
	OpenWorld    bool            `json:"openWorld"`
}

// CatalogListResult lists the tools for programs.
type CatalogListResult struct {
	Tools []CatalogTool `json:"tools"`
}

// CatalogCallParams calls a tool for programs.
type CatalogCallParams struct {
	Tool           string          `json:"tool"`
	Args           json.RawMessage `json:"args"`
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
}

// CatalogCallResult is the outcome: Data, or a Fault. A streaming tool's parts are in Chunks.
type CatalogCallResult struct {
	Data    json.RawMessage   `json:"data,omitempty"`
	Message string            `json:"message,omitempty"` // a summary for people
	Chunks  []json.RawMessage `json:"chunks,omitempty"`
	Fault   *Fault            `json:"fault,omitempty"`
}

// The methods for connected apps and their tools.
var (
	AppsList    = Method[Empty, AppsListResult]{"apps.list", ScopeRead, clients, extension}
	AppUpdate   = Method[AppUpdateParams, App]{"apps.update", ScopeAdmin, clients, extension}
	AppRevoke   = Method[AppParams, OK]{"apps.revoke", ScopeAdmin, clients, extension}
	AppStop     = Method[AppStopParams, OK]{"apps.stop", ScopeAdmin, clients, extension}
	TokenCreate = Method[TokenCreateParams, TokenCreateResult]{"tokens.create", ScopeAdmin, clients, extension}
	CatalogList = Method[Empty, CatalogListResult]{"catalog.list", ScopeRead, clients, extension}
	CatalogCall = Method[CatalogCallParams, CatalogCallResult]{"catalog.call", ScopeInvoke, clients, extension}
)
