package protocol

import (
	"encoding/json"
)

// Events of a transfer to its two ends (seed 004, Transfer Events).
const (
	EventTransferSend    = "transfer.send"
	EventTransferStart   = "transfer.start"
	EventTransferReceive = "transfer.receive"
	EventTransferEnd     = "transfer.end"
	// EventTransferStop tells an end that the transfer is over for now (extension, G -> N).
	EventTransferStop = "transfer.stop"
	// EventTransferUndo has the destination bring back what a transfer has replaced (extension, G -> N), where that names [ExtUndo].
	EventTransferUndo = "transfer.undo"
)

// TransferSend tells the source to look at what it shall send and to report it with transfer.meta (seed 004).
type TransferSend struct {
	TransferID uint32          `json:"transferId"`
	Path       string          `json:"path"`
	Stream     *TransferStream `json:"stream,omitempty"` // extension; see there
	// Extensions for a source of our own whose destination knows only the basic protocol. Such a
	// transfer goes file by file.
	List  bool   `json:"list,omitempty"`  // report with TransferMetaParams.Entries what is in the folder at Path, and send nothing
	Links string `json:"links,omitempty"` // with List: a Links constant
	Name  string `json:"name,omitempty"`  // the file to send, below the folder at Path, with slashes
}

// TransferStartEvent tells the source to begin (seed 004, the event transfer.start).
type TransferStartEvent struct {
	TransferID uint32 `json:"transferId"`
}

// TransferReceive tells the destination to prepare, and to answer with transfer.accept (seed 004).
type TransferReceive struct {
	TransferID uint32          `json:"transferId"`
	Path       string          `json:"path"`
	Size       int64           `json:"size"`
	Mime       string          `json:"mime,omitempty"`
	Holes      int64           `json:"holes,omitempty"`    // extension: of TransferMetaParams
	Stream     *TransferStream `json:"stream,omitempty"`   // extension; see there
	Conflict   string          `json:"conflict,omitempty"` // extension: to a destination of our own whose source knows only the seed; empty overwrites
	ID         TransferID      `json:"id,omitempty"`       // extension: to such a one, too; names what is kept of what it replaces
	From       NodeID          `json:"from,omitempty"`     // extension: to such a one, too; the source
	Place      *TransferPlace  `json:"place,omitempty"`    // extension: to such a one, too; where Path lies
}

// TransferPlace is where a file belongs in a transfer that goes file by file (extension): Name,
// with slashes, is below the destination when Into is set, else below the folder of the
// destination.
type TransferPlace struct {
	Path string `json:"path"` // the transfer's destination
	Into bool   `json:"into,omitempty"`
	Name string `json:"name"`
}

// TransferEntry is one file of a folder (extension).
type TransferEntry struct {
	Name string `json:"name"` // below the folder, with slashes
	Size int64  `json:"size"`
}

// TransferEnd tells the destination that all data was sent; it answers with transfer.done (seed 004).
type TransferEnd struct {
	TransferID uint32 `json:"transferId"`
}

// TransferStop ends a transfer at one end (extension). What was not finished is removed unless Keep is set: then the transfer may go on later.
type TransferStop struct {
	TransferID uint32 `json:"transferId"`
	Keep       bool   `json:"keep,omitempty"`
	Reason     string `json:"reason,omitempty"`
	// For a destination that the transfer is not open at any more: where it was written to, and the file that was on its way.
	Path    string          `json:"path,omitempty"`
	Stream  *TransferStream `json:"stream,omitempty"`
	Current string          `json:"current,omitempty"`
}

// TransferUndoEvent names a transfer that has ended, and where it was written to. The answer is TransferDoneParams.Undone.
type TransferUndoEvent struct {
	TransferID uint32     `json:"transferId"`
	ID         TransferID `json:"id"`
	Path       string     `json:"path"`
	Into       bool       `json:"into,omitempty"`
}

// TransferUndone is what came of it.
type TransferUndone struct {
	ID       TransferID        `json:"id"`
	Back     int               `json:"back"`               // files that are again as they were
	Problems []TransferProblem `json:"problems,omitempty"` // those that are not, the first of them
	Error    string            `json:"error,omitempty"`    // why nothing was done
}

// TransferStream makes a transfer of the seed one of our own (extension): the events and methods stay the same, and the binary frames carry
// records (package stream) in both directions instead of one file's bytes. It is sent only to an end that names [ExtTransfer], and only when the
// other one does too.
type TransferStream struct {
	ID       TransferID `json:"id"`                 // names unfinished files, the same in every attempt
	Attempt  int        `json:"attempt"`            // from 1
	Paths    []string   `json:"paths,omitempty"`    // files and folders to send
	Into     bool       `json:"into,omitempty"`     // the destination's path is the folder to put them into, under their own names
	Conflict string     `json:"conflict,omitempty"` // a Conflict constant
	Links    string     `json:"links,omitempty"`    // a Links constant
	From     NodeID     `json:"from,omitempty"`     // the source, told to the destination
	AskedBy  *AskedBy   `json:"askedBy,omitempty"`  // whose wish it is, told to both
	Direct   bool       `json:"direct,omitempty"`   // it is the person's own act
	// Early is how many bytes the source may send before the destination has let it, so that the first ones are there sooner: the gateway keeps them until
	// then. Only to ends that name [ExtEarly]; 0 else, and in later attempts.
	Early int `json:"early,omitempty"`
	// Peer says that a connection of the transfer's own is to be tried, only to an end that names [ExtLane]: to the destination with the source's pin.
	Peer *TransferPeer `json:"peer,omitempty"`
}

// TransferMetaParams is the source's report (seed 004, transfer.meta).
type TransferMetaParams struct {
	TransferID *uint32 `json:"transferId"`
	Size       *int64  `json:"size,omitempty"`
	Mime       string  `json:"mime,omitempty"`
	Error      string  `json:"error,omitempty"`
	Files      int     `json:"files,omitempty"` // extension: how many files Size is of
	// Holes is how many bytes of Size are holes of sparse files (extension): they take no room at a destination that has holes too.
	Holes int64 `json:"holes,omitempty"`
	// Peer is the source's pin (extension), when it was asked for and what there is to send is worth it.
	Peer *TransferPeer `json:"peer,omitempty"`
	// The answer to TransferSend.List (extension): whether the path is a folder, its files, how
	// many files cannot be read, and the reasons for those and for other things that are left out.
	Folder   bool              `json:"folder,omitempty"`
	Failed   int               `json:"failed,omitempty"`
	Entries  []TransferEntry   `json:"entries,omitempty"`
	Problems []TransferProblem `json:"problems,omitempty"`
}

// TransferAcceptParams is the destination's word that it is ready (seed 004, transfer.accept).
type TransferAcceptParams struct {
	TransferID *uint32       `json:"transferId"`
	Error      string        `json:"error,omitempty"`
	Peer       *TransferPeer `json:"peer,omitempty"` // extension: how the source whose pin it was told reaches it
}

// TransferCompleteParams is the source's word that it has sent everything (seed 004, transfer.complete).
type TransferCompleteParams struct {
	TransferID *uint32 `json:"transferId"`
	Error      string  `json:"error,omitempty"` // extension: it could not
}

// TransferDoneParams is the destination's report (seed 004, transfer.done). What follows Error are extensions.
type TransferDoneParams struct {
	TransferID   *uint32           `json:"transferId"`
	BytesWritten *int64            `json:"bytesWritten,omitempty"`
	Error        string            `json:"error,omitempty"`
	Files        int               `json:"files,omitempty"`   // written
	Skipped      int               `json:"skipped,omitempty"` // there already
	Failed       int               `json:"failed,omitempty"`
	Problems     []TransferProblem `json:"problems,omitempty"` // the first of them
	// Of a transfer that was cancelled: nothing unfinished is left of it. Then nothing else is said.
	Discarded TransferID `json:"discarded,omitempty"`
	Path      string     `json:"path,omitempty"` // where the first of the top files or folders is now, absolute
	Kept      int        `json:"kept,omitempty"` // files that were replaced, and of which the old content is kept
	// Of a transfer that has ended: the answer to [EventTransferUndo]. Then nothing else is said.
	Undone *TransferUndone `json:"undone,omitempty"`
}

// UnmarshalJSON accepts a transferId of any JSON type but a number as missing: the original answers that with one and the same error.
func (p *TransferMetaParams) UnmarshalJSON(data []byte) error {
	type plain TransferMetaParams
	return lenient(data, (*plain)(p), &p.TransferID)
}

// UnmarshalJSON is as with [TransferMetaParams].
func (p *TransferAcceptParams) UnmarshalJSON(data []byte) error {
	type plain TransferAcceptParams
	return lenient(data, (*plain)(p), &p.TransferID)
}

// UnmarshalJSON is as with [TransferMetaParams].
func (p *TransferCompleteParams) UnmarshalJSON(data []byte) error {
	type plain TransferCompleteParams
	return lenient(data, (*plain)(p), &p.TransferID)
}

// UnmarshalJSON is as with [TransferMetaParams].
func (p *TransferDoneParams) UnmarshalJSON(data []byte) error {
	type plain TransferDoneParams
	return lenient(data, (*plain)(p), &p.TransferID)
}

// lenient reads data into v, but id only when it is a number that fits.
func lenient[T any](data []byte, v *T, id **uint32) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return json.Unmarshal(data, v) // says what is wrong in the words of the type
	}
	var n uint32
	raw, found := fields["transferId"]
	ok := found && json.Unmarshal(raw, &n) == nil && string(raw) != "null"
	delete(fields, "transferId")
	rest, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(rest, v); err != nil {
		return err
	}
	if *id = nil; ok {
		*id = &n
	}
	return nil
}
