package protocol

import (
	"fmt"
	"strings"
	"time"
)

// Transfers. The first four methods are seed 004's, from nodes to the gateway; the others are the queue that windows and the command line
// work on (extension).
var (
	TransferMeta     = Method[TransferMetaParams, OK]{"transfer.meta"}
	TransferAccept   = Method[TransferAcceptParams, OK]{"transfer.accept"}
	TransferComplete = Method[TransferCompleteParams, OK]{"transfer.complete"}
	TransferFinish   = Method[TransferDoneParams, OK]{"transfer.done"}

	TransferStart  = Method[TransferStartParams, Transfer]{"transfer.start"}
	TransferList   = Method[TransferListParams, TransferListResult]{"transfer.list"}
	TransferGet    = Method[TransferParams, Transfer]{"transfer.get"}
	TransferPause  = Method[TransferParams, Transfer]{"transfer.pause"}
	TransferResume = Method[TransferParams, Transfer]{"transfer.resume"}
	TransferCancel = Method[TransferParams, Transfer]{"transfer.cancel"}
	TransferRetry  = Method[TransferParams, Transfer]{"transfer.retry"}
	TransferUndo   = Method[TransferParams, Transfer]{"transfer.undo"}
	TransferForget = Method[TransferForgetParams, TransferForgetResult]{"transfer.forget"}
)

// ExtTransfer is what an end names in ConnectParams.Extensions that understands [TransferStream]: folders, hashes, credits, resuming.
const ExtTransfer = "transfer"

// ExtEarly is what an end with [ExtTransfer] names beside it that understands TransferStream.Early.
const ExtEarly = "transfer.early"

// ExtUndo is what an end with [ExtTransfer] names beside it that keeps what it replaces, and brings it back on [EventTransferUndo].
const ExtUndo = "transfer.undo"

// TransferID names a transfer in the queue.
type TransferID string

// States of a transfer. The last three are ends.
const (
	TransferQueued    = "queued"  // waits for its turn
	TransferWaiting   = "waiting" // a machine is away: it goes on by itself when that is back
	TransferRunning   = "running"
	TransferPaused    = "paused" // by the person
	TransferDone      = "done"
	TransferFailed    = "failed"
	TransferCancelled = "cancelled"
)

// What becomes of a file that is there already and has other content. One with the same content is always left as it is.
const (
	ConflictRename    = "rename" // the new one gets a number: "report (2).pdf"
	ConflictOverwrite = "overwrite"
	ConflictSkip      = "skip"
)

// What becomes of symbolic links in a folder that is sent.
const (
	LinksKeep   = "keep"   // made anew when they stay inside the folder, left out and reported otherwise
	LinksFollow = "follow" // what they lead to is sent, when the source may read it
	LinksSkip   = "skip"
)

// Here is the machine name of the caller's own process in [TransferStartParams]: the files are read or written by the window or command line
// itself, with the person's own rights, over the connection of the call, which needs client.Options.Files. It opens nothing that was not named there.
const Here = "@here"

// TransferStartParams puts a transfer into the queue (extension). It is the person's own act: a rule may deny it, nobody is asked.
type TransferStartParams struct {
	// Sources are files and folders, each "machine:/path" or "gsv:path" of the agent's workspace, all of one machine.
	Sources []string `json:"sources"`
	// Destination is "machine:/path" or "gsv:path": the new name of the one source, or the folder to put the sources into when Into is set,
	// when there are several, or when it ends with a slash. An empty path is the machine's workspace.
	Destination string `json:"destination"`
	Into        bool   `json:"into,omitempty"`
	Conflict    string `json:"conflict,omitempty"` // default rename
	Links       string `json:"links,omitempty"`    // default keep
	// Later has the transfer wait when a machine is away, for at most ExpiresIn milliseconds (default seven days); without it that is an error.
	Later     bool  `json:"later,omitempty"`
	ExpiresIn int64 `json:"expiresInMs,omitempty"`
}

// Transfer is one row of the queue or its history (extension). Times are Unix milliseconds, 0 is never.
type Transfer struct {
	ID          TransferID `json:"id"`
	State       string     `json:"state"`
	Sources     []string   `json:"sources"`
	Destination string     `json:"destination"`
	From        NodeID     `json:"from"` // machine of the sources; "gsv" is the agent's workspace, "@here" a window or command line
	To          NodeID     `json:"to"`
	Into        bool       `json:"into,omitempty"`
	Conflict    string     `json:"conflict"`
	Links       string     `json:"links"`
	// Files and Bytes are the total, 0 until the source has counted. FilesDone and BytesDone are
	// the part that is at the destination by now. When a transfer is done after one attempt,
	// BytesDone leaves out skipped files. A later attempt cannot tell those from files of an
	// earlier attempt.
	Files     int   `json:"files"`
	Bytes     int64 `json:"bytes"`
	FilesDone int   `json:"filesDone"`
	BytesDone int64 `json:"bytesDone"`
	Skipped   int   `json:"skipped,omitempty"`
	Failed    int   `json:"failed,omitempty"` // files that could not be moved; Problems has the first of them
	// Speed is bytes per second over the last seconds, 0 when nothing moves; ETA milliseconds that are left, 0 when nobody can say.
	Speed    int64             `json:"speed,omitempty"`
	ETA      int64             `json:"etaMs,omitempty"`
	Current  string            `json:"current,omitempty"` // the file that is on its way
	Error    string            `json:"error,omitempty"`   // why it failed, or what it waits for
	Problems []TransferProblem `json:"problems,omitempty"`
	// Simple says that an end knows only the basic protocol: the transfer goes file by file, cannot
	// pause or resume, and a retry begins anew.
	Simple    bool       `json:"simple,omitempty"`
	Later     bool       `json:"later,omitempty"`
	AskedBy   AskedBy    `json:"askedBy"`
	Session   SessionKey `json:"sessionKey,omitempty"`
	CallID    CallID     `json:"callId,omitempty"` // of the gsv__Transfer that began it
	Attempts  int        `json:"attempts,omitempty"`
	CreatedAt int64      `json:"createdAt"`
	StartedAt int64      `json:"startedAt,omitempty"`
	EndedAt   int64      `json:"endedAt,omitempty"`
	ExpiresAt int64      `json:"expiresAt,omitempty"`   // of one that waits
	ExpiresIn int64      `json:"expiresInMs,omitempty"` // how long it waits each time a machine goes away; 0 is seven days
	// Device is the paired device whose window or command line is an end ([Here]), and whose files alone are meant; empty is the gateway's own computer.
	Device DeviceID `json:"deviceId,omitempty"`
	Mime   string   `json:"mime,omitempty"`
	// Route is which way the bytes go between two nodes, or went last: a Route constant. Empty with any other ends.
	Route string `json:"route,omitempty"`
	// Path is where the first of the files or folders is once it has arrived: what "reveal" shows.
	// It is absolute on its machine, or written as in Destination when that machine knows only the
	// basic protocol.
	Path string `json:"path,omitempty"`
	// Kept is how many files it replaced whose old content is kept, until KeptUntil or until there is too much of it, for transfer.undo; Undone how many
	// that has brought back.
	Kept      int   `json:"kept,omitempty"`
	KeptUntil int64 `json:"keptUntil,omitempty"`
	Undone    int   `json:"undone,omitempty"`
}

// Undoable reports whether there may be something that transfer.undo brings back at a time.
func (t Transfer) Undoable(now time.Time) bool {
	if t.State == TransferCancelled && t.Kept == 0 && t.Undone == 0 { // nobody has said how many there are
		return t.Conflict == ConflictOverwrite && t.FilesDone > 0 && !t.Simple
	}
	return t.Over() && t.Kept > 0 && now.UnixMilli() < t.KeptUntil
}

// Over reports whether the transfer has ended.
func (t Transfer) Over() bool {
	return t.State == TransferDone || t.State == TransferFailed || t.State == TransferCancelled
}

// TransferProblem is a file that could not be moved, or something about one that the person should know.
type TransferProblem struct {
	Path string `json:"path"` // below the destination
	Text string `json:"text"`
}

// TransferListParams asks for the queue, or a page of the history. Node keeps those from or to one machine.
type TransferListParams struct {
	History bool   `json:"history,omitempty"` // those that have ended, newest first; else the others, oldest first
	Node    NodeID `json:"node,omitempty"`
	Offset  int    `json:"offset,omitempty"`
	Limit   int    `json:"limit,omitempty"` // default 100, at most 500
}

// TransferListResult is a page; Count is how many there are in all.
type TransferListResult struct {
	Transfers []Transfer `json:"transfers"`
	Count     int        `json:"count"`
}

// TransferParams names a transfer. Pause, resume, cancel and retry of one that is in another state than they need is a conflict (409), but doing
// twice what was done already is not.
type TransferParams struct {
	ID TransferID `json:"id"`
}

// TransferForgetParams removes ended transfers from the history; without ids all of them. No file is touched but the unfinished one of a failed transfer.
type TransferForgetParams struct {
	IDs []TransferID `json:"ids,omitempty"`
}

// TransferForgetResult says how many were removed.
type TransferForgetResult struct {
	Removed int `json:"removed"`
}

// transferProgress reports whether the change only tells how far a transfer is.
func (c Change) transferProgress() bool {
	return c.Kind == ChangeTransfer && c.Transfer != nil && c.Transfer.State == TransferRunning && c.Transfer.BytesDone > 0
}

// Endpoint is one end of a transfer: a machine, or the gateway itself, and a path there.
type Endpoint struct {
	Node NodeID
	Path string
}

// ParseEndpoint takes "machine:/path" apart at its first colon; the errors are the original's. The path may be empty only when that is said.
func ParseEndpoint(raw string, empty bool) (Endpoint, error) {
	node, path, ok := strings.Cut(raw, ":")
	switch {
	case !ok || node == "":
		return Endpoint{}, ErrBadRequest.With(fmt.Sprintf("Invalid transfer endpoint %q: expected format nodeId:/path or gsv:path", raw))
	case path == "" && !empty:
		return Endpoint{}, ErrBadRequest.With(fmt.Sprintf("Invalid transfer endpoint %q: path cannot be empty", raw))
	}
	return Endpoint{NodeID(node), path}, nil
}
