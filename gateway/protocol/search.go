package protocol

// SessionsSearchParams searches all messages of all chats, including archived ones (extension).
// Messages must have all the words of Query, in any order, ignoring case and accents. Words in
// double quotes must be adjacent. The last word may be a prefix if it has three letters or more. An
// empty field does not filter. Limit 0 means 20; at most 100.
type SessionsSearchParams struct {
	Query      string     `json:"query"`
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	After      int64      `json:"after,omitempty"`  // Unix milliseconds, inclusive
	Before     int64      `json:"before,omitempty"` // Unix milliseconds, exclusive
	Limit      int        `json:"limit,omitempty"`
	// Page is the Next of the previous page.
	Page int64 `json:"page,omitempty"`
}

// SessionsSearchResult is one page, newest message first. Next is the next page, 0 when there is
// none. A search that takes too long returns the results so far, possibly none; Reached then says
// how far it got, and the next page continues it.
type SessionsSearchResult struct {
	Hits []SearchHit `json:"hits"`
	Next int64       `json:"next,omitempty"`
	// Reached, in Unix milliseconds, is set when the search ran out of time: older messages have
	// not been searched.
	Reached int64 `json:"reached,omitempty"`
}

// SearchHit is a matching message.
type SearchHit struct {
	SessionKey SessionKey `json:"sessionKey"`
	SessionID  SessionID  `json:"sessionId"`
	Title      string     `json:"title,omitempty"` // the chat's title, as in SessionEntry
	// Archived reports that the chat was reset since. The message is available from
	// session.archive.read, not from session.preview.
	Archived  bool      `json:"archived,omitempty"`
	MessageID MessageID `json:"messageId"`
	Seq       int64     `json:"seq"`
	RunID     RunID     `json:"runId,omitempty"`
	Role      Role      `json:"role"`
	ToolName  ToolName  `json:"toolName,omitempty"`
	Timestamp int64     `json:"timestamp"`
	Snippet   []Snippet `json:"snippet"` // the text around the matches, in order
}

// Snippet is a piece of text; Mark reports that it matches the query.
type Snippet struct {
	Text string `json:"text"`
	Mark bool   `json:"mark,omitempty"`
}
