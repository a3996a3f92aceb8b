package protocol

import (
	"fmt"
	"strings"
	"time"
)

// Transfers. Nodes call the first four methods; the others manage the queue (extension).
var (
	TransferMeta     = Method[TransferMetaParams, OK]{"transfer.meta", ScopeNode, transferEnds, gsv}
	TransferAccept   = Method[TransferAcceptParams, OK]{"transfer.accept", ScopeNode, transferEnds, gsv}
	TransferComplete = Method[TransferCompleteParams, OK]{"transfer.complete", ScopeNode, transferEnds, gsv}
	TransferFinish   = Method[TransferDoneParams, OK]{"transfer.done", ScopeNode, transferEnds, gsv}

	TransferStart  = Method[TransferStartParams, Transfer]{"transfer.start", ScopeInvoke, clients, extension}
	TransferList   = Method[TransferListParams, TransferListResult]{"transfer.list", ScopeRead, clients, extension}
	TransferGet    = Method[TransferParams, Transfer]{"transfer.get", ScopeRead, clients, extension}
	TransferPause  = Method[TransferParams, Transfer]{"transfer.pause", ScopeInvoke, clients, extension}
	TransferResume = Method[TransferParams, Transfer]{"transfer.resume", ScopeInvoke, clients, extension}
	TransferCancel = Method[TransferParams, Transfer]{"transfer.cancel", ScopeInvoke, clients, extension}
	TransferRetry  = Method[TransferParams, Transfer]{"transfer.retry", ScopeInvoke, clients, extension}
	TransferUndo   = Method[TransferParams, Transfer]{"transfer.undo", ScopeInvoke, clients, extension}
	TransferForget = Method[TransferForgetParams, TransferForgetResult]{"transfer.forget", ScopeInvoke, clients, extension}
)

// ExtTransfer: the peer understands [TransferStream], with folders, checksums, credits and resume.
const ExtTransfer = "transfer"

// ExtUndo: the peer retains replaced files for [EventTransferUndo]. It requires [ExtTransfer].
const ExtUndo = "transfer.undo"

// TransferID names a transfer in the queue.
type TransferID string

// States of a transfer. The last three are final.
const (
	TransferQueued    = "queued"  // waits for other transfers
	TransferWaiting   = "waiting" // a machine is offline; the transfer continues when it is back
	TransferRunning   = "running"
	TransferPaused    = "paused" // by the person
	TransferDone      = "done"
	TransferFailed    = "failed"
	TransferCancelled = "cancelled"
)

// Handling of an existing file with different content. An equal one always stays as it is.
const (
	ConflictRename    = "rename" // adds a number to the new name: "report (2).pdf"
	ConflictOverwrite = "overwrite"
	ConflictSkip      = "skip"
)

// Handling of symbolic links in a folder.
const (
	LinksKeep   = "keep"   // created again if they stay inside the folder, otherwise omitted and reported
	LinksFollow = "follow" // their targets are sent, if the source may read them
	LinksSkip   = "skip"
)

// Here stands for the caller's own process in [TransferStartParams]. The window or command line
// itself reads or writes the files, with the person's permissions, over the connection of the call.
// That requires client.Options.Files, and it gives access only to the paths in the request.
const Here = "@here"

// TransferStartParams adds a transfer to the queue (extension). It is an action of the person: a
// rule can deny it, but it needs no approval.
type TransferStartParams struct {
	// Sources are files and folders of one machine, each "machine:/path", or "gsv:path" for the
	// agent's workspace.
	Sources []string `json:"sources"`
	// Destination is "machine:/path" or "gsv:path". It is a folder when Into is set, when there are
	// several sources, or when it ends with a slash; otherwise it is the new path of the only
	// source. An empty path is the machine's workspace.
	Destination string `json:"destination"`
	Into        bool   `json:"into,omitempty"`
	Conflict    string `json:"conflict,omitempty"` // rename (default), overwrite or skip
	Links       string `json:"links,omitempty"`    // keep (default) or follow
	// Later lets the transfer wait while a machine is offline, for at most ExpiresIn milliseconds
	// (default seven days). Otherwise an offline machine is an error.
	Later     bool  `json:"later,omitempty"`
	ExpiresIn int64 `json:"expiresInMs,omitempty"`
}

// Transfer is one row of the queue or history (extension), in Unix milliseconds; 0 means never.
type Transfer struct {
	ID          TransferID `json:"id"`
	State       string     `json:"state"` // queued, waiting, running, paused, done, failed or cancelled
	Sources     []string   `json:"sources"`
	Destination string     `json:"destination"`
	From        NodeID     `json:"from"` // machine of the sources; "gsv" is the agent's workspace, "@here" a window or command line
	To          NodeID     `json:"to"`
	Into        bool       `json:"into,omitempty"`
	Conflict    string     `json:"conflict"` // rename, overwrite or skip
	Links       string     `json:"links"`    // keep or follow
	// Files and Bytes are the total, 0 until the source has counted. FilesDone and BytesDone are
	// the part that is at the destination by now. When a transfer is done after one attempt,
	// BytesDone leaves out skipped files. A later attempt cannot tell those from files of an
	// earlier attempt.
	Files     int   `json:"files"`
	Bytes     int64 `json:"bytes"`
	FilesDone int   `json:"filesDone"`
	BytesDone int64 `json:"bytesDone"`
	Skipped   int   `json:"skipped,omitempty"`
	Failed    int   `json:"failed,omitempty"` // number of files that failed; Problems has the first of them
	// Speed is bytes per second over the last seconds, 0 while nothing moves. ETA is the remaining
	// time in milliseconds, 0 if unknown.
	Speed    int64             `json:"speed,omitempty"`
	ETA      int64             `json:"etaMs,omitempty"`
	Current  string            `json:"current,omitempty"` // the file in progress
	Error    string            `json:"error,omitempty"`   // why it failed, or what it waits for
	Problems []TransferProblem `json:"problems,omitempty"`
	// Simple reports that one end does not know the extensions: files are sent one at a time, the
	// transfer cannot pause or resume, and a retry starts over.
	Simple    bool       `json:"simple,omitempty"`
	Later     bool       `json:"later,omitempty"`
	AskedBy   AskedBy    `json:"askedBy"`
	Session   SessionKey `json:"sessionKey,omitempty"`
	App       AppID      `json:"app,omitempty"`    // the connected app that started it
	CallID    CallID     `json:"callId,omitempty"` // the gsv__Transfer call that started it
	Attempts  int        `json:"attempts,omitempty"`
	CreatedAt int64      `json:"createdAt"`
	StartedAt int64      `json:"startedAt,omitempty"`
	EndedAt   int64      `json:"endedAt,omitempty"`
	ExpiresAt int64      `json:"expiresAt,omitempty"`   // while waiting
	ExpiresIn int64      `json:"expiresInMs,omitempty"` // maximum wait each time a machine goes offline; 0 is seven days
	// Device is the paired device whose window or command line is one end ("@here"); empty is the
	// gateway's own computer.
	Device DeviceID `json:"deviceId,omitempty"`
	Mime   string   `json:"mime,omitempty"`
	// SHA256 is the checksum of the content, if it is one file and the destination knows the
	// extensions.
	SHA256 string `json:"sha256,omitempty"`
	// Route is the current or last route of the bytes between two nodes: relay or direct. Empty
	// for other ends.
	Route string `json:"route,omitempty"`
	// Path is the location of the first file or folder after its arrival, for "reveal". It is
	// absolute, or in the form of Destination when the machine does not know the extensions.
	Path string `json:"path,omitempty"`
	// Kept is the number of replaced files whose old content can be restored by transfer.undo,
	// until KeptUntil or until they take too much space. Undone is the number of restored ones.
	Kept      int   `json:"kept,omitempty"`
	KeptUntil int64 `json:"keptUntil,omitempty"`
	Undone    int   `json:"undone,omitempty"`
}

// Undoable reports whether transfer.undo may be able to restore something at the given time.
func (t Transfer) Undoable(now time.Time) bool {
	if t.State == TransferCancelled && t.Kept == 0 && t.Undone == 0 { // the destination did not report their number
		return t.Conflict == ConflictOverwrite && t.FilesDone > 0 && !t.Simple
	}
	return t.Over() && t.Kept > 0 && now.UnixMilli() < t.KeptUntil
}

// Comparing reports whether the attempt still compares what the destination has already: no data
// has moved yet.
func (t Transfer) Comparing() bool {
	return t.State == TransferRunning && !t.Simple && t.Bytes > t.BytesDone && t.Speed == 0 && t.Current == ""
}

// Over reports whether the transfer has ended.
func (t Transfer) Over() bool {
	return t.State == TransferDone || t.State == TransferFailed || t.State == TransferCancelled
}

// TransferProblem is a file that could not be moved, or a notice about one.
type TransferProblem struct {
	Path string `json:"path"` // relative to the destination
	Text string `json:"text"`
}

// TransferListParams requests the queue or a page of the history, of one machine or all.
type TransferListParams struct {
	History bool   `json:"history,omitempty"` // finished transfers, newest first; otherwise unfinished ones, oldest first
	Node    NodeID `json:"node,omitempty"`
	Offset  int    `json:"offset,omitempty"`
	Limit   int    `json:"limit,omitempty"` // default 100, at most 500
}

// TransferListResult is one page; Count is the total.
type TransferListResult struct {
	Transfers []Transfer `json:"transfers"`
	Count     int        `json:"count"`
}

// TransferParams selects a transfer. Pause, resume, cancel and retry return a conflict (409) in a
// state that does not allow them; repeating an action is not a conflict.
type TransferParams struct {
	ID TransferID `json:"id"`
}

// TransferForgetParams removes finished transfers from the history, all of them when IDs is empty.
// Of the files, only the unfinished part of a failed transfer is deleted.
type TransferForgetParams struct {
	IDs []TransferID `json:"ids,omitempty"`
}

// TransferForgetResult returns the number of removed transfers.
type TransferForgetResult struct {
	Removed int `json:"removed"`
}

// transferProgress reports whether the change only updates the progress of a transfer.
func (c Change) transferProgress() bool {
	return c.Kind == ChangeTransfer && c.Transfer != nil && c.Transfer.State == TransferRunning && c.Transfer.BytesDone > 0
}

// Endpoint is one end of a transfer: a machine or the gateway itself, and a path there.
type Endpoint struct {
	Node NodeID
	Path string
}

// ParseEndpoint splits "machine:/path" at its first colon; the errors are those of GSV, which its
// clients show. The path may be empty only if empty is true.
func ParseEndpoint(raw string, empty bool) (Endpoint, error) {
	node, path, ok := strings.Cut(raw, ":")
	switch {
	case !ok || node == "":
		return Endpoint{}, ErrBadRequest.With(fmt.Sprintf("Invalid transfer endpoint %q: expected format nodeId:/path or gsv:path", raw))
	case path == "" && !empty:
		return Endpoint{}, ErrBadRequest.With(fmt.Sprintf("Invalid transfer endpoint %q: path cannot be empty", raw))
	case strings.ContainsRune(raw, 0):
		return Endpoint{}, ErrBadRequest.With(fmt.Sprintf("Invalid transfer endpoint %q: it contains a zero byte", raw))
	}
	return Endpoint{NodeID(node), path}, nil
}
