package protocol

// ExtTerminal: the node has terminals (docs/protocol.md#terminals). It needs [ExtTunnel], too.
const ExtTerminal = "terminal"

// TerminalPath replaces the last part of the gateway's address for the connections of viewers.
const TerminalPath = "terminal"

// TerminalID names a terminal of a machine. Two machines may use the same.
type TerminalID string

// Frames of a terminal. A frame is one of these bytes and a body. On the connection of a viewer, it
// is one binary message. In a stream between the gateway and a machine, its length precedes it, as
// 4 bytes, big endian.
const (
	// TerminalRequested begins a stream to a machine; the body is a [TerminalRequest].
	TerminalRequested = 'q'
	// TerminalSnapshot has escape sequences that bring an empty terminal of the size in the last
	// [TerminalStateChanged] to the present state. The viewer clears its terminal first.
	TerminalSnapshot = 's'
	// TerminalOutput has bytes of the program. It contains no questions of the program to the
	// terminal, such as ESC[6n: the machine answers them, so that viewers do not.
	TerminalOutput = 'o'
	// TerminalInput has bytes for the program. Those of a viewer that is not the typist are ignored.
	TerminalInput = 'i'
	// TerminalResize has the [TerminalSize] of a viewer. Only that of the typist counts.
	TerminalResize = 'r'
	// TerminalTakeOver asks to become the typist; without a body.
	TerminalTakeOver = 't'
	// TerminalGiveBack ends being the typist; without a body. Whoever typed before types again.
	TerminalGiveBack = 'g'
	// TerminalStateChanged has the [TerminalState], at the start and after each change.
	TerminalStateChanged = 'n'
	// TerminalAllow is the typist's answer to a request to take over, a [TerminalAnswer].
	TerminalAllow = 'a'
	// TerminalEnded is the last frame, a [TerminalEnd].
	TerminalEnded = 'e'
)

// MaxTerminalFrame is the largest size of a frame in bytes.
const MaxTerminalFrame = 1 << 20

// Limits of the size of a terminal. Sizes outside are changed to the nearest.
const (
	MinTerminalCols, MaxTerminalCols = 2, 500
	MinTerminalRows, MaxTerminalRows = 1, 300
)

// TerminalHistory is the number of lines above the screen that a machine retains.
const TerminalHistory = 2000

// TerminalOpen says what a new terminal runs.
type TerminalOpen struct {
	// Command is a line for the user's login shell; empty: that shell itself.
	Command  string `json:"command,omitempty"`
	Username string `json:"username,omitempty"` // empty: the user that started Fairlead there
	Workdir  string `json:"workdir,omitempty"`  // empty: the user's home folder
	Cols     int    `json:"cols,omitempty"`     // 0: 80
	Rows     int    `json:"rows,omitempty"`     // 0: 24
}

// Terminal is a process of a machine with a screen.
type Terminal struct {
	ID       TerminalID `json:"id"`
	Node     NodeID     `json:"nodeId"`
	Title    string     `json:"title,omitempty"`   // as the program set it, in safe characters
	Command  string     `json:"command,omitempty"` // empty: the user's shell
	Username string     `json:"username,omitempty"`
	Workdir  string     `json:"workdir,omitempty"`
	Cols     int        `json:"cols"`
	Rows     int        `json:"rows"`
	// StartedAt and EndedAt are Unix milliseconds. A terminal whose program has ended stays for ten
	// minutes, with its last screen.
	StartedAt int64        `json:"startedAt"`
	EndedAt   int64        `json:"endedAt,omitempty"` // 0: it runs
	End       *TerminalEnd `json:"end,omitempty"`
	By        string       `json:"by,omitempty"`        // the principal that opened it
	Service   ServiceID    `json:"serviceId,omitempty"` // the service that shows it
	// CommandID is the ID of the agent's command that runs in it, in the results of Bash and command.
	// Such a terminal is not closed here, and the agent types at first.
	CommandID  string     `json:"commandId,omitempty"`
	CallID     CallID     `json:"callId,omitempty"`     // the call that started it
	SessionKey SessionKey `json:"sessionKey,omitempty"` // the chat of that command; the gateway fills it in
	// WatchOnly: the program has no terminal, so that nobody can type.
	WatchOnly bool `json:"watchOnly,omitempty"`
	// Viewers and Typist are filled in by the gateway.
	Viewers int    `json:"viewers,omitempty"`
	Typist  string `json:"typist,omitempty"` // the name of who types; empty: nobody
}

// TerminalSize is the size of a screen in cells.
type TerminalSize struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// TerminalState is what viewers show around the screen.
type TerminalState struct {
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Title   string `json:"title,omitempty"`
	Typing  bool   `json:"typing,omitempty"` // the viewer that gets this is the typist
	Typist  string `json:"typist,omitempty"` // the name of who types; empty: nobody
	Viewers int    `json:"viewers,omitempty"`
	// Request is the name of who asks to take over. The typist answers with [TerminalAllow].
	Request string `json:"request,omitempty"`
	// WatchOnly: nobody can type.
	WatchOnly bool `json:"watchOnly,omitempty"`
	// Offline: the machine cannot be reached now. A snapshot follows when it can.
	Offline bool `json:"offline,omitempty"`
}

// TerminalAnswer answers a request to take over.
type TerminalAnswer struct {
	Allow bool `json:"allow"`
}

// TerminalEnd says why a terminal, or the view of it, has ended.
type TerminalEnd struct {
	ExitCode *int   `json:"exitCode,omitempty"` // nil: the program did not exit by itself
	Error    string `json:"error,omitempty"`    // for people
	// Lost: only the view has ended; the program may go on.
	Lost bool `json:"lost,omitempty"`
}

// TerminalConnectParams are those of a viewer: they open a terminal, or view one.
type TerminalConnectParams struct {
	Client ClientInfo `json:"client"`
	Auth   *Auth      `json:"auth,omitempty"`
	Node   NodeID     `json:"nodeId"`
	ID     TerminalID `json:"id,omitempty"` // empty: open a new one
	// Open says what a new terminal runs; nil: the user's shell.
	Open *TerminalOpen `json:"open,omitempty"`
	// Name is shown to other viewers, such as the name of a computer; empty: the name of the device,
	// or "the owner".
	Name string `json:"name,omitempty"`
	// Watch: the viewer does not become the typist by itself. Otherwise, it does if nobody types.
	Watch bool `json:"watch,omitempty"`
}

// TerminalParams names a terminal.
type TerminalParams struct {
	Node NodeID     `json:"nodeId"`
	ID   TerminalID `json:"id"`
}

// TerminalListParams asks for the terminals of a machine, or of all.
type TerminalListParams struct {
	Node NodeID `json:"nodeId,omitempty"` // empty: all
}

// TerminalListResult lists terminals of machines that are online, oldest first.
type TerminalListResult struct {
	Terminals []Terminal `json:"terminals"`
}

// TerminalReport has all terminals of a node. It sends one after it has connected, and when one is
// added, removed or has ended.
type TerminalReport struct {
	Terminals []Terminal `json:"terminals"`
}

// What a [TerminalRequest] asks for.
const (
	TerminalDoOpen  = "open"
	TerminalDoView  = "view"
	TerminalDoClose = "close"
)

// TerminalRequest is the first frame of a stream to a machine. For open, the machine answers with a
// [TerminalEnded] frame: without an error, the terminal is open. For view, a [TerminalStateChanged]
// frame, a snapshot and output follow, and the gateway sends input, sizes, and [TerminalTakeOver]
// and [TerminalGiveBack] when this viewer begins and ends to type. For close, a [TerminalEnded]
// frame follows once the program has ended.
type TerminalRequest struct {
	Do      string        `json:"do"`
	ID      TerminalID    `json:"id"`
	Open    *TerminalOpen `json:"open,omitempty"`
	By      string        `json:"by,omitempty"`
	Service ServiceID     `json:"serviceId,omitempty"`
}

// Methods of terminals. They are of the owner: apps and the agent have none of them.
var (
	// TerminalConnect is the first request of a connection at [TerminalPath]. After the response, the
	// connection carries frames, one in each binary message.
	TerminalConnect = Method[TerminalConnectParams, Terminal]{"terminal.connect", ScopeInvoke, clients, extension}
	// TerminalList and TerminalClose are of the ordinary connection.
	TerminalList  = Method[TerminalListParams, TerminalListResult]{"terminal.list", ScopeRead, clients, extension}
	TerminalClose = Method[TerminalParams, OK]{"terminal.close", ScopeInvoke, clients, extension}
	// ReportTerminals is of a node with [ExtTerminal].
	ReportTerminals = Method[TerminalReport, Ack]{"terminal.report", ScopeNode, nodes, extension}
)
