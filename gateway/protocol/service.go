package protocol

import "fmt"

// ServiceID names a published service.
type ServiceID string

// Modes of a service.
const (
	ServiceProxy    = "proxy"    // leads to an app that speaks HTTP
	ServiceTerminal = "terminal" // shows a terminal
)

// Service is an app, or a terminal, of a machine with an address of its own.
type Service struct {
	ID     ServiceID `json:"id"`
	NodeID NodeID    `json:"nodeId"`
	Name   string    `json:"name"` // the first part of its host name
	Title  string    `json:"title"`
	Mode   string    `json:"mode"`
	Target string    `json:"target"` // the whole address, as the machine reaches it; empty for a terminal
	// Certificate is the SHA-256 fingerprint, in hex, of the certificate of an https target that the
	// owner trusts though nobody vouches for it.
	Certificate string `json:"certificate,omitempty"`
	// Terminal says what a terminal runs.
	Terminal *TerminalOpen `json:"terminal,omitempty"`
	Enabled  bool          `json:"enabled"`
	// SignIn is false for a service that everyone can use who reaches its address. It is never false
	// for a terminal.
	SignIn bool `json:"signIn"`
	// Visitors are the email addresses, and patterns such as *@company.com, that may sign in beside
	// the owner.
	Visitors []string `json:"visitors"`
	URL      string   `json:"url"` // the best address that works
	// Addresses are all of them, the best one first.
	Addresses []ServiceAddress `json:"addresses"`
	// NetworkPort and LocalPort are the ports at which other computers, and programs of this one,
	// reach it if the settings say so. They stay the same.
	NetworkPort int   `json:"networkPort,omitempty"`
	LocalPort   int   `json:"localPort,omitempty"`
	CreatedAt   int64 `json:"createdAt"`
	UpdatedAt   int64 `json:"updatedAt"`
}

// Content returns the address of the app, or what the terminal runs, for people.
func (v Service) Content() string {
	if v.Terminal != nil {
		return v.Terminal.String()
	}
	return v.Target
}

// String says what a terminal runs, for people.
func (t TerminalOpen) String() string {
	text := "a terminal with the user's shell"
	if t.Command != "" {
		text = fmt.Sprintf("a terminal with %q", t.Command)
	}
	if t.Username != "" {
		text += " as " + t.Username
	}
	if t.Workdir != "" {
		text += " in " + t.Workdir
	}
	return text
}

// Places from which an address of a service works.
const (
	FromAnywhere = "anywhere" // where its domain is found
	FromNetwork  = "network"  // computers that reach the network listener
	FromBrowser  = "browser"  // browsers of the gateway's computer
	FromComputer = "computer" // all programs of the gateway's computer
)

// ServiceAddress is one address of a service.
type ServiceAddress struct {
	URL  string `json:"url"`
	From string `json:"from"`
	// Problem says why it does not work now; empty if it does.
	Problem string `json:"problem,omitempty"`
}

// ServicesListResult lists the published services, the oldest first.
type ServicesListResult struct {
	Services []Service `json:"services"`
	// Use is how much each was used; those that never were are missing.
	Use map[ServiceID]ServiceUse `json:"use"`
}

// ServiceUse is how much a service is used.
type ServiceUse struct {
	Visitors      int   `json:"visitors"`      // now: until 15 minutes after their last request
	RequestsToday int64 `json:"requestsToday"` // in the owner's time zone
	LastUsedAt    int64 `json:"lastUsedAt"`    // Unix milliseconds
}

// ServiceVisitor is who is signed in to a service, or visits it now without a sign-in.
type ServiceVisitor struct {
	ID        string `json:"id,omitempty"` // of the sign-in; empty without one
	Email     string `json:"email,omitempty"`
	IsOwner   bool   `json:"isOwner,omitempty"`
	IsClaimed bool   `json:"isClaimed,omitempty"` // nobody has checked that the address is theirs
	IsGranted bool   `json:"isGranted,omitempty"` // the owner granted access for some time; the list does not matter
	ExpiresAt int64  `json:"expiresAt,omitempty"` // of the sign-in

	// The open visit; zero without one.
	From       string `json:"from,omitempty"` // network address
	Since      int64  `json:"since,omitempty"`
	LastUsedAt int64  `json:"lastUsedAt,omitempty"`
	Requests   int64  `json:"requests,omitempty"`
	Streams    int    `json:"streams,omitempty"` // requests that have not ended
	Sent       int64  `json:"sent,omitempty"`    // bytes to the visitor
	Received   int64  `json:"received,omitempty"`
}

// ServiceVisitsResult lists who is signed in to a service now, and who visits it.
type ServiceVisitsResult struct {
	Visitors []ServiceVisitor `json:"visitors"`
}

// ServiceSignOutParams names a sign-in at a service.
type ServiceSignOutParams struct {
	ID      ServiceID `json:"id"`
	Visitor string    `json:"visitor"`
}

// ServiceParams names a service.
type ServiceParams struct {
	ID ServiceID `json:"id"`
}

// ServiceLinkParams asks for a link that lets a visitor in once, within a day.
type ServiceLinkParams struct {
	ID    ServiceID `json:"id"`
	Email string    `json:"email,omitempty"` // empty: for the owner
}

// ServiceLinkResult has the link. It is a secret.
type ServiceLinkResult struct {
	URL string `json:"url"`
}

// ServiceTargetParams has the address of an app as people write it, such as 3000.
type ServiceTargetParams struct {
	Text string `json:"text"`
}

// ServiceTargetResult has the whole address that was understood.
type ServiceTargetResult struct {
	Target string `json:"target"`
}

// Methods of services. Tools change them, about which the person is asked; only closing needs no
// question.
var (
	ServicesList = Method[Empty, ServicesListResult]{"services.list", ScopeRead, clients, extension}
	ServiceLink  = Method[ServiceLinkParams, ServiceLinkResult]{"services.link", ScopeAdmin, clients, extension}
	// ServiceClose switches a service off, which ends its visits at once.
	ServiceClose = Method[ServiceParams, OK]{"services.close", ScopeAdmin, clients, extension}
	// ServiceTarget reads an address, for forms that show what was understood. It changes nothing.
	ServiceTarget = Method[ServiceTargetParams, ServiceTargetResult]{"services.target", ScopeRead, clients, extension}
	ServiceVisits = Method[ServiceParams, ServiceVisitsResult]{"services.visits", ScopeRead, clients, extension}
	// ServiceSignOut ends a visitor's sign-in and open pages.
	ServiceSignOut = Method[ServiceSignOutParams, OK]{"services.signout", ScopeAdmin, clients, extension}
)
