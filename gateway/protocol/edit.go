package protocol

// Methods that change the messages of a chat (extension).
var (
	// ChatResend replaces a message of the person, and everything after it, and runs the agent again.
	// What it replaces is archived: SessionArchiveRestore with the returned ID undoes it. A run in
	// progress is stopped first; queued messages stay queued.
	ChatResend = Method[ChatResendParams, ChatResendResult]{"chat.resend", ScopeChat, clients, extension}
	// SessionFork creates a chat with copies of the messages of another one up to a message. The other
	// one is not changed. It fails with ErrConflict for an answer that is still being written.
	SessionFork = Method[SessionForkParams, SessionEntry]{"session.fork", ScopeChat, clients, extension}
	// MessageDelete deletes a message of the person, or a whole answer with its tool calls and
	// results. It fails with ErrConflict while a run is in progress.
	MessageDelete = Method[MessageParams, MessageDeleteResult]{"session.message.delete", ScopeChat, clients, extension}
)

// ChatResendParams replaces a message (extension).
type ChatResendParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	// MessageID is a message of the person, or a part of an answer: then it is the message before that
	// answer.
	MessageID MessageID `json:"messageId"`
	// Message is the new text; missing keeps the old text.
	Message *string `json:"message,omitempty"`
	// Attachments are the new pictures; missing keeps the old ones.
	Attachments *[]Attachment `json:"attachments,omitempty"`
	// Model answers this message; missing is the chat's model.
	Model *ModelRef `json:"model,omitempty"`
	RunID RunID     `json:"runId,omitempty"`
	Node  NodeID    `json:"node,omitempty"` // as in ChatSendParams
}

// ChatResendResult names the new run, and the archive of what was replaced.
type ChatResendResult struct {
	RunID     RunID     `json:"runId"`
	ArchiveID ArchiveID `json:"archiveId"`
}

// MessageParams selects a message of a session (extension).
type MessageParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	MessageID  MessageID  `json:"messageId"`
}

// SessionForkParams selects the last message of a new chat: the message itself, or the end of the
// answer to which it belongs (extension).
type SessionForkParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	MessageID  MessageID  `json:"messageId"`
	Before     bool       `json:"before,omitempty"` // the new chat ends before the message
}

// MessageDeleteResult names the archive with which session.archive.restore undoes the deletion, and
// until when, in Unix milliseconds.
type MessageDeleteResult struct {
	OK        bool      `json:"ok"`
	ArchiveID ArchiveID `json:"archiveId"`
	Messages  int       `json:"messages"` // number of deleted messages
	UndoUntil int64     `json:"undoUntil"`
}
