package protocol

// ArchiveID names an archive of a session.
type ArchiveID string

// Methods for archives (extension).
var (
	SessionUncompact   = Method[SessionParams, SessionUncompactResult]{"session.uncompact", ScopeChat, clients, extension}
	SessionArchives    = Method[SessionParams, SessionArchivesResult]{"session.archives", ScopeRead, clients, extension}
	SessionArchiveRead = Method[SessionArchiveReadParams, SessionArchiveReadResult]{"session.archive.read", ScopeRead, clients, extension}
	// SessionArchiveRestore replaces the current conversation of a chat with an archived one. The
	// current one is archived first, so that it can be restored in the same way. The archive of an
	// edit replaces only what came after the edit, and stops the run in progress; that of a deletion
	// puts its messages back. Otherwise it fails with ErrConflict while a run is in progress.
	SessionArchiveRestore = Method[SessionArchiveRestoreParams, SessionArchiveRestoreResult]{"session.archive.restore", ScopeChat, clients, extension}
)

// Reasons for archiving.
const (
	ArchiveReset   = "reset"
	ArchiveCompact = "compact"
	ArchiveEdit    = "edit"   // a message was replaced, and with it everything after it
	ArchiveDelete  = "delete" // messages were deleted; it exists for ten seconds
)

// SessionCompactParams shortens a chat to its last messages. KeepMessages is 20 when missing.
type SessionCompactParams struct {
	SessionKey   SessionKey `json:"sessionKey"`
	KeepMessages *int       `json:"keepMessages,omitempty"`
	// Focus tells the model what to emphasize in the summary of the older messages (extension).
	Focus string `json:"focus,omitempty"`
}

// SessionCompactResult answers session.compact.
type SessionCompactResult struct {
	OK              bool   `json:"ok"`
	TrimmedMessages int    `json:"trimmedMessages"`
	KeptMessages    int    `json:"keptMessages"`
	ArchivedTo      string `json:"archivedTo,omitempty"`
}

// SessionUncompactResult reports the number of messages that the model reads again (extension).
type SessionUncompactResult struct {
	OK       bool `json:"ok"`
	Messages int  `json:"messages"`
}

// SessionArchivesResult lists a session's archives, newest first (extension).
type SessionArchivesResult struct {
	SessionKey SessionKey    `json:"sessionKey"`
	Archives   []ArchiveInfo `json:"archives"`
}

// ArchiveInfo describes an archive.
type ArchiveInfo struct {
	ID        ArchiveID `json:"id"`
	SessionID SessionID `json:"sessionId"`
	Kind      string    `json:"kind"` // reset, compact or edit
	Messages  int       `json:"messages"`
	Tokens    Tokens    `json:"tokens"` // of the whole conversation for a reset; zero for a compaction
	CreatedAt int64     `json:"createdAt"`
	// ArchivedTo is the path of the file, relative to the data folder: JSON lines, one message
	// each, compressed with gzip. It is empty until the file is written.
	ArchivedTo string `json:"archivedTo,omitempty"`
	Size       int64  `json:"size,omitempty"` // size of the file in bytes
}

// SessionArchiveReadParams requests the last Limit messages of an archive with a Seq below Before
// (extension). Limit 0 means all; Before 0 means up to the last message.
type SessionArchiveReadParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	ID         ArchiveID  `json:"id"`
	Limit      int        `json:"limit,omitempty"`
	Before     int64      `json:"before,omitempty"`
}

// SessionArchiveReadResult holds messages of an archive in their order.
type SessionArchiveReadResult struct {
	Archive  ArchiveInfo `json:"archive"`
	Messages []Message   `json:"messages"`
}

// SessionArchiveRestoreParams names an archive of kind reset, edit or delete (extension).
type SessionArchiveRestoreParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	ID         ArchiveID  `json:"id"`
}

// SessionArchiveRestoreResult describes the restored conversation.
type SessionArchiveRestoreResult struct {
	OK         bool       `json:"ok"`
	SessionKey SessionKey `json:"sessionKey"`
	SessionID  SessionID  `json:"sessionId"`
	Messages   int        `json:"messages"`
	// Archived is the archive of the previous conversation; missing when that was empty.
	Archived *ArchiveInfo `json:"archived,omitempty"`
}

// Compaction marks a notice at which a chat was shortened. The notice's text is the summary that
// the model reads instead of the older messages (extension).
type Compaction struct {
	ArchiveID ArchiveID `json:"archiveId"`
	Through   int64     `json:"through"`  // Seq of the last message that it replaces
	Messages  int       `json:"messages"` // number of messages that it replaces
}
