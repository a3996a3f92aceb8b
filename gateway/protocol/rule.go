package protocol

import "encoding/json"

// Rule is a person's rule about calls, with its origin (extension). Policy is the rule itself, in
// the format of import and export: {"tool":"Bash","argv":["git","status","**"],"verdict":"allow",
// …}.
type Rule struct {
	ID          string          `json:"id"`
	Policy      json.RawMessage `json:"policy"`
	Words       string          `json:"words"`                 // the rule, for people
	Origin      string          `json:"origin"`                // question, person, import, chat or config
	CreatedBy   string          `json:"createdBy,omitempty"`   // a principal
	CreatedFrom QuestionID      `json:"createdFrom,omitempty"` // the approval with which it was saved
	CreatedAt   int64           `json:"createdAt,omitempty"`
	DeletedAt   int64           `json:"deletedAt,omitempty"`
	Hits        int64           `json:"hits,omitempty"` // number of calls that it decided
	LastUsed    int64           `json:"lastUsed,omitempty"`
	// Problem says why the rule is disabled, for example because it fails one of its own examples.
	Problem string `json:"problem,omitempty"`
}

// Origins of a rule.
const (
	RuleFromQuestion = "question"
	RuleFromPerson   = "person"
	RuleFromImport   = "import"
	RuleFromChat     = "chat"   // a grant for a chat, from an approval; its ID begins with GrantPrefix
	RuleFromConfig   = "config" // toolApproval of the configuration, which is where to change it
)

// GrantPrefix is the prefix of the IDs of grants for a chat.
const GrantPrefix = "grant:"

// RulesResult lists the rules, newest first.
type RulesResult struct {
	Rules []Rule `json:"rules"`
	// Default is the verdict for calls that no rule matches.
	Default string `json:"default"`
}

// RulePutParams creates a rule, or changes the one with the given ID.
type RulePutParams struct {
	ID     string          `json:"id,omitempty"`
	Policy json.RawMessage `json:"policy"`
}

// RuleParams selects a rule.
type RuleParams struct {
	ID string `json:"id"`
}

// RuleTryParams tests a rule against past calls. Limit 0 means 20.
//
// Instead of a Policy, it may name an offer of a pending approval and the scope of the answer. Then
// the tested rule is exactly the one that the answer would save.
type RuleTryParams struct {
	Policy   json.RawMessage `json:"policy,omitempty"`
	Approval QuestionID      `json:"approval,omitempty"`
	Offer    int             `json:"offer,omitempty"` // index of the offer in the approval
	Scope    string          `json:"scope,omitempty"` // folder, node or always
	Limit    int             `json:"limit,omitempty"`
}

// RuleTryResult lists past calls whose verdict the rule would change, newest first. Looked is the
// number of calls that were judged.
type RuleTryResult struct {
	Words   string       `json:"words"` // the rule, for people
	Looked  int          `json:"looked"`
	Changed []RuleChange `json:"changed"`
	// Matched are past calls that the rule covers, whether or not it changes their verdict;
	// Unmatched are at most three similar ones that it does not. Both without repetitions.
	Matched   []JournalEntry `json:"matched"`
	Unmatched []JournalEntry `json:"unmatched"`
}

// RuleChange is a call with another verdict under the tested rule.
type RuleChange struct {
	Call JournalEntry `json:"call"`
	Was  string       `json:"was"` // allow, ask or deny
	Now  string       `json:"now"`
}

// RulesExport holds all rules in the import format.
type RulesExport struct {
	File json.RawMessage `json:"file"`
}

// RulesImportParams adds the rules of a file. Existing rules are not changed.
type RulesImportParams struct {
	File json.RawMessage `json:"file"`
}

// RulesImportResult reports how many rules were added, and which ones are disabled and why.
type RulesImportResult struct {
	Added    int      `json:"added"`
	Skipped  int      `json:"skipped"` // already existing
	Problems []string `json:"problems,omitempty"`
}

// AuditEntry is one line of the audit log: who allowed or changed what (extension). Hash covers the
// previous line and this one.
type AuditEntry struct {
	Seq  int64  `json:"seq"`
	At   int64  `json:"at"`
	Kind string `json:"kind"`
	By   string `json:"by"` // who decided: a principal, "default" or "nobody"
	// AskedBy is who wanted the call; missing in entries of older versions. Resumed means that the call
	// continues what was allowed before a restart. Undo means that it restored the files that a
	// transfer had replaced.
	AskedBy    *AskedBy   `json:"askedBy,omitempty"`
	Resumed    bool       `json:"resumed,omitempty"`
	Undo       bool       `json:"undo,omitempty"`
	Node       NodeID     `json:"nodeId,omitempty"`
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	RunID      RunID      `json:"runId,omitempty"`
	CallID     CallID     `json:"callId,omitempty"`
	Tool       string     `json:"tool,omitempty"`
	What       string     `json:"what,omitempty"` // the command or path, cut to one line
	Input      string     `json:"inputSha256,omitempty"`
	Verdict    string     `json:"verdict,omitempty"`
	Why        string     `json:"why,omitempty"`
	Rule       string     `json:"rule,omitempty"`
	Approval   QuestionID `json:"approvalId,omitempty"`
	// State is the result of the call. It is running for a transfer that has not ended by then: a later
	// entry of the call, without a verdict, is about its end. Error says why a transfer failed.
	State    string          `json:"state,omitempty"`
	Error    string          `json:"error,omitempty"`
	ExitCode *int            `json:"exitCode,omitempty"`
	Policy   json.RawMessage `json:"policy,omitempty"` // of a rule that was created, changed or deleted
	Hash     string          `json:"hash"`
}

// Kinds of audit entries.
const (
	AuditCall           = "call" // a call with an effect was allowed or refused, and its result
	AuditRuleMade       = "rule made"
	AuditRuleChanged    = "rule changed"
	AuditRuleDeleted    = "rule deleted"
	AuditRuleRestored   = "rule restored"
	AuditGrantWithdrawn = "permission withdrawn"
	AuditGrantRestored  = "permission restored"
	AuditDevice         = "device"   // a device was paired, changed, revoked or removed, or its permissions grew
	AuditApp            = "app"      // a connected app was added, changed or revoked, or refused
	AuditService        = "service"  // a service was published, changed or deleted, or visited
	AuditSender         = "sender"   // a channel user was approved or rejected
	AuditMode           = "mode"     // a chat's approval mode was changed
	AuditServer         = "server"   // a question of an MCP server was answered, or one about its tools
	AuditLogin          = "login"    // logins failed
	AuditForward        = "forward"  // a forward was opened or closed
	AuditTerminal       = "terminal" // a terminal was opened, taken over, closed or has ended; never what was typed
	AuditNetwork        = "network"  // a network was created, renamed or deleted, or a machine moved
	AuditRun            = "run"      // the question whether a run continues, or a missed one starts, was answered
)

// AuditListParams requests entries, newest first. Limit 0 means 100; at most 1000.
type AuditListParams struct {
	Node       NodeID     `json:"nodeId,omitempty"`
	SessionKey SessionKey `json:"sessionKey,omitempty"`
	Rule       string     `json:"rule,omitempty"`
	Kind       string     `json:"kind,omitempty"`
	Query      string     `json:"query,omitempty"`  // words or beginnings of words that the entry must contain, all of them
	After      int64      `json:"after,omitempty"`  // Unix milliseconds, inclusive
	Before     int64      `json:"before,omitempty"` // seq, exclusive, for the next page
	Limit      int        `json:"limit,omitempty"`
}

// AuditListResult is one page of entries.
type AuditListResult struct {
	Entries []AuditEntry `json:"entries"`
	More    bool         `json:"more"`
}

// AuditVerifyResult reports on the audit log's hash chain. Broken is the first invalid line, or 0.
type AuditVerifyResult struct {
	Lines  int64  `json:"lines"`
	Broken int64  `json:"broken,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Approval modes of a chat (extension; SessionPrefs.Approvals).
const (
	ModeAsk         = "ask"          // calls that no rule allows need an approval
	ModeAcceptEdits = "accept-edits" // also allows changes of files in the workspace
	ModeReadOnly    = "read-only"    // allows nothing with an effect
	ModeTrust       = "trust"        // for a time, allows everything except what a rule denies or what always needs an approval
	ModePaused      = "paused"       // every call needs an approval
)

// ApprovalMode is the approval mode of a chat. "trust" ends at Until, in Unix milliseconds.
type ApprovalMode struct {
	Mode  string `json:"mode"` // ask, accept-edits, read-only, trust or paused
	Until int64  `json:"until,omitempty"`
}
