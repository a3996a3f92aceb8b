package protocol

// The browser of machines' files (extension). These are acts of the person in their own window: the agent has no tools by them. A machine that does not
// name [ExtFiles] has none of it, and [NodeInfo.Files] says so.
var (
	FilesList    = Method[FilesListParams, FilesListResult]{"files.list"}
	FilesMake    = Method[FilesPathParams, FilesDone]{"files.make"} // a folder
	FilesMove    = Method[FilesMoveParams, FilesDone]{"files.move"} // rename, or into another folder
	FilesTrash   = Method[FilesTrashParams, FilesTrashResult]{"files.trash"}
	FilesRestore = Method[FilesRestoreParams, FilesDone]{"files.restore"}
	FilesChanges = Method[FilesChangesParams, FilesChangesResult]{"files.changes"}
	FilesDiff    = Method[FilesChangeParams, FilesDiffResult]{"files.diff"}
	FilesRevert  = Method[FilesChangeParams, FilesDone]{"files.revert"}
	FilesUnwatch = Method[FilesUnwatchParams, Ack]{"files.unwatch"}
	FilesReport  = Method[FilesChange, Ack]{"files.changed"} // by the node
)

// EventFiles tells a client what changed in a folder that it watches, as a [FilesChange]; EventFilesUnwatch tells a node, by [FilesUnwatchParams], that nobody
// wants to know of a folder any more.
const (
	EventFiles        = "files.changed"
	EventFilesUnwatch = "files.unwatch"
)

// ExtFiles in ConnectParams.Extensions: the node serves the browser of its files.
const ExtFiles = "files"

// FileAct is the first part of the names under which a node is asked for them by tool.invoke. No tool can have such a name.
const FileAct = "Files."

// Operations that a node with [ExtFiles] knows. Their arguments are those of the methods above, without the machine.
const (
	ActList    = FileAct + "List"
	ActMake    = FileAct + "Make"
	ActMove    = FileAct + "Move"
	ActTrash   = FileAct + "Trash"
	ActRestore = FileAct + "Restore"
	ActChanges = FileAct + "Changes"
	ActDiff    = FileAct + "Diff"
	ActRevert  = FileAct + "Revert"
)

// Kinds of a FileInfo.
const (
	FileRegular = "file"
	FileFolder  = "folder"
	FileLink    = "link"
	FileOther   = "other" // a pipe, a socket, a device
)

// FileInfo is one thing in a folder.
type FileInfo struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Size int64  `json:"size,omitempty"`  // bytes, of a file
	Time int64  `json:"mtime,omitempty"` // last change, in milliseconds since 1970
	Mode string `json:"mode,omitempty"`  // permissions, as in -rw-r--r--
	// Leads is what a link leads to: file or folder; empty when that is nothing, or outside of what may be read.
	Leads string `json:"leads,omitempty"`
}

// Folder reports whether it can be entered.
func (f FileInfo) Folder() bool { return f.Kind == FileFolder || f.Leads == FileFolder }

// FilesListParams asks for a folder. Paths are absolute or relative to the workspace, which is the empty path.
type FilesListParams struct {
	Node NodeID `json:"nodeId"`
	Path string `json:"path,omitempty"`
	// Watch has the folder's changes sent as [EventFiles] until files.unwatch or the end of the connection.
	Watch bool `json:"watch,omitempty"`
	// Below has it told, too, where below the folder something changed. It needs Watch, and an older node does not do it.
	Below bool `json:"below,omitempty"`
	// WatchID is the gateway's name for that, told to the node.
	WatchID string `json:"watchId,omitempty"`
}

// FilesUnwatchParams ends the watching of a folder, by the name that files.list gave it.
type FilesUnwatchParams struct {
	WatchID string `json:"watchId"`
}

// FilesChange is what changed in a watched folder. With Again it has to be listed anew, and is not watched any more.
type FilesChange struct {
	Node     NodeID     `json:"nodeId,omitempty"`
	WatchIDs []string   `json:"watchIds,omitempty"` // whom it concerns
	Path     string     `json:"path"`               // absolute
	Entries  []FileInfo `json:"entries,omitempty"`  // new or changed
	Gone     []string   `json:"gone,omitempty"`     // names
	Again    bool       `json:"again,omitempty"`

	// Where [FilesListParams].Below was asked for:

	Below   []string `json:"below,omitempty"`   // the folders below in which something changed, as paths from Path with slashes
	Rescan  bool     `json:"rescan,omitempty"`  // in any of them something may have changed: there is too much to name it, or events were lost
	Shallow string   `json:"shallow,omitempty"` // why what is below is not watched, in half a sentence for the person; the folder itself is
}

// FilesListResult is a folder. Entries are in no order.
type FilesListResult struct {
	Path     string     `json:"path"` // absolute, without symbolic links
	Entries  []FileInfo `json:"entries"`
	Cut      bool       `json:"cut,omitempty"`      // there are more than can be told
	ReadOnly bool       `json:"readOnly,omitempty"` // nothing in it may be changed
	WatchID  string     `json:"watchId,omitempty"`  // it is watched, under this name
}

// FilesPathParams names one path.
type FilesPathParams struct {
	Node NodeID `json:"nodeId"`
	Path string `json:"path"`
}

// FilesMoveParams moves or renames. What is at To already is never replaced.
type FilesMoveParams struct {
	Node NodeID `json:"nodeId"`
	Path string `json:"path"`
	To   string `json:"to"` // the new path, with its name
}

// FilesDone says where something is now.
type FilesDone struct {
	Path string `json:"path"`
}

// FilesTrashParams puts files and folders into the trash of their workspace, where they stay for 30 days.
type FilesTrashParams struct {
	Node  NodeID   `json:"nodeId"`
	Paths []string `json:"paths"`
}

// FilesTrashResult names what was put into the trash. Problem says why it ended early, if it did: what is in Items was done.
type FilesTrashResult struct {
	Items   []Trashed `json:"items"`
	Problem string    `json:"problem,omitempty"`
}

// Trashed is something in the trash.
type Trashed struct {
	ID   string `json:"id"`
	Path string `json:"path"` // where it was
}

// FilesRestoreParams takes something out of the trash, to where it was.
type FilesRestoreParams struct {
	Node NodeID `json:"nodeId"`
	ID   string `json:"id"`
	// Path is where it was, by which the rules judge; the trash's own word counts.
	Path string `json:"path"`
}

// FilesChangesParams asks what the agent changed on a machine by Write and Edit, in one chat or in all. What commands changed is not known.
type FilesChangesParams struct {
	Node       NodeID     `json:"nodeId"`
	SessionKey SessionKey `json:"sessionKey,omitempty"`
}

// FilesChangesResult lists the changes, the newest first.
type FilesChangesResult struct {
	Changes []FileChange `json:"changes"`
}

// FileChange is what one run of the agent made of one file.
type FileChange struct {
	ID         string     `json:"id"`
	Path       string     `json:"path"` // absolute
	SessionKey SessionKey `json:"sessionKey"`
	RunID      RunID      `json:"runId"`
	At         int64      `json:"at"`
	New        bool       `json:"new,omitempty"`      // there was no file
	Last       bool       `json:"last,omitempty"`     // of the last run of its chat that changed files here
	Lost       string     `json:"lost,omitempty"`     // why what was there is not kept
	Reverted   bool       `json:"reverted,omitempty"` // the file is as it was before
}

// FilesChangeParams names a change. Path is its file, by which the rules judge.
type FilesChangeParams struct {
	Node NodeID `json:"nodeId"`
	ID   string `json:"id"`
	Path string `json:"path"`
}

// States of a change.
const (
	ChangeStands   = "stands"   // the file is as the agent left it
	ChangeReverted = "reverted" // it is as it was before
	ChangeAltered  = "altered"  // it was changed since
)

// FilesDiffResult is a change as a unified diff, from what was there before the run to what is there now.
type FilesDiffResult struct {
	State string `json:"state"`
	Diff  string `json:"diff,omitempty"`
	Why   string `json:"why,omitempty"` // there is no diff, or only a part of one
}
