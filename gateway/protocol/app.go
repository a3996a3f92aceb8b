package protocol

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
	ScopeNetworkWrite  Scope = "network.write"      // reserved: create and delete networks
	ScopeNodeRegister  Scope = "node.register"      // make invitations for machines
	ScopeProvision     Scope = "provisioning.write" // reserved: rent machines
	ScopeService       Scope = "service.write"      // reserved: publish services
	ScopeShell         Scope = "shell.exec"
	ScopeFilesRead     Scope = "fs.read"
	ScopeFilesWrite    Scope = "fs.write"
	ScopeNetRead       Scope = "net.read"       // network diagnostics of machines
	ScopeAllTools      Scope = "tools.all"      // the agent's tools and every tool of every machine
	ScopeOfflineAccess Scope = "offline_access" // refresh tokens
)

// AppScopes lists every scope that an app can have and that gives access to a tool that exists.
var AppScopes = []Scope{
	ScopeNetworkRead, ScopeShell, ScopeFilesRead, ScopeFilesWrite, ScopeNetRead, ScopeAllTools,
}

// Kinds of connected apps.
const (
	AppToken = "token" // a token that the person made by hand
	AppOAuth = "oauth" // an app that the person signed in
)

// App is a connected app. The secret of its token is stored only as a hash.
type App struct {
	ID         AppID    `json:"id"`
	Kind       string   `json:"kind"` // token or oauth
	Name       string   `json:"name"`
	ClientID   string   `json:"clientId,omitempty"`   // of an app that signed in
	ClientHost string   `json:"clientHost,omitempty"` // the host that published the app; empty: not proven
	Scopes     []Scope  `json:"scopes"`
	Nodes      []NodeID `json:"nodes,omitempty"` // the machines it may use; empty: all
	CreatedAt  int64    `json:"createdAt"`
	ExpiresAt  int64    `json:"expiresAt,omitempty"` // 0: never
	LastUsedAt int64    `json:"lastUsedAt,omitempty"`
	LastTool   string   `json:"lastTool,omitempty"` // the last tool that it called
	Calls      int64    `json:"calls"`
	RevokedAt  int64    `json:"revokedAt,omitempty"`
}

// Consent is the question whether an app may connect. It expires after a few minutes.
type Consent struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`                 // as the app calls itself
	ClientID     string  `json:"clientId"`             // an address, or an ID from a registration
	ClientHost   string  `json:"clientHost,omitempty"` // the host that published the app; empty: not proven
	RedirectHost string  `json:"redirectHost"`         // where the browser returns to
	IsLocal      bool    `json:"isLocal"`              // the redirect leads to a program on this computer
	Scopes       []Scope `json:"scopes"`               // requested
	Code         string  `json:"code"`                 // four characters that the browser shows too
	CreatedAt    int64   `json:"createdAt"`
	ExpiresAt    int64   `json:"expiresAt"`
}
