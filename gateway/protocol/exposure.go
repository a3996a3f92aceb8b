package protocol

import "encoding/json"

// Kinds of exposures.
const (
	ExposureListener = "listener"
	ExposureService  = "service"
	ExposureForward  = "forward"
	ExposureToken    = "token"
	ExposureApp      = "app"
	ExposureDevice   = "device" // a paired machine or client
	ExposureChannel  = "channel"
	ExposureGrant    = "grant" // what happens without a question
)

// ExposureKinds are all kinds, in the order in which they are listed.
var ExposureKinds = []string{
	ExposureListener, ExposureService, ExposureForward, ExposureToken, ExposureApp, ExposureDevice, ExposureChannel, ExposureGrant,
}

// Warnings about exposures, the gravest first.
const (
	WarnPublic   = "public"   // whoever reaches it needs no sign-in
	WarnNetwork  = "network"  // other computers reach it
	WarnUnused   = "unused"   // not used for 30 days
	WarnNoExpiry = "noExpiry" // it could expire, and never does
)

// ExposureWarnings are all warnings, the gravest first.
var ExposureWarnings = []string{WarnPublic, WarnNetwork, WarnUnused, WarnNoExpiry}

// Exposure is a way in: something through which somebody, or a program, reaches the gateway, the
// machines or the agent.
type Exposure struct {
	ID    string `json:"id"` // the kind, a colon, and the ID of the thing
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Reach string `json:"reach"` // who reaches what through it, in one sentence
	// IsPublic is whether whoever reaches it needs no sign-in.
	IsPublic   bool  `json:"public"`
	IsInUse    bool  `json:"inUse"` // now
	CreatedAt  int64 `json:"createdAt,omitempty"`
	LastUsedAt int64 `json:"lastUsedAt,omitempty"` // 0: never, as far as it is known
	ExpiresAt  int64 `json:"expiresAt,omitempty"`  // 0: never
	// Warnings are the warnings about it, the gravest first.
	Warnings []string `json:"warnings"`
	// Close closes it. It is nil if that is not possible here.
	Close *ExposureClose `json:"close,omitempty"`
}

// ExposureClose describes how an exposure is closed.
type ExposureClose struct {
	Button string `json:"button"` // a verb, such as Revoke
	Ends   string `json:"ends"`   // what ends, in one sentence
	// Call closes it, and Undo opens it again. Undo is nil if nothing opens it again.
	Call MethodCall  `json:"call"`
	Undo *MethodCall `json:"undo,omitempty"`
}

// MethodCall is a call of a method. Its caller needs the scope of that method.
type MethodCall struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// NewCall returns a call of a method.
func NewCall[P, R any](m Method[P, R], params P) MethodCall {
	return MethodCall{m.Name, Encode(params)}
}

// ExposureListResult lists every way in: by kind, then those with the gravest warnings first.
type ExposureListResult struct {
	Exposures []Exposure `json:"exposures"`
}

// ExposureList lists every way in.
var ExposureList = Method[Empty, ExposureListResult]{"exposure.list", ScopeRead, clients, extension}
