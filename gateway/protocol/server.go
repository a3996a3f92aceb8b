package protocol

// ServerName names an MCP server whose tools the agent can use. It has 1 to 32 letters, digits,
// hyphens and underscores, no two underscores in a row, and is unique among servers and machines.
type ServerName string

// ServerSpec says how to reach an MCP server, in the shape that other programs use: a command to
// start, or an address.
type ServerSpec struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"` // secret values are in the keychain, and masked here
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty" url:"true"`
	Headers map[string]string `json:"headers,omitempty"` // as Env
	// ClientID and ClientSecret are those of Fairlead at the sign-in of a server that registers no
	// clients by itself; the secret is masked as Env is.
	ClientID     string `json:"clientId,omitempty"`
	ClientSecret string `json:"clientSecret,omitempty"`
	// Node is the machine that runs the command; empty: the gateway's own.
	Node NodeID `json:"node,omitempty"`
	// Network says whether the command may use the network: no, fetch (its package is fetched first, and
	// then it runs without one) or yes. Empty is yes, as in settings of earlier versions.
	Network string `json:"network,omitempty" oneof:",no,fetch,yes"`
	// Disabled keeps the server's settings but does not connect to it.
	Disabled bool `json:"disabled,omitempty"`
	// DisabledTools are the tools of the server that the agent does not get.
	DisabledTools []string `json:"disabledTools,omitempty"`
}

// States of an MCP server.
const (
	ServerStarting = "starting"
	ServerReady    = "ready"
	ServerFailed   = "failed"   // Error says why; it is tried again
	ServerDisabled = "disabled" // by the person
	ServerSignIn   = "signIn"   // the person has to sign in: servers.signIn
	ServerOffline  = "offline"  // its machine is offline
)

// ServerTool is a tool of an MCP server.
type ServerTool struct {
	Name        string `json:"name"` // without the server
	Title       string `json:"title,omitempty"`
	Description string `json:"description"`
	Effect      Effect `json:"effect"`
	Enabled     bool   `json:"enabled"`
	// Changed means that the description or the schema differs from what the person accepted: the
	// agent gets the tool once the question about it (kind tools) is allowed. Before is the accepted
	// description, and Diff shows every change since, of schemas and annotations too, in the unified
	// format.
	Changed bool   `json:"changed,omitempty"`
	Before  string `json:"before,omitempty"`
	Diff    string `json:"diff,omitempty"`
}

// ServerStatus describes an MCP server and its state.
type ServerStatus struct {
	Name      ServerName   `json:"name"`
	Spec      ServerSpec   `json:"spec"`
	State     string       `json:"state"`
	Error     string       `json:"error,omitempty"` // a sentence for people
	Title     string       `json:"title,omitempty"` // as the server calls itself
	Version   string       `json:"version,omitempty"`
	Since     int64        `json:"since,omitempty"` // of the state, Unix milliseconds
	Tools     []ServerTool `json:"tools"`
	Resources int          `json:"resources"`
	Prompts   int          `json:"prompts"`
}

// ServersListResult lists the MCP servers by name.
type ServersListResult struct {
	Servers []ServerStatus `json:"servers"`
}

// ServerParams names an MCP server.
type ServerParams struct {
	Name ServerName `json:"name"`
}

// ServerSetParams adds a server or replaces its settings. A masked value of Env or Headers stays.
type ServerSetParams struct {
	Name ServerName `json:"name"`
	Spec ServerSpec `json:"spec"`
}

// ServerParseParams has what a person pasted: a JSON snippet with servers, a command line, or a web
// address.
type ServerParseParams struct {
	Text string `json:"text"`
}

// FoundServer is a server that ServersParse read, or that another program on the gateway's machine
// uses.
type FoundServer struct {
	Name   ServerName `json:"name"`
	Spec   ServerSpec `json:"spec"`
	Source string     `json:"source,omitempty"` // such as Claude Desktop
	Path   string     `json:"path,omitempty"`   // of the file
	// Project is the folder of the only project in which the program uses it; empty: in all.
	Project string `json:"project,omitempty"`
	Exists  bool   `json:"exists,omitempty"` // a server of this name is set up already
}

// ServersFoundResult lists servers that can be added. Nothing is stored.
type ServersFoundResult struct {
	Servers []FoundServer `json:"servers"`
}

// ServerLogsResult has the last lines that a server wrote besides messages, and what happened to the
// connection; oldest first.
type ServerLogsResult struct {
	Lines []string `json:"lines"`
}

// ServerSignInResult has the address that the person opens in the browser.
type ServerSignInResult struct {
	URL string `json:"url"`
}

// ServerItem is a resource or a prompt of a server, which a person can attach to a message.
type ServerItem struct {
	Server      ServerName `json:"server"`
	Kind        string     `json:"kind"` // resource or prompt
	Name        string     `json:"name"` // of a prompt
	URI         string     `json:"uri,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	MimeType    string     `json:"mimeType,omitempty"`
	// Arguments are those of a prompt.
	Arguments []ServerArgument `json:"arguments,omitempty"`
}

// ServerArgument is an argument of a prompt.
type ServerArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// ServerItemsResult lists the resources and prompts of all servers that are ready.
type ServerItemsResult struct {
	Items []ServerItem `json:"items"`
}

// ServerReadParams reads a resource or gets a prompt.
type ServerReadParams struct {
	Server    ServerName        `json:"server"`
	URI       string            `json:"uri,omitempty"`
	Prompt    string            `json:"prompt,omitempty"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// ServerReadResult is the text of a resource or a prompt.
type ServerReadResult struct {
	Text string `json:"text"`
}

// Field is a field of a form.
type Field struct {
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Kind        string   `json:"kind"` // text, email, uri, date, dateTime, number, integer, boolean, choice or choices
	Choices     []Choice `json:"choices,omitempty"`
	Default     any      `json:"default,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Min         *float64 `json:"min,omitempty"` // of a number, or the length of a text
	Max         *float64 `json:"max,omitempty"`
}

// Choice is a value that a person can choose.
type Choice struct {
	Value string `json:"value"`
	Title string `json:"title"`
}

// The methods for MCP servers as tools of the agent.
var (
	ServersList     = Method[Empty, ServersListResult]{"servers.list", ScopeRead, clients, extension}
	ServerSet       = Method[ServerSetParams, ServerStatus]{"servers.set", ScopeAdmin, clients, extension}
	ServerRemove    = Method[ServerParams, OK]{"servers.remove", ScopeAdmin, clients, extension}
	ServerRestart   = Method[ServerParams, OK]{"servers.restart", ScopeAdmin, clients, extension}
	ServersParse    = Method[ServerParseParams, ServersFoundResult]{"servers.parse", ScopeRead, clients, extension}
	ServersFind     = Method[Empty, ServersFoundResult]{"servers.find", ScopeAdmin, clients, extension}
	ServerLogs      = Method[ServerParams, ServerLogsResult]{"servers.logs", ScopeRead, clients, extension}
	ServerSignInURL = Method[ServerParams, ServerSignInResult]{"servers.signIn", ScopeAdmin, clients, extension}
	ServerItems     = Method[Empty, ServerItemsResult]{"servers.items", ScopeRead, clients, extension}
	ServerRead      = Method[ServerReadParams, ServerReadResult]{"servers.read", ScopeRead, clients, extension}
)
