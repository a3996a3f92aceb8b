package protocol

// The file browser (extension). Its methods are the person's own actions in a window; the agent
// gets no tools from them. They need a machine with [ExtFiles]; [NodeInfo.Files] reports it.
var (
	FilesList    = Method[FilesListParams, FilesListResult]{"files.list", ScopeInvoke, clients, extension}
	FilesFind    = Method[FilesFindParams, FilesFindResult]{"files.find", ScopeInvoke, clients, extension} // by name
	FilesMake    = Method[FilesPathParams, FilesDone]{"files.make", ScopeInvoke, clients, extension}       // a folder
	FilesMove    = Method[FilesMoveParams, FilesDone]{"files.move", ScopeInvoke, clients, extension}       // rename, or move to another folder
	FilesTrash   = Method[FilesTrashParams, FilesTrashResult]{"files.trash", ScopeInvoke, clients, extension}
	FilesRestore = Method[FilesRestoreParams, FilesDone]{"files.restore", ScopeInvoke, clients, extension}
	FilesChanges = Method[FilesChangesParams, FilesChangesResult]{"files.changes", ScopeInvoke, clients, extension}
	FilesDiff    = Method[FilesChangeParams, FilesDiffResult]{"files.diff", ScopeInvoke, clients, extension}
	FilesRevert  = Method[FilesChangeParams, FilesDone]{"files.revert", ScopeInvoke, clients, extension}
	FilesRead    = Method[FilesPathParams, FilesReadResult]{"files.read", ScopeInvoke, clients, extension} // to edit it
	FilesWrite   = Method[FilesWriteParams, FilesWriteResult]{"files.write", ScopeInvoke, clients, extension}
	FilesUnwatch = Method[FilesUnwatchParams, Ack]{"files.unwatch", ScopeInvoke, clients, extension}
	FilesReport  = Method[FilesChange, Ack]{"files.changed", ScopeNode, nodes, extension} // from the node
)

// EventFiles reports changes in a folder that a client watches; its payload is a [FilesChange].
// EventFilesUnwatch, with [FilesUnwatchParams], tells a node to stop watching a folder.
const (
	EventFiles        = "files.changed"
	EventFilesUnwatch = "files.unwatch"
)

// ExtFiles in ConnectParams.Extensions: the node serves the file browser.
const ExtFiles = "files"

// FileAct is the prefix of a node's file operations in tool.invoke. No tool can have such a name.
const FileAct = "Files."

// Operations of a node with [ExtFiles]. Their arguments are those of the methods above, without the
// machine.
const (
	ActList    = FileAct + "List"
	ActFind    = FileAct + "Find"
	ActMake    = FileAct + "Make"
	ActMove    = FileAct + "Move"
	ActTrash   = FileAct + "Trash"
	ActRestore = FileAct + "Restore"
	ActChanges = FileAct + "Changes"
	ActDiff    = FileAct + "Diff"
	ActRevert  = FileAct + "Revert"
	ActRead    = FileAct + "Read"
	ActWrite   = FileAct + "Write"
)

// Kinds of a FileInfo.
const (
	FileRegular = "file"
	FileFolder  = "folder"
	FileLink    = "link"
	FileOther   = "other" // a pipe, socket or device
)

// FileInfo is one entry of a folder.
type FileInfo struct {
	Name string `json:"name"`
	Kind string `json:"kind"`            // file, folder, link or other
	Size int64  `json:"size,omitempty"`  // bytes, for a file
	Time int64  `json:"mtime,omitempty"` // modification time in Unix milliseconds
	Mode string `json:"mode,omitempty"`  // permissions, as in -rw-r--r--
	// Leads is the kind of a link's target: file or folder; empty when the target does not exist or
	// may not be read.
	Leads string `json:"leads,omitempty"`
}

// Folder reports whether the entry can be opened as a folder.
func (f FileInfo) Folder() bool { return f.Kind == FileFolder || f.Leads == FileFolder }

// FilesListParams lists a folder. Path is absolute or relative to the workspace; the empty path is
// the workspace.
type FilesListParams struct {
	Node NodeID `json:"nodeId"`
	Path string `json:"path,omitempty"`
	// Watch subscribes to files.changed events, until files.unwatch or the connection's end.
	Watch bool `json:"watch,omitempty"`
	// Below also reports which folders below changed. It requires Watch; older nodes ignore it.
	Below bool `json:"below,omitempty"`
	// WatchID is the gateway's ID for the subscription, for the node.
	WatchID string `json:"watchId,omitempty"`
}

// FilesUnwatchParams stops watching a folder. WatchID is the one that files.list returned.
type FilesUnwatchParams struct {
	WatchID string `json:"watchId"`
}

// FilesChange reports changes in a watched folder. Again means that the folder is no longer watched
// and has to be listed again.
type FilesChange struct {
	Node     NodeID     `json:"nodeId,omitempty"`
	WatchIDs []string   `json:"watchIds,omitempty"` // the affected subscriptions
	Path     string     `json:"path"`               // absolute
	Entries  []FileInfo `json:"entries,omitempty"`  // new or changed entries
	Removed  []string   `json:"removed,omitempty"`  // names of removed entries
	Again    bool       `json:"again,omitempty"`

	// The following fields are set only when [FilesListParams].Below was requested.

	Below   []string `json:"below,omitempty"`   // folders with changes, as slash-separated paths relative to Path
	Rescan  bool     `json:"rescan,omitempty"`  // any folder may have changed: there were too many changes to list, or events were lost
	Shallow string   `json:"shallow,omitempty"` // reason for people why only the folder itself is watched, a sentence fragment
}

// FilesListResult is the contents of a folder. Entries are unsorted.
type FilesListResult struct {
	Path     string     `json:"path"` // absolute, without symbolic links
	Entries  []FileInfo `json:"entries"`
	Cut      bool       `json:"cut,omitempty"`      // there are more entries than fit into the result
	ReadOnly bool       `json:"readOnly,omitempty"` // nothing in the folder may be changed
	WatchID  string     `json:"watchId,omitempty"`  // ID of the subscription
}

// FilesFindParams finds files and folders of the workspace by words of their paths, at least one of
// which is in the name. Hidden and ignored ones are left out. A new search of a machine ends the
// previous one, which returns what it found.
type FilesFindParams struct {
	Node  NodeID `json:"nodeId"`
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty"` // of results; 100 at most
}

// FilesFindResult has the files that changed last first.
type FilesFindResult struct {
	Path  string      `json:"path"` // the workspace
	Found []FoundFile `json:"found"`
	Cut   bool        `json:"cut,omitempty"` // there are more, or the search took too long
}

// FoundFile is a file or a folder. Path is relative to the workspace.
type FoundFile struct {
	Path   string `json:"path"`
	Folder bool   `json:"folder,omitempty"`
}

// FilesPathParams selects a path on a machine.
type FilesPathParams struct {
	Node NodeID `json:"nodeId"`
	Path string `json:"path"`
}

// FilesMoveParams moves or renames. It never replaces an existing file or folder.
type FilesMoveParams struct {
	Node NodeID `json:"nodeId"`
	Path string `json:"path"`
	To   string `json:"to"` // the new path, including the name
}

// FilesDone returns the resulting path.
type FilesDone struct {
	Path string `json:"path"`
}

// FileAbsent is the checksum of a file that does not exist.
const FileAbsent = "absent"

// FilesReadResult is a text file that can be edited. Line ends are LF, whatever the file has.
type FilesReadResult struct {
	Text string `json:"text,omitempty"`
	Sum  string `json:"sum,omitempty"` // SHA-256 of the file's content in hex; [FileAbsent] if there is no file
	Why  string `json:"why,omitempty"` // why the file cannot be edited, a sentence; Text is empty then
}

// FilesWriteParams replaces the content of a text file, if its content still has the checksum Sum,
// or creates it.
// The file keeps its line ends and its byte order mark.
type FilesWriteParams struct {
	Node NodeID `json:"nodeId"`
	Path string `json:"path"`
	Text string `json:"text"`
	Sum  string `json:"sum"`
}

// FilesWriteResult has the checksum of the new content. Changed reports that the file has other
// content than expected, or was deleted: nothing was written.
type FilesWriteResult struct {
	Sum     string `json:"sum,omitempty"`
	Changed bool   `json:"changed,omitempty"`
}

// FilesTrashParams moves files and folders to the trash of their workspace, for 30 days.
type FilesTrashParams struct {
	Node  NodeID   `json:"nodeId"`
	Paths []string `json:"paths"`
}

// FilesTrashResult lists what was moved to the trash. Problem says why the operation stopped early,
// if it did; Items are in the trash all the same.
type FilesTrashResult struct {
	Items   []Trashed `json:"items"`
	Problem string    `json:"problem,omitempty"`
}

// Trashed is an item in the trash.
type Trashed struct {
	ID   string `json:"id"`
	Path string `json:"path"` // original path
}

// FilesRestoreParams moves an item from the trash back to its original path.
type FilesRestoreParams struct {
	Node NodeID `json:"nodeId"`
	ID   string `json:"id"`
	// Path is the original path, which the rules judge; the one recorded in the trash is used.
	Path string `json:"path"`
}

// FilesChangesParams lists the files on a machine that the agent changed with Write and Edit, in
// one chat or in all. Changes by commands are not recorded.
type FilesChangesParams struct {
	Node       NodeID     `json:"nodeId"`
	SessionKey SessionKey `json:"sessionKey,omitempty"`
}

// FilesChangesResult lists changes, newest first.
type FilesChangesResult struct {
	Changes []FileChange `json:"changes"`
}

// FileChange is the change that one run of the agent made to one file.
type FileChange struct {
	ID         string     `json:"id"`
	Path       string     `json:"path"` // absolute
	SessionKey SessionKey `json:"sessionKey"`
	RunID      RunID      `json:"runId"`
	At         int64      `json:"at"`
	New        bool       `json:"new,omitempty"`      // the file did not exist before
	Last       bool       `json:"last,omitempty"`     // made by the last run of its chat that changed files on this machine
	Lost       string     `json:"lost,omitempty"`     // why the previous content is not available
	Reverted   bool       `json:"reverted,omitempty"` // the change was undone
	Altered    bool       `json:"altered,omitempty"`  // the file was changed by somebody else since
}

// FilesChangeParams selects a change of a run by its ID, or of a single call by CallID. Path is its
// file, which the rules judge.
type FilesChangeParams struct {
	Node   NodeID `json:"nodeId"`
	ID     string `json:"id,omitempty"`
	CallID CallID `json:"callId,omitempty"`
	Path   string `json:"path"`
	// Redo makes files.revert repeat a change that was reverted.
	Redo bool `json:"redo,omitempty"`
}

// States of a change.
const (
	ChangeStands   = "stands"   // the file is as the agent left it
	ChangeReverted = "reverted" // the change was undone
	ChangeAltered  = "altered"  // the file was changed again since
)

// FilesDiffResult is a change as a unified diff, from before the run to what the agent wrote.
type FilesDiffResult struct {
	State string `json:"state"` // stands, reverted or altered
	Diff  string `json:"diff,omitempty"`
	Why   string `json:"why,omitempty"` // why there is no diff, or only part of one
}
