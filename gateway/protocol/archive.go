package protocol

// ArchiveID names an archive of a session.
type ArchiveID string

// Extensions about archives.
var (
	SessionUncompact   = Method[SessionParams, SessionUncompactResult]{"session.uncompact"}
	SessionArchives    = Method[SessionParams, SessionArchivesResult]{"session.archives"}
	SessionArchiveRead = Method[SessionArchiveReadParams, SessionArchiveReadResult]{"session.archive.read"}
	// SessionArchiveRestore goes on with an earlier conversation of a chat. What was its present one goes to the archive first, so that it can be
	// brought back in the same way. While a run is in progress it is an ErrConflict.
	SessionArchiveRestore = Method[SessionArchiveRestoreParams, SessionArchiveRestoreResult]{"session.archive.restore"}
)

// Why something is in the archive.
const (
	ArchiveReset   = "reset"
	ArchiveCompact = "compact"
)

// SessionCompactParams shortens a chat to its last messages (seed 004, session.compact). KeepMessages absent means 20.
type SessionCompactParams struct {
	SessionKey   SessionKey `json:"sessionKey"`
	KeepMessages *int       `json:"keepMessages,omitempty"`
	// Focus is what the summary of the rest should dwell on (extension).
	Focus string `json:"focus,omitempty"`
}

// SessionCompactResult is session.compact of seed 004.
type SessionCompactResult struct {
	OK              bool   `json:"ok"`
	TrimmedMessages int    `json:"trimmedMessages"`
	KeptMessages    int    `json:"keptMessages"`
	ArchivedTo      string `json:"archivedTo,omitempty"`
}

// SessionUncompactResult says how many messages the model reads again (extension).
type SessionUncompactResult struct {
	OK       bool `json:"ok"`
	Messages int  `json:"messages"`
}

// SessionArchivesResult lists a session's archives, newest first (extension).
type SessionArchivesResult struct {
	SessionKey SessionKey    `json:"sessionKey"`
	Archives   []ArchiveInfo `json:"archives"`
}

// ArchiveInfo is an archive.
type ArchiveInfo struct {
	ID        ArchiveID `json:"id"`
	SessionID SessionID `json:"sessionId"`
	Kind      string    `json:"kind"` // reset or compact
	Messages  int       `json:"messages"`
	Tokens    Tokens    `json:"tokens"` // of the whole stretch; zero for a part of one
	CreatedAt int64     `json:"createdAt"`
	// ArchivedTo is the file, relative to the data folder: JSON lines, one message each, compressed with gzip. Empty while it is not written.
	ArchivedTo string `json:"archivedTo,omitempty"`
	Size       int64  `json:"size,omitempty"` // of the file in bytes
}

// SessionArchiveReadParams asks for messages of an archive: the last Limit ones with a Seq below Before; 0 is all, and the end (extension).
type SessionArchiveReadParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	ID         ArchiveID  `json:"id"`
	Limit      int        `json:"limit,omitempty"`
	Before     int64      `json:"before,omitempty"`
}

// SessionArchiveReadResult holds messages of an archive, in order.
type SessionArchiveReadResult struct {
	Archive  ArchiveInfo `json:"archive"`
	Messages []Message   `json:"messages"`
}

// SessionArchiveRestoreParams names an archive of kind reset (extension).
type SessionArchiveRestoreParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	ID         ArchiveID  `json:"id"`
}

// SessionArchiveRestoreResult says what the chat holds now.
type SessionArchiveRestoreResult struct {
	OK         bool       `json:"ok"`
	SessionKey SessionKey `json:"sessionKey"`
	SessionID  SessionID  `json:"sessionId"`
	Messages   int        `json:"messages"`
	// Archived is what the chat held before, absent when it was empty: restored, it takes this back.
	Archived *ArchiveInfo `json:"archived,omitempty"`
}

// Compaction says that a notice stands where a chat was shortened; its text is the summary that the model reads in place of the rest (extension).
type Compaction struct {
	ArchiveID ArchiveID `json:"archiveId"`
	Through   int64     `json:"through"`  // Seq of the last message that it replaces
	Messages  int       `json:"messages"` // how many it replaces
}
