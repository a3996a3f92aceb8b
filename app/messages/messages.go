// Package messages shows the messages of a window: what it says, offers to undo, and a banner with a
// problem of the whole program. Each is shown in the place where it arose.
package messages

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Place is what a window showed when a message arose: the message is shown there only.
type Place struct {
	Page string              // title; empty for a chat
	Chat protocol.SessionKey // empty on a page
}

// Everywhere is the place of messages about the whole program and about the list of chats.
var Everywhere = Place{Page: "*"}

// Offer is an offer to undo a deletion.
type Offer struct {
	*widgets.Toast
	from Place
}

// Messages are the messages of a window. They belong to the GUI thread.
type Messages struct {
	Box    *fyne.Container // of the offers, the newest first, the toast and the banner
	Toast  *widgets.Toast
	Banner *widgets.ErrorBox
	Offers []Offer // oldest first

	place   func() Place
	refresh func()
	from    Place // of the toast
}

// New returns the messages of a window, which stand between a chat and its foot, or below pages.
// place returns what the window shows; refresh lays out the window again.
func New(foot Foot, place func() Place, refresh func(), pages ...fyne.CanvasObject) *Messages {
	m := &Messages{place: place, refresh: refresh, Banner: widgets.NewErrorBox(widgets.Problem{}, func() {})}
	m.Toast = widgets.NewToast(m.LayOut)
	m.Banner.Hide()
	m.Box = container.New(&layout{foot, pages}, m.Toast, m.Banner)
	return m
}

// LayOut arranges the messages again, such as after the areas to keep free have moved.
func (m *Messages) LayOut() { m.Box.Layout.Layout(m.Box.Objects, m.Box.Size()) }

// messageTime is how long a message is shown.
const messageTime = 6 * time.Second

// Show shows a message until its time is over or the person leaves the page or chat.
func (m *Messages) Show(text string) { m.show(m.place(), text, messageTime) }

// ShowFor shows a message about the whole program.
func (m *Messages) ShowFor(text string, d time.Duration) { m.show(Everywhere, text, d) }

func (m *Messages) show(from Place, text string, d time.Duration) {
	m.from = from
	m.Toast.ShowMessage(text, nil, time.Now(), time.Now().Add(d))
	m.refresh()
}

// ShowAction shows a message with a button.
func (m *Messages) ShowAction(text, label string, act func()) {
	now := time.Now()
	m.Toast.ShowAction(text, label, act, now, now.Add(messageTime))
	m.from = m.place()
	m.refresh()
}

// ShowProblem shows the banner.
func (m *Messages) ShowProblem(p widgets.Problem, onButton func()) {
	m.Banner.Set(p)
	m.Banner.OnButton = onButton
	if !m.Banner.Visible() {
		m.Banner.Show()
		m.refresh()
		return
	}
	m.LayOut() // the banner's height may have changed
}

// HideProblem hides the banner.
func (m *Messages) HideProblem() {
	if m.Banner.Visible() {
		m.Banner.Hide()
		m.refresh()
	}
}

// maxOffers is the maximum number of offers to undo on the screen.
const maxOffers = 5

// OfferUndo shows a message about a deletion with an Undo button, for its full time. Elsewhere, it is
// hidden.
func (m *Messages) OfferUndo(text string, undo func(), until time.Time) {
	m.OfferUndoAt(m.place(), text, undo, until)
}

// OfferUndoAt is OfferUndo for another place.
func (m *Messages) OfferUndoAt(from Place, text string, undo func(), until time.Time) {
	t := widgets.NewToast(m.LayOut)
	t.ShowMessage(text, undo, time.Now(), until)
	m.Offers = append(m.Offers, Offer{t, from})
	if len(m.Offers) > maxOffers {
		m.Offers = m.Offers[1:]
	}
	m.arrange()
}

// isHere reports whether messages from a place are shown now.
func (m *Messages) isHere(from Place) bool { return from == Everywhere || from == m.place() }

// Move hides the messages of the place that the person has left, and shows those of the new one.
func (m *Messages) Move() {
	if m.Toast.Visible() && !m.isHere(m.from) {
		m.Toast.Close()
	}
	m.arrange()
}

// UndoLast undoes what the newest message offers to undo, and reports whether there was one.
func (m *Messages) UndoLast() bool {
	for _, t := range slices.Backward(m.Offers) {
		if t.Visible() && m.isHere(t.from) {
			t.Undo()
			return true
		}
	}
	return false
}

// arrange lists the messages: offers to undo (newest first), the current message, the banner.
func (m *Messages) arrange() {
	var list []fyne.CanvasObject
	for _, t := range slices.Backward(m.Offers) {
		if m.isHere(t.from) {
			list = append(list, t.Toast)
		}
	}
	m.Box.Objects = append(list, m.Toast, m.Banner)
	m.refresh()
}

// Tick passes the time to the messages, and removes expired offers.
func (m *Messages) Tick(now time.Time) {
	was := m.Toast.Visible()
	m.Toast.Tick(now)
	for _, t := range m.Offers {
		t.Tick(now)
	}
	n := len(m.Offers)
	m.Offers = slices.DeleteFunc(m.Offers, func(t Offer) bool { return !t.Visible() })
	switch {
	case len(m.Offers) != n:
		m.arrange()
	case was != m.Toast.Visible():
		m.refresh()
	case was || n > 0 || m.Banner.Visible():
		m.LayOut() // the areas to keep free may have moved
	}
}
