package messages

import (
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/settings"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Gateway is the connection whose problems a window shows.
type Gateway interface {
	IsRemote() bool
	// GatewayName is the person's name for a remote gateway.
	GatewayName() string
	// Retry tries again after a failed start.
	Retry()
}

// Status shows what the gateway says about itself in the messages of a window.
type Status struct {
	messages *Messages
	gateway  Gateway
	feed     *feed.Feed

	noticeAt       int64  // time of the latest notice
	missingSecrets string // missing secrets of the latest message
}

// NewStatus shows the status of a gateway, each time it is updated.
func NewStatus(m *Messages, g Gateway, f *feed.Feed) *Status {
	return &Status{messages: m, gateway: g, feed: f}
}

// NewNotice returns the gateway's latest notice, once, unless the banner shows the same.
func (s *Status) NewNotice(v feed.View) (n protocol.Notice, isNew bool) {
	if v.Notice == nil || v.Notice.At == s.noticeAt {
		return n, false
	}
	s.noticeAt = v.Notice.At
	return *v.Notice, v.Status.Storage == "" || !strings.HasPrefix(v.Notice.Text, v.Status.Storage)
}

// ShowNotice shows a notice.
func (s *Status) ShowNotice(n protocol.Notice) {
	s.messages.ShowFor(strings.TrimPrefix(n.Title+": "+n.Text, ": "), 8*time.Second)
}

// Update shows problems of the whole program, and what is missing.
func (s *Status) Update(v feed.View) {
	s.showProblem(v)
	s.showMissingSecrets(v)
}

// showMissingSecrets shows a notice about missing secrets, once per change.
func (s *Status) showMissingSecrets(v feed.View) {
	missing := strings.Join(v.Status.Missing, " ")
	if missing == s.missingSecrets {
		return
	}
	s.missingSecrets = missing
	if missing != "" {
		s.messages.ShowFor(settings.MissingSecrets(v.Status.Status)+" "+settings.MissingSecretsHelp(v.Status.Status), time.Minute)
	}
}

func (s *Status) showProblem(v feed.View) {
	m, remote := s.messages, s.gateway.IsRemote()
	switch {
	case v.Status.Storage != "":
		m.ShowProblem(widgets.Problem{Title: v.Status.Storage, Advice: "The agent is paused until this is fixed.", Button: "Resume"}, func() { s.feed.Pause(false) })
	case !v.Status.Loaded && v.Status.Problem != "" && !remote:
		m.ShowProblem(widgets.Problem{Title: "The gateway did not start.", Advice: v.Status.Problem, Button: "Try again"}, s.gateway.Retry)
	case !v.Status.Loaded && v.Status.Problem != "":
		m.ShowProblem(widgets.Problem{Title: "No connection to the gateway " + s.gateway.GatewayName() + ".", Advice: v.Status.Problem}, nil)
	case v.Status.IsLost() && remote:
		m.ShowProblem(widgets.Problem{Title: "The connection to the gateway " + s.gateway.GatewayName() + " was lost.", Advice: "You are seeing the last known state. The chat shows the reason."}, nil)
	default:
		m.HideProblem()
	}
}
