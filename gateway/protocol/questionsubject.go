package protocol

import (
	"crypto/sha256"
	"encoding/hex"
)

// Kinds of question. The first four are about calls, and have no subject of their own.
const (
	AskCall     = "call"     // may this tool call run?
	AskType     = "type"     // may this be typed into a running command?
	AskKeep     = "keep"     // may a change stay that a command made unasked?
	AskContinue = "continue" // the run reached its step limit: continue?
	AskPair     = "pair"     // may this device be paired? Pairing has it
	AskWiden    = "widen"    // may this machine offer more than was allowed? Pairing has it
	AskApp      = "app"      // may this app connect? App has it
	AskInput    = "input"    // what does this MCP server want to know? Input has it
	AskTools    = "tools"    // may the agent use the changed tools of this MCP server? Tools has them
	AskSender   = "sender"   // may this unknown sender on a channel write to the agent? Sender has them
	AskVisit    = "visit"    // may this person visit a published app? Visit has it
)

// AnswerScope returns the scope that answers a kind of question. Devices, apps, tools, senders and
// visitors get lasting rights, which is for those who may administer.
func AnswerScope(kind string) Scope {
	switch kind {
	case AskPair, AskWiden, AskApp, AskTools, AskSender, AskVisit:
		return ScopeAdmin
	}
	return ScopeApprove
}

// KindOfCall returns the kind of question that a call needs. server is the MCP server whose tool it
// is; empty for other tools.
func KindOfCall(tool string, server ServerName, preview *CallPreview) string {
	switch {
	case tool == KeepTool && server == "":
		return AskKeep
	case preview != nil && preview.Input != nil:
		return AskType
	}
	return AskCall
}

// IsCall reports whether a question is about a tool call.
func (a Question) IsCall() bool { return a.Kind == AskCall || a.Kind == AskType || a.Kind == AskKeep }

// IsOfCall reports whether a question is about a call, or about a run that makes calls.
func (a Question) IsOfCall() bool { return a.IsCall() || a.Kind == AskContinue }

// PairingSubject is a device that wants to be paired, or a machine that offers more than was allowed.
type PairingSubject struct {
	// Device describes the requester in its own words, with the address that the gateway sees. After
	// the answer it is the paired device.
	Device Device `json:"device"`
	// Words are shown on both sides of a pairing and must be equal.
	Words []string `json:"words,omitempty"`
	// Wider lists, for people, what a machine offers beyond what was allowed.
	Wider  []string `json:"wider,omitempty"`
	Invite string   `json:"invite,omitempty"` // the invitation that was used
}

// AppSubject is an app that wants to connect.
type AppSubject struct {
	Name         string  `json:"name"`                 // as the app calls itself
	ClientID     string  `json:"clientId"`             // an address, or an ID from a registration
	ClientHost   string  `json:"clientHost,omitempty"` // the host that published the app; empty: not proven
	RedirectHost string  `json:"redirectHost"`         // where the browser returns to
	IsLocal      bool    `json:"isLocal"`              // the redirect leads to a program on this computer
	Scopes       []Scope `json:"scopes"`               // requested
	// Connected means that the app is connected already; then Nodes and Networks are its
	// machines, both empty for all.
	Connected bool        `json:"connected,omitempty"`
	Nodes     []NodeID    `json:"nodeIds,omitempty"`
	Networks  []NetworkID `json:"networkIds,omitempty"`
	Code      string      `json:"code"` // four characters that the browser shows too
}

// InputSubject is what an MCP server wants to know from the person (an elicitation): a form, or a
// web address to open.
type InputSubject struct {
	Server  ServerName `json:"server"`
	Message string     `json:"message"`
	URL     string     `json:"url,omitempty"` // the person is asked to open it; no fields then
	Fields  []Field    `json:"fields,omitempty"`
}

// ToolsSubject are tools of an MCP server that have changed since the person accepted them, or that
// are new. The agent does not get them before they are accepted.
type ToolsSubject struct {
	Server ServerName   `json:"server"`
	Tools  []ServerTool `json:"tools"`
}

// SenderSubject is an unknown sender on a channel who wants to write to the agent. In groups, it is the
// group.
type SenderSubject struct {
	PendingPair
	Peer Peer `json:"peer"` // where answers to them go
}

// VisitSubject is somebody who is not on the list of a published app and asks for access.
type VisitSubject struct {
	Service ServiceID `json:"service"`
	Title   string    `json:"title"`
	URL     string    `json:"url"`
	Email   string    `json:"email"`
	// Verified names the provider with which they signed in; empty: nobody has checked that the
	// address is theirs.
	Verified string `json:"verified,omitempty"`
	From     string `json:"from"`              // network address
	Message  string `json:"message,omitempty"` // their own words, one line
	// For is how long the answer lets them in: hour, day or always; empty while it is pending or
	// denied.
	For string `json:"for,omitempty"`
}

// How long an answer lets somebody in who asked for access to a published app.
const (
	VisitHour   = "hour"
	VisitDay    = "day"
	VisitAlways = "always" // adds the address to the app's list
)

// SubjectHash returns the hash of a question's subject, for the kinds that have one.
func (a Question) SubjectHash() (string, error) {
	raw, err := Marshal([]any{a.Kind, a.Pairing, a.App, a.Input, a.Tools, a.Sender, a.Visit})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}
