package protocol

import (
	"encoding/json"
	"errors"
)

// Thinking levels.
var ThinkingLevels = []string{"none", "minimal", "low", "medium", "high", "xhigh"}

// SessionsListParams requests a page of the sessions, most recently active first. Limit 0 means
// 100.
type SessionsListParams struct {
	Offset int `json:"offset,omitempty"`
	Limit  int `json:"limit,omitempty"`
	// Query selects sessions whose label or messages contain it (extension).
	Query string `json:"query,omitempty"`
	// Page is the Next of the previous page; with a Query it is used instead of Offset (extension).
	Page string `json:"page,omitempty"`
}

// SessionsListResult is one page. Count is the number of all sessions; with a Query, of those in
// the page. A query that takes too long returns the results so far, possibly none, and the next
// page continues it.
type SessionsListResult struct {
	Sessions []SessionEntry `json:"sessions"`
	Count    int            `json:"count"`
	// Next is the next page of a query, empty when all sessions were searched (extension).
	Next string `json:"next,omitempty"`
}

// SessionEntry describes a session in sessions.list. Title and the fields after it are extensions.
type SessionEntry struct {
	SessionKey   SessionKey `json:"sessionKey"`
	CreatedAt    int64      `json:"createdAt"`
	LastActiveAt int64      `json:"lastActiveAt"`
	Label        string     `json:"label,omitempty"`
	// Title is the name for lists: the label, otherwise a title made by the model, otherwise the
	// beginning of the first message, otherwise empty (extension).
	Title string `json:"title,omitempty"`
	// MessageCount is the number of stored messages (extension).
	MessageCount int           `json:"messageCount,omitempty"`
	Usage        *Usage        `json:"usage,omitempty"`     // of the whole session (extension)
	Settings     *SessionPrefs `json:"settings,omitempty"`  // extension
	DeletedAt    int64         `json:"deletedAt,omitempty"` // during the ten seconds in which it can be restored (extension)
	// ContextTokens is the number of tokens that the last model step read; ContextWindow is the
	// model's limit. 0 means unknown (extension).
	ContextTokens int64 `json:"contextTokens,omitempty"`
	ContextWindow int64 `json:"contextWindow,omitempty"`
	Main          bool  `json:"main,omitempty"` // the main chat of its agent (extension)
	// Schedule is the schedule whose runs the chat contains, or "heartbeat". Windows show such a chat
	// with its schedule instead of among the person's chats (extension).
	Schedule CronJobID `json:"schedule,omitempty"`
	Pinned   bool      `json:"pinned,omitempty"` // extension
	// Archived hides the chat from the list of chats. A new message of the person ends that
	// (extension).
	Archived bool     `json:"archived,omitempty"`
	Tags     []string `json:"tags,omitempty"` // the person's names for groups of chats, sorted (extension)
}

// SessionParams selects a session.
type SessionParams struct {
	SessionKey SessionKey `json:"sessionKey"`
}

// SessionGetResult answers session.get.
type SessionGetResult struct {
	SessionID          SessionID    `json:"sessionId"`
	SessionKey         SessionKey   `json:"sessionKey"`
	CreatedAt          int64        `json:"createdAt"`
	UpdatedAt          int64        `json:"updatedAt"`
	MessageCount       int          `json:"messageCount"`
	Tokens             Tokens       `json:"tokens"`
	Settings           SessionPrefs `json:"settings"`
	ResetPolicy        ResetPolicy  `json:"resetPolicy"`
	LastResetAt        int64        `json:"lastResetAt,omitempty"`
	PreviousSessionIDs []SessionID  `json:"previousSessionIds"`
	Label              string       `json:"label,omitempty"`
}

// Tokens counts tokens.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Total  int64 `json:"total"`
}

// SessionPrefs are a session's settings. The configuration applies to a zero field.
type SessionPrefs struct {
	Model         *ModelRef `json:"model,omitempty"`
	ThinkingLevel string    `json:"thinkingLevel,omitempty"`
	SystemPrompt  string    `json:"systemPrompt,omitempty"`
	MaxTokens     int       `json:"maxTokens,omitempty"`
	// Approvals is the approval mode of the chat; missing means "ask" (extension).
	Approvals *ApprovalMode `json:"approvals,omitempty"`
}

// ResetPolicy determines when a session resets by itself.
type ResetPolicy struct {
	Mode        string `json:"mode"` // manual, daily or idle
	AtHour      *int   `json:"atHour,omitempty"`
	IdleMinutes *int   `json:"idleMinutes,omitempty"`
}

// SessionStats answers session.stats. Uptime is the session's age in milliseconds.
type SessionStats struct {
	SessionKey   SessionKey `json:"sessionKey"`
	SessionID    SessionID  `json:"sessionId"`
	MessageCount int        `json:"messageCount"`
	Tokens       Tokens     `json:"tokens"`
	CreatedAt    int64      `json:"createdAt"`
	UpdatedAt    int64      `json:"updatedAt"`
	Uptime       int64      `json:"uptime"`
	IsProcessing bool       `json:"isProcessing"`
	QueueSize    int        `json:"queueSize"`
	// Cost in US dollars; missing when unknown (extension).
	Cost *float64 `json:"costUsd,omitempty"`
}

// SessionPatchParams changes settings. A missing field stays as it is; an empty value clears it.
type SessionPatchParams struct {
	// By is the principal, for the audit log. The gateway fills it in.
	By          string             `json:"-"`
	SessionKey  SessionKey         `json:"sessionKey"`
	Settings    *SessionPrefsPatch `json:"settings,omitempty"`
	Label       *string            `json:"label,omitempty"`
	ResetPolicy *ResetPolicyPatch  `json:"resetPolicy,omitempty"`
	Pinned      *bool              `json:"pinned,omitempty"`   // extension
	Archived    *bool              `json:"archived,omitempty"` // archiving also unpins (extension)
	// Tags replaces the tags: at most 20, each of at most 40 characters without commas (extension).
	Tags *[]string `json:"tags,omitempty"`
}

// UnmarshalJSON accepts a number as a label too, as GSV's command line sends.
func (p *SessionPatchParams) UnmarshalJSON(raw []byte) error {
	var in struct {
		SessionKey  SessionKey         `json:"sessionKey"`
		Settings    *SessionPrefsPatch `json:"settings"`
		Label       json.RawMessage    `json:"label"`
		ResetPolicy *ResetPolicyPatch  `json:"resetPolicy"`
		Pinned      *bool              `json:"pinned"`
		Archived    *bool              `json:"archived"`
		Tags        *[]string          `json:"tags"`
	}
	err := json.Unmarshal(raw, &in)
	*p = SessionPatchParams{SessionKey: in.SessionKey, Settings: in.Settings, ResetPolicy: in.ResetPolicy, Pinned: in.Pinned, Archived: in.Archived, Tags: in.Tags}
	if err != nil || len(in.Label) == 0 {
		return err
	}
	if first := in.Label[0]; first == '-' || first >= '0' && first <= '9' {
		label := string(in.Label)
		p.Label = &label
		return nil
	}
	err = json.Unmarshal(in.Label, &p.Label)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong.Field = "label"
	}
	return err
}

// SessionPrefsPatch changes some of a session's settings; missing fields stay as they are.
type SessionPrefsPatch struct {
	Model         *ModelPatch `json:"model,omitempty"`
	ThinkingLevel *string     `json:"thinkingLevel,omitempty"`
	SystemPrompt  *string     `json:"systemPrompt,omitempty"`
	MaxTokens     *int        `json:"maxTokens,omitempty"`
	// Approvals changes the approval mode of the chat; only the person can (extension).
	Approvals *ApprovalMode `json:"approvals,omitempty"`
}

// ModelPatch changes a model reference field by field; two empty fields clear it.
type ModelPatch struct {
	Provider *string `json:"provider,omitempty"`
	ID       *string `json:"id,omitempty"`
}

// ResetPolicyPatch changes a reset policy; missing fields stay as they are. An empty Mode restores
// the gateway's default, whatever the other fields say.
type ResetPolicyPatch struct {
	Mode        *string `json:"mode,omitempty"`
	AtHour      *int    `json:"atHour,omitempty"`
	IdleMinutes *int    `json:"idleMinutes,omitempty"`
}

// OK is the payload of methods that only confirm.
type OK struct {
	OK bool `json:"ok"`
}

// SessionResetResult answers session.reset.
type SessionResetResult struct {
	OK               bool       `json:"ok"`
	SessionKey       SessionKey `json:"sessionKey"`
	OldSessionID     SessionID  `json:"oldSessionId"`
	NewSessionID     SessionID  `json:"newSessionId"`
	ArchivedMessages int        `json:"archivedMessages"`
	ArchivedTo       string     `json:"archivedTo,omitempty"`
	TokensCleared    Tokens     `json:"tokensCleared"`
	MediaDeleted     int        `json:"mediaDeleted"`
}

// SessionHistoryResult answers session.history.
type SessionHistoryResult struct {
	SessionKey         SessionKey  `json:"sessionKey"`
	CurrentSessionID   SessionID   `json:"currentSessionId"`
	PreviousSessionIDs []SessionID `json:"previousSessionIds"`
}

// SessionPreviewParams requests the last Limit messages; 0 means all.
type SessionPreviewParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	Limit      int        `json:"limit,omitempty"`
	// Before, when not 0, selects messages with a smaller Seq, to page back (extension).
	Before int64 `json:"before,omitempty"`
	// Notices also returns the notices of compactions (extension). They are not messages of the
	// conversation, and no count includes them.
	Notices bool `json:"notices,omitempty"`
}

// AfterAll, as SessionPreviewParams.Before, selects all messages, also compacted ones.
const AfterAll = int64(1) << 52

// SessionPreviewResult answers session.preview. MessageCount is the number of messages since the
// last compaction.
type SessionPreviewResult struct {
	SessionKey   SessionKey `json:"sessionKey"`
	SessionID    SessionID  `json:"sessionId"`
	MessageCount int        `json:"messageCount"`
	Messages     []Message  `json:"messages"`
}

// SessionCreateParams creates an empty conversation, with a new key if none is given (extension).
type SessionCreateParams struct {
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	Label      string     `json:"label,omitempty"`
}

// SessionDeleteResult returns the time until which session.restore can restore the session, in Unix
// milliseconds (extension).
type SessionDeleteResult struct {
	OK        bool  `json:"ok"`
	UndoUntil int64 `json:"undoUntil"`
}

// UndoMillis is the time for which a deleted session can be restored, in milliseconds.
const UndoMillis = 10_000

// MediaGetParams selects a stored image by Block.MediaKey (extension).
type MediaGetParams struct {
	Key string `json:"key"`
}

// MediaGetResult is a stored image.
type MediaGetResult struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"` // base64
}

// SessionsSearchParams searches all messages of all chats, including archived ones, but not those
// that an edit or a deletion removed (extension).
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
