package protocol

import "encoding/json"

// Rule is a person's rule about calls, with where it comes from (extension). Policy is the rule itself in the form that rules are imported and
// exported in: {"tool":"Bash","argv":["git","status","**"],"verdict":"allow", …}.
type Rule struct {
	ID          string          `json:"id"`
	Policy      json.RawMessage `json:"policy"`
	Words       string          `json:"words"`                 // the rule in words
	Origin      string          `json:"origin"`                // question, person, import, chat or config
	CreatedBy   string          `json:"createdBy,omitempty"`   // a principal
	CreatedFrom ApprovalID      `json:"createdFrom,omitempty"` // the question it was made at
	CreatedAt   int64           `json:"createdAt,omitempty"`
	DeletedAt   int64           `json:"deletedAt,omitempty"`
	Hits        int64           `json:"hits,omitempty"` // calls that it decided
	LastUsed    int64           `json:"lastUsed,omitempty"`
	// Problem says why the rule is switched off, such as an example of its own that it does not meet.
	Problem string `json:"problem,omitempty"`
}

// Origins of a rule.
const (
	RuleFromQuestion = "question"
	RuleFromPerson   = "person"
	RuleFromImport   = "import"
	RuleFromChat     = "chat"   // allowed for a chat at a question; its id begins with GrantPrefix
	RuleFromConfig   = "config" // toolApproval of the configuration: changed there
)

// GrantPrefix begins the ids of what was allowed for a chat.
const GrantPrefix = "grant:"

// RulesResult lists the rules, newest first.
type RulesResult struct {
	Rules []Rule `json:"rules"`
	// Default is what happens with calls that no rule names.
	Default string `json:"default"`
}

// RulePutParams makes a rule, or changes the one with its id.
type RulePutParams struct {
	ID     string          `json:"id,omitempty"`
	Policy json.RawMessage `json:"policy"`
}

// RuleParams names a rule.
type RuleParams struct {
	ID string `json:"id"`
}

// RuleTryParams asks what a rule would have let through (or stopped) of what was called before. Limit 0 means 20.
//
// Instead of a Policy it may name an offer of an open question, with the scope that the answer would have: the rule that is tried is then the very one
// that the answer would make.
type RuleTryParams struct {
	Policy   json.RawMessage `json:"policy,omitempty"`
	Approval ApprovalID      `json:"approval,omitempty"`
	Offer    int             `json:"offer,omitempty"` // its place among the question's offers
	Scope    string          `json:"scope,omitempty"` // folder, node or always
	Limit    int             `json:"limit,omitempty"`
}

// RuleTryResult holds the calls of the journal whose verdict the rule would change, newest first; Looked is how many were judged.
type RuleTryResult struct {
	Words   string       `json:"words"` // the rule in words
	Looked  int          `json:"looked"`
	Changed []RuleChange `json:"changed"`
}

// RuleChange is a call that a rule would decide in another way.
type RuleChange struct {
	Call JournalEntry `json:"call"`
	Was  string       `json:"was"` // allow, ask or deny
	Now  string       `json:"now"`
}

// RulesExport is every rule in the form that rules are imported in.
type RulesExport struct {
	File json.RawMessage `json:"file"`
}

// RulesImportParams adds the rules of a file. What is there already is left alone.
type RulesImportParams struct {
	File json.RawMessage `json:"file"`
}

// RulesImportResult says what was added, and which rules are switched off and why.
type RulesImportResult struct {
	Added    int      `json:"added"`
	Skipped  int      `json:"skipped"` // there already
	Problems []string `json:"problems,omitempty"`
}

// AuditEntry is one line of the audit log (extension): who allowed or changed what. Hash is over the line before it and this one.
type AuditEntry struct {
	Seq        int64           `json:"seq"`
	At         int64           `json:"at"`
	Kind       string          `json:"kind"`
	By         string          `json:"by"` // a principal, "default" or "nobody"
	Node       NodeID          `json:"nodeId,omitempty"`
	SessionKey SessionKey      `json:"sessionKey,omitempty"`
	RunID      RunID           `json:"runId,omitempty"`
	CallID     CallID          `json:"callId,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	What       string          `json:"what,omitempty"` // the command or path, cut to one line
	Input      string          `json:"inputSha256,omitempty"`
	Verdict    string          `json:"verdict,omitempty"`
	Why        string          `json:"why,omitempty"`
	Rule       string          `json:"rule,omitempty"`
	Approval   ApprovalID      `json:"approvalId,omitempty"`
	State      string          `json:"state,omitempty"` // how the call ended
	ExitCode   *int            `json:"exitCode,omitempty"`
	Policy     json.RawMessage `json:"policy,omitempty"` // of a rule that was made, changed or deleted
	Hash       string          `json:"hash"`
}

// Kinds of audit lines.
const (
	AuditCall        = "call"         // a call with an effect was let through or refused, and how it ended
	AuditRuleMade    = "rule made"    //
	AuditRuleChanged = "rule changed" //
	AuditRuleDeleted = "rule deleted" //
	AuditRuleBack    = "rule restored"
	AuditGrantGone   = "permission withdrawn"
	AuditGrantBack   = "permission restored"
	AuditDevice      = "device" // a device was paired, changed, revoked or forgotten, or may do more
	AuditSender      = "sender" // somebody on a channel was let in or refused
	AuditMode        = "mode"   // a chat's way of asking was changed
	AuditLogin       = "login"  // logins were refused
)

// AuditListParams asks for lines, newest first. Limit 0 means 100, at most 1000.
type AuditListParams struct {
	Node       NodeID     `json:"nodeId,omitempty"`
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	Rule       string     `json:"rule,omitempty"`
	Kind       string     `json:"kind,omitempty"`
	Query      string     `json:"query,omitempty"`  // each of its words, or a word that begins with it, is in the line
	After      int64      `json:"after,omitempty"`  // Unix milliseconds, inclusive
	Before     int64      `json:"before,omitempty"` // seq, exclusive: pages on
	Limit      int        `json:"limit,omitempty"`
}

// AuditListResult is one page.
type AuditListResult struct {
	Entries []AuditEntry `json:"entries"`
	More    bool         `json:"more"`
}

// AuditVerifyResult says whether the chain of the audit log holds: Broken is the first line that does not, 0 for none.
type AuditVerifyResult struct {
	Lines  int64  `json:"lines"`
	Broken int64  `json:"broken,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Ways of asking, per chat (extension; SessionPrefs.Approvals).
const (
	ModeAsk         = "ask"          // what no rule allows is asked about
	ModeAcceptEdits = "accept-edits" // changes of files in the workspace are let through
	ModeReadOnly    = "read-only"    // nothing with an effect
	ModeTrust       = "trust"        // everything but what a rule denies or the floor asks about, for a time
	ModePaused      = "paused"       // every call is asked about
)

// ApprovalMode is a chat's way of asking. Until ends a trust, in Unix milliseconds.
type ApprovalMode struct {
	Mode  string `json:"mode"`
	Until int64  `json:"until,omitempty"`
}
