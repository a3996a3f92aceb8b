package protocol

import (
	"crypto/sha256"
	"encoding/hex"
)

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
	// Connected means that the app is connected already; then Nodes are its machines, empty for all.
	Connected bool     `json:"connected,omitempty"`
	Nodes     []NodeID `json:"nodeIds,omitempty"`
	Code      string   `json:"code"` // four characters that the browser shows too
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

// SubjectHash returns the hash of a question's subject, for the kinds that have one.
func (a Question) SubjectHash() (string, error) {
	raw, err := Marshal([]any{a.Kind, a.Pairing, a.App, a.Input, a.Tools})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}
