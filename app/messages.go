package app

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/feed"
	"fairlead/app/settings"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// messages shows messages in the main window: offers to undo, the current message, a banner.
type messages struct {
	ui     *ui
	toast  *widgets.Toast
	from   place   // of the toast
	undos  []offer // oldest first
	banner *widgets.ErrorBox
	box    *fyne.Container // container of undos, toast and banner

	noticeAt       int64  // time of the latest notice that was shown
	missingSecrets string // missing secrets of the latest message
}

// place is what the main window showed when a message arose: the message is shown there only.
type place struct {
	page string              // empty for a chat
	chat protocol.SessionKey // empty on a page
}

// everywhere is the place of messages about the whole program and about the list of chats.
var everywhere = place{page: "*"}

// offer is an offer to undo a deletion.
type offer struct {
	*widgets.Toast
	from place
}

func newMessages(u *ui) *messages {
	m := &messages{ui: u, banner: widgets.NewErrorBox(widgets.Problem{}, func() {})}
	m.toast = widgets.NewToast(m.layout)
	m.banner.Hide()
	m.box = container.NewStack(m.toast, m.banner)
	return m
}

// showNotice shows the gateway's latest notice, unless the banner or the open chat shows the same.
func (m *messages) showNotice(v feed.View) {
	n := v.Notice
	if n == nil || n.At == m.noticeAt {
		return
	}
	m.noticeAt = n.At
	if v.Status.Storage == "" || !strings.HasPrefix(n.Text, v.Status.Storage) {
		m.ui.notes.AnnounceSchedule(*n)
		if n.SessionKey != "" && m.ui.main.showsChat(n.SessionKey) {
			return // the chat says it
		}
		m.showFor(strings.TrimPrefix(n.Title+": "+n.Text, ": "), 8*time.Second)
	}
}

// showMissingSecrets shows a notice about missing secrets, once per change.
func (m *messages) showMissingSecrets(v feed.View) {
	missing := strings.Join(v.Status.Missing, " ")
	if missing == m.missingSecrets {
		return
	}
	m.missingSecrets = missing
	if missing != "" {
		m.showFor(settings.MissingSecrets(v.Status.Status)+" "+settings.MissingSecretsHelp(v.Status.Status), time.Minute)
	}
}

// showProblem shows problems of the whole program in the banner.
func (m *messages) showProblem(v feed.View) {
	switch {
	case v.Status.Storage != "":
		m.banner.Set(widgets.Problem{Title: v.Status.Storage, Advice: "The agent is paused until this is fixed.", Button: "Resume"})
		m.banner.OnButton = func() { m.ui.backend.Feed.Pause(false) }
	case !v.Status.Loaded && v.Status.Problem != "" && !m.ui.backend.IsRemote():
		m.banner.Set(widgets.Problem{Title: "The gateway did not start.", Advice: v.Status.Problem, Button: "Try again"})
		m.banner.OnButton = m.ui.backend.Retry
	case !v.Status.Loaded && v.Status.Problem != "":
		m.banner.Set(widgets.Problem{Title: "No connection to the gateway " + m.ui.backend.GatewayName() + ".", Advice: v.Status.Problem})
	case !v.Status.Connected && v.Status.Problem != "" && m.ui.backend.IsRemote():
		m.banner.Set(widgets.Problem{Title: "The connection to the gateway " + m.ui.backend.GatewayName() + " was lost.", Advice: "You are seeing the last known state. The chat shows the reason."})
	default:
		if m.banner.Visible() {
			m.banner.Hide()
			m.ui.main.body.Refresh()
		}
		return
	}
	if !m.banner.Visible() {
		m.banner.Show()
		m.ui.main.body.Refresh()
		return
	}
	m.layout() // the banner's height may have changed
}

func (m *messages) layout() { m.box.Layout.Layout(m.box.Objects, m.box.Size()) }

// messageTime is how long a message is shown.
const messageTime = 6 * time.Second

// show shows a message until its time is over or the person leaves the page or chat.
func (m *messages) show(text string) {
	m.showFor(text, messageTime)
	m.from = m.place()
}

// showFor shows a message about the whole program.
func (m *messages) showFor(text string, d time.Duration) {
	m.from = everywhere
	m.toast.ShowMessage(text, nil, time.Now(), time.Now().Add(d))
	m.ui.main.body.Refresh()
}

// showIn shows a message in the window of the action that caused it: the main window may be hidden.
func (m *messages) showIn(w fyne.Window, text string) {
	if c := m.ui.chats.at(w); c != nil {
		c.toasts.show(text)
		return
	}
	m.show(text)
}

// offerUndoIn is offerUndo in the window of the action.
func (m *messages) offerUndoIn(w fyne.Window, text string, undo func(), until time.Time) {
	if c := m.ui.chats.at(w); c != nil {
		c.toasts.offerUndo(text, undo, until)
		return
	}
	m.offerUndo(text, undo, until)
}

// showAction shows a message with a button.
func (m *messages) showAction(text, label string, act func()) {
	now := time.Now()
	m.toast.ShowAction(text, label, act, now, now.Add(messageTime))
	m.from = m.place()
	m.ui.main.body.Refresh()
}

// maxUndos is the maximum number of offers to undo on the screen.
const maxUndos = 5

// offerUndo shows a message about a deletion with an Undo button, for its full time. Elsewhere, it is
// hidden.
func (m *messages) offerUndo(text string, undo func(), until time.Time) {
	m.offer(m.place(), text, undo, until)
}

func (m *messages) offer(from place, text string, undo func(), until time.Time) {
	t := widgets.NewToast(m.layout)
	t.ShowMessage(text, undo, time.Now(), until)
	m.undos = append(m.undos, offer{t, from})
	if len(m.undos) > maxUndos {
		m.undos = m.undos[1:]
	}
	m.arrange()
}

// place returns what the main window shows.
func (m *messages) place() place {
	if page := m.ui.nav.title; page != "" {
		return place{page: page}
	}
	return place{chat: m.ui.main.conversation.page.Key()}
}

// isHere reports whether messages from a place are shown now.
func (m *messages) isHere(from place) bool { return from == everywhere || from == m.place() }

// move hides the messages of the place that the person has left, and shows those of the new one.
func (m *messages) move() {
	if m.toast.Visible() && !m.isHere(m.from) {
		m.toast.Close()
	}
	m.arrange()
}

// undoLast undoes what the newest message offers to undo, and reports whether there was one.
func (m *messages) undoLast() bool {
	for _, t := range slices.Backward(m.undos) {
		if t.Visible() && m.isHere(t.from) {
			t.Undo()
			return true
		}
	}
	return false
}

// arrange lists the messages: offers to undo (newest first), the current message, the banner.
func (m *messages) arrange() {
	var list []fyne.CanvasObject
	for _, t := range slices.Backward(m.undos) {
		if m.isHere(t.from) {
			list = append(list, t.Toast)
		}
	}
	m.box.Objects = append(list, m.toast, m.banner)
	m.ui.main.body.Refresh()
}

// removeExpiredUndos removes expired offers. It reports whether any are left.
func (m *messages) removeExpiredUndos(now time.Time) bool {
	for _, t := range m.undos {
		t.Tick(now)
	}
	n := len(m.undos)
	if m.undos = slices.DeleteFunc(m.undos, func(t offer) bool { return !t.Visible() }); len(m.undos) != n {
		m.arrange()
	}
	return len(m.undos) > 0
}
