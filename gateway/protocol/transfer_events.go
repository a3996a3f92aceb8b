package protocol

// Events to the two ends of a transfer (docs/protocol.md#transfers).
const (
	EventTransferSend    = "transfer.send"
	EventTransferStart   = "transfer.start"
	EventTransferReceive = "transfer.receive"
	EventTransferEnd     = "transfer.end"
	// EventTransferStop stops a transfer at one end, finally or for now (extension, to nodes).
	EventTransferStop = "transfer.stop"
	// EventTransferUndo tells a destination that names [ExtUndo] to restore the files that a
	// transfer replaced (extension, to nodes).
	EventTransferUndo = "transfer.undo"
)

// TransferSend tells the source to look up the file and to report it with transfer.meta.
type TransferSend struct {
	TransferID uint32          `json:"transferId"`
	Path       string          `json:"path"`
	Stream     *TransferStream `json:"stream,omitempty"` // extension
	// Extensions for a source that names "transfer" when the destination does not. Such a
	// transfer sends its files one at a time.
	List  bool   `json:"list,omitempty"`  // Only report the contents of the folder Path, in TransferMetaParams.Entries.
	Links string `json:"links,omitempty"` // keep or follow, with List
	Name  string `json:"name,omitempty"`  // the file to send, a slash-separated path below the folder Path
}

// TransferStartEvent tells the source to start sending.
type TransferStartEvent struct {
	TransferID uint32 `json:"transferId"`
	// Peer is the destination, if it listens for a direct connection (extension). If the source
	// cannot connect, it sends through the gateway.
	Peer *TransferPeer `json:"peer,omitempty"`
}

// TransferReceive tells the destination to prepare, and to answer with transfer.accept.
type TransferReceive struct {
	TransferID uint32          `json:"transferId"`
	Path       string          `json:"path"`
	Size       int64           `json:"size"`
	Mime       string          `json:"mime,omitempty"`
	Holes      int64           `json:"holes,omitempty"`    // extension, as in TransferMetaParams
	Stream     *TransferStream `json:"stream,omitempty"`   // extension
	Conflict   string          `json:"conflict,omitempty"` // rename, overwrite or skip (extension); empty overwrites. Only when the destination alone names "transfer"
	ID         TransferID      `json:"id,omitempty"`       // extension, as Conflict; identifies the retained copies of replaced files
	From       NodeID          `json:"from,omitempty"`     // extension, as Conflict; the source
	Place      *TransferPlace  `json:"place,omitempty"`    // extension, as Conflict; the place of Path in the transfer
}

// TransferPlace is the place of a file in a transfer that sends its files one at a time
// (extension). Name is slash-separated. It is below the destination when Into is set, otherwise
// below the destination's parent folder.
type TransferPlace struct {
	Path string `json:"path"` // the transfer's destination
	Into bool   `json:"into,omitempty"`
	Name string `json:"name"`
}

// TransferEntry is one file of a folder (extension).
type TransferEntry struct {
	Name string `json:"name"` // slash-separated path below the folder
	Size int64  `json:"size"`
}

// TransferEnd tells the destination that all was sent. It answers with transfer.done.
type TransferEnd struct {
	TransferID uint32 `json:"transferId"`
}

// TransferStop stops a transfer at one end (extension). The end removes unfinished files, unless
// Keep is set because the transfer may continue later.
type TransferStop struct {
	TransferID uint32 `json:"transferId"`
	Keep       bool   `json:"keep,omitempty"`
	Reason     string `json:"reason,omitempty"`
	// For a destination without the open transfer: its path, and the unfinished file.
	Path    string          `json:"path,omitempty"`
	Stream  *TransferStream `json:"stream,omitempty"`
	Current string          `json:"current,omitempty"`
}

// TransferUndoEvent identifies a finished transfer and its destination. The node answers with
// TransferDoneParams.Undone.
type TransferUndoEvent struct {
	TransferID uint32     `json:"transferId"`
	ID         TransferID `json:"id"`
	Path       string     `json:"path"`
	Into       bool       `json:"into,omitempty"`
}

// TransferUndone is the result of an undo.
type TransferUndone struct {
	ID       TransferID        `json:"id"`
	Back     int               `json:"back"`               // number of restored files
	Problems []TransferProblem `json:"problems,omitempty"` // the first of the files that were not restored
	Error    string            `json:"error,omitempty"`    // why nothing was restored
}

// TransferStream turns a transfer into one with Fairlead's records (extension): the events and
// methods stay the same, and the binary frames carry records in both directions instead of the
// bytes of one file (docs/protocol.md#transfers-between-fairleads-own-peers). The gateway sends it
// only when both ends name "transfer".
type TransferStream struct {
	ID       TransferID `json:"id"`                 // identifies unfinished files; the same in every attempt
	Attempt  int        `json:"attempt"`            // from 1
	Paths    []string   `json:"paths,omitempty"`    // files and folders to send
	Into     bool       `json:"into,omitempty"`     // the destination's path is the folder to put them into, under their own names
	Conflict string     `json:"conflict,omitempty"` // rename, overwrite or skip
	Links    string     `json:"links,omitempty"`    // keep or follow
	From     NodeID     `json:"from,omitempty"`     // the source, for the destination
	AskedBy  *AskedBy   `json:"askedBy,omitempty"`  // who started the transfer, for both
	Direct   bool       `json:"direct,omitempty"`   // the person started it, not an agent
	// Names are the names that were requested, for the destination: it refuses everything else that
	// is not below one of them. The source may choose one visible name for each empty one.
	Names []string `json:"names,omitempty"`
	// Startup are those of TransferMetaParams.Startup that the person allowed, for the destination:
	// it stores no others unless Direct is set.
	Startup []string `json:"startup,omitempty"`
	// Peer offers a direct connection, to ends that name "transfer.direct". The destination gets the
	// source's pin in it.
	Peer *TransferPeer `json:"peer,omitempty"`
}

// TransferMetaParams is the source's report on the file or files.
type TransferMetaParams struct {
	TransferID *uint32 `json:"transferId"`
	Size       *int64  `json:"size,omitempty"`
	Mime       string  `json:"mime,omitempty"`
	Error      string  `json:"error,omitempty"`
	Files      int     `json:"files,omitempty"` // extension: number of files in Size
	// Holes is the number of bytes of Size that are holes of sparse files (extension). They take no
	// space at a destination that supports holes.
	Holes int64 `json:"holes,omitempty"`
	// Startup are files and folders below the requested ones that decide which programs run later
	// (extension): at most 20, as names at the destination.
	Startup []string `json:"startup,omitempty"`
	// Peer has the source's pin (extension), if the gateway offered a direct connection.
	Peer *TransferPeer `json:"peer,omitempty"`
	// The answer to TransferSend.List (extension): whether the path is a folder, its files, the
	// number of unreadable files, and the reasons for everything that was omitted.
	Folder   bool              `json:"folder,omitempty"`
	Failed   int               `json:"failed,omitempty"`
	Entries  []TransferEntry   `json:"entries,omitempty"`
	Problems []TransferProblem `json:"problems,omitempty"`
}

// TransferAcceptParams reports that the destination is ready.
type TransferAcceptParams struct {
	TransferID *uint32       `json:"transferId"`
	Error      string        `json:"error,omitempty"`
	Peer       *TransferPeer `json:"peer,omitempty"` // extension: how the source, whose pin the destination got, can connect
}

// TransferCompleteParams reports that the source has sent everything.
type TransferCompleteParams struct {
	TransferID *uint32 `json:"transferId"`
	Error      string  `json:"error,omitempty"` // extension: sending failed
}

// TransferDoneParams is the destination's final report. From Files on, fields are extensions.
type TransferDoneParams struct {
	TransferID   *uint32           `json:"transferId"`
	BytesWritten *int64            `json:"bytesWritten,omitempty"`
	SHA256       string            `json:"sha256,omitempty"` // of the content, if it is one file (extension)
	Error        string            `json:"error,omitempty"`
	Files        int               `json:"files,omitempty"`   // written
	Skipped      int               `json:"skipped,omitempty"` // identical files that existed already
	Failed       int               `json:"failed,omitempty"`
	Problems     []TransferProblem `json:"problems,omitempty"` // the first problems
	// Discarded confirms that a cancelled transfer left nothing unfinished; all other fields are
	// then empty.
	Discarded TransferID `json:"discarded,omitempty"`
	Path      string     `json:"path,omitempty"` // absolute path of the first top-level file or folder
	Kept      int        `json:"kept,omitempty"` // number of replaced files whose old content was retained
	// Undone answers the transfer.undo event; all other fields are then empty.
	Undone *TransferUndone `json:"undone,omitempty"`
}

// ExtDirect: the node's owner allows connections from machine to machine for transfers, without the
// gateway between them (extension). It requires [ExtTransfer]. The gateway gives each end the
// other's address only when both name it.
const ExtDirect = "transfer.direct"

// Routes of a transfer's bytes, in [Transfer.Route].
const (
	RouteRelay  = "relay"  // through the gateway
	RouteDirect = "direct" // from machine to machine
)

// TransferPeer tells one end of a transfer how to connect to the other end (extension). It is made
// for one attempt, travels over the ends' own connections to the gateway, and is worthless after
// the two have connected.
type TransferPeer struct {
	// Pin is the base64 SHA-256 of the public key in the other end's certificate. In transfer.send
	// it is empty: the source returns its own.
	Pin string `json:"pin,omitempty"`
	// Token belongs to the destination: 32 bytes in base64. The source must prove that it has it.
	// It is accepted once.
	Token string `json:"token,omitempty"`
	// Addresses are the addresses on which the destination listens: IP address and port.
	Addresses []string `json:"addresses,omitempty"`
}
