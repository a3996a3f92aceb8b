package protocol

// SessionsSearchParams searches all messages of all chats, also those from before a reset (extension). Messages must have all the words of Query, in
// any order and without regard to case and accents; words in double quotes stand side by side; the last word may be the beginning of one from
// three letters on. Empty fields do not narrow. Limit 0 means 20, at most 100.
type SessionsSearchParams struct {
	Query      string     `json:"query"`
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	After      int64      `json:"after,omitempty"`  // Unix milliseconds: this or later
	Before     int64      `json:"before,omitempty"` // Unix milliseconds: earlier than this
	Limit      int        `json:"limit,omitempty"`
	// Page is the Next of the page before.
	Page int64 `json:"page,omitempty"`
}

// SessionsSearchResult is one page, newest message first. Next is the next page, 0 when there is none. A search that takes long answers with what it has,
// which may be nothing, and goes on with the next page: Reached says then how far it came.
type SessionsSearchResult struct {
	Hits []SearchHit `json:"hits"`
	Next int64       `json:"next,omitempty"`
	// Reached, in Unix milliseconds, says that the page is not full for want of time: what is older has not been looked through.
	Reached int64 `json:"reached,omitempty"`
}

// SearchHit is a message that was found.
type SearchHit struct {
	SessionKey SessionKey `json:"sessionKey"`
	SessionID  SessionID  `json:"sessionId"`
	Title      string     `json:"title,omitempty"` // of the chat, as in SessionEntry
	// Archived says that the chat was reset since: session.archive.read has the message, session.preview no longer.
	Archived  bool      `json:"archived,omitempty"`
	MessageID MessageID `json:"messageId"`
	Seq       int64     `json:"seq"`
	RunID     RunID     `json:"runId,omitempty"`
	Role      Role      `json:"role"`
	ToolName  ToolName  `json:"toolName,omitempty"`
	Timestamp int64     `json:"timestamp"`
	Snippet   []Snippet `json:"snippet"` // the text around what was found, in order
}

// Snippet is a piece of text; Mark says that it was looked for.
type Snippet struct {
	Text string `json:"text"`
	Mark bool   `json:"mark,omitempty"`
}
