package protocol

import (
	"encoding/json"
	"errors"
)

// Thinking levels (seed 004, SessionSettings).
var ThinkingLevels = []string{"none", "minimal", "low", "medium", "high", "xhigh"}

// SessionsListParams pages through the sessions, newest activity first. Limit 0 means 100.
type SessionsListParams struct {
	Offset int `json:"offset,omitempty"`
	Limit  int `json:"limit,omitempty"`
	// Query keeps sessions whose label or messages contain it (extension).
	Query string `json:"query,omitempty"`
	// Page is the Next of the page before; with a query it stands in place of Offset (extension).
	Page string `json:"page,omitempty"`
}

// SessionsListResult holds one page; Count is the number of all sessions, with a query of those in the page. A query that takes long answers with what it
// has, which may be nothing, and goes on with the next page.
type SessionsListResult struct {
	Sessions []SessionEntry `json:"sessions"`
	Count    int            `json:"count"`
	// Next is the next page of a query, empty when all sessions are looked through (extension).
	Next string `json:"next,omitempty"`
}

// SessionEntry is SessionRegistryEntry of seed 004 with extensions from Title on.
type SessionEntry struct {
	SessionKey   SessionKey `json:"sessionKey"`
	CreatedAt    int64      `json:"createdAt"`
	LastActiveAt int64      `json:"lastActiveAt"`
	Label        string     `json:"label,omitempty"`
	// Title is what a list shows: the label, else the beginning of the first message, else empty (extension).
	Title string `json:"title,omitempty"`
	// MessageCount counts stored messages (extension).
	MessageCount int           `json:"messageCount,omitempty"`
	Usage        *Usage        `json:"usage,omitempty"`     // of the whole session (extension)
	Settings     *SessionPrefs `json:"settings,omitempty"`  // extension
	DeletedAt    int64         `json:"deletedAt,omitempty"` // in the ten seconds of undo (extension)
	// ContextTokens is what the last model step read; ContextWindow what the model can read. 0 is unknown (extension).
	ContextTokens int64 `json:"contextTokens,omitempty"`
	ContextWindow int64 `json:"contextWindow,omitempty"`
	Main          bool  `json:"main,omitempty"` // the main chat of its agent (extension)
}

// SessionParams names a session.
type SessionParams struct {
	SessionKey SessionKey `json:"sessionKey"`
}

// SessionGetResult is session.get of seed 004.
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

// Tokens is TokenUsage of seed 004.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Total  int64 `json:"total"`
}

// SessionPrefs is SessionSettings of seed 004. Zero fields are unset: the gateway's configuration holds.
type SessionPrefs struct {
	Model         *ModelRef `json:"model,omitempty"`
	ThinkingLevel string    `json:"thinkingLevel,omitempty"`
	SystemPrompt  string    `json:"systemPrompt,omitempty"`
	MaxTokens     int       `json:"maxTokens,omitempty"`
	// Approvals is the chat's way of asking; nil asks (extension).
	Approvals *ApprovalMode `json:"approvals,omitempty"`
}

// ResetPolicy says when a session starts afresh by itself.
type ResetPolicy struct {
	Mode        string `json:"mode"` // manual, daily or idle
	AtHour      *int   `json:"atHour,omitempty"`
	IdleMinutes *int   `json:"idleMinutes,omitempty"`
}

// SessionStats is session.stats of seed 004. Uptime is milliseconds since creation.
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
	// Cost is in US dollars; absent when unknown (extension).
	Cost *float64 `json:"costUsd,omitempty"`
}

// SessionPatchParams merges settings. A nil pointer leaves a field alone; an empty value clears it.
type SessionPatchParams struct {
	// By is who does it, for the audit log. The gateway fills it in.
	By          string             `json:"-"`
	SessionKey  SessionKey         `json:"sessionKey"`
	Settings    *SessionPrefsPatch `json:"settings,omitempty"`
	Label       *string            `json:"label,omitempty"`
	ResetPolicy *ResetPolicyPatch  `json:"resetPolicy,omitempty"`
}

// UnmarshalJSON takes a number as a label too: the original's command line sends one for a label of
// digits.
func (p *SessionPatchParams) UnmarshalJSON(raw []byte) error {
	var in struct {
		SessionKey  SessionKey         `json:"sessionKey"`
		Settings    *SessionPrefsPatch `json:"settings"`
		Label       json.RawMessage    `json:"label"`
		ResetPolicy *ResetPolicyPatch  `json:"resetPolicy"`
	}
	err := json.Unmarshal(raw, &in)
	*p = SessionPatchParams{SessionKey: in.SessionKey, Settings: in.Settings, ResetPolicy: in.ResetPolicy}
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

// SessionPrefsPatch is Partial<SessionSettings>.
type SessionPrefsPatch struct {
	Model         *ModelPatch `json:"model,omitempty"`
	ThinkingLevel *string     `json:"thinkingLevel,omitempty"`
	SystemPrompt  *string     `json:"systemPrompt,omitempty"`
	MaxTokens     *int        `json:"maxTokens,omitempty"`
	// Approvals changes the chat's way of asking; only the person can (extension).
	Approvals *ApprovalMode `json:"approvals,omitempty"`
}

// ModelPatch merges a model reference field by field; both empty clears it.
type ModelPatch struct {
	Provider *string `json:"provider,omitempty"`
	ID       *string `json:"id,omitempty"`
}

// ResetPolicyPatch is Partial<ResetPolicy>. With an empty Mode the gateway's default holds again, whatever else it has.
type ResetPolicyPatch struct {
	Mode        *string `json:"mode,omitempty"`
	AtHour      *int    `json:"atHour,omitempty"`
	IdleMinutes *int    `json:"idleMinutes,omitempty"`
}

// OK is the payload of methods that only confirm.
type OK struct {
	OK bool `json:"ok"`
}

// SessionResetResult is session.reset of seed 004.
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

// SessionHistoryResult is session.history of seed 004.
type SessionHistoryResult struct {
	SessionKey         SessionKey  `json:"sessionKey"`
	CurrentSessionID   SessionID   `json:"currentSessionId"`
	PreviousSessionIDs []SessionID `json:"previousSessionIds"`
}

// SessionPreviewParams asks for the last Limit messages; 0 means all.
type SessionPreviewParams struct {
	SessionKey SessionKey `json:"sessionKey"`
	Limit      int        `json:"limit,omitempty"`
	// Before, when not 0, keeps messages with a smaller Seq, so that a window can page back (extension).
	Before int64 `json:"before,omitempty"`
	// Notices asks for the notices of compactions too (extension). They are not messages of the
	// conversation and are counted nowhere.
	Notices bool `json:"notices,omitempty"`
}

// SessionPreviewResult is session.preview of seed 004. MessageCount is the number of messages since
// the last compaction.
type SessionPreviewResult struct {
	SessionKey   SessionKey `json:"sessionKey"`
	SessionID    SessionID  `json:"sessionId"`
	MessageCount int        `json:"messageCount"`
	Messages     []Message  `json:"messages"`
}

// SessionCreateParams makes an empty conversation (extension). An empty key makes a new one.
type SessionCreateParams struct {
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	Label      string     `json:"label,omitempty"`
}

// SessionDeleteResult says until when session.restore can bring the session back, in Unix milliseconds (extension).
type SessionDeleteResult struct {
	OK        bool  `json:"ok"`
	UndoUntil int64 `json:"undoUntil"`
}

// UndoMillis is how long a deleted session can be restored.
const UndoMillis = 10_000

// MediaGetParams names a stored image by Block.MediaKey (extension).
type MediaGetParams struct {
	Key string `json:"key"`
}

// MediaGetResult is a stored image.
type MediaGetResult struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"` // base64
}
