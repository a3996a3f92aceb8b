package messages

import (
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// testFoot is a chat whose composer is 60 units high.
type testFoot struct{ reserved float32 }

func (*testFoot) Visible() bool            { return true }
func (*testFoot) FootHeight() float32      { return 60 }
func (f *testFoot) Reserve(height float32) { f.reserved = height }

// newMessages returns the messages of a window that shows a chat, and what moves it to another place.
func newMessages(t *testing.T) (m *Messages, foot *testFoot, move func(Place)) {
	t.Helper()
	pagetest.Start(t, style.Light)
	at := Place{Chat: "a"}
	foot = &testFoot{}
	m = New(foot, func() Place { return at }, func() { m.LayOut() })
	pagetest.Window(t, m.Box, 600, 400)
	return m, foot, func(to Place) {
		at = to
		m.Move()
	}
}

// shown returns the texts of the offers that are shown, the newest first.
func textsShown(m *Messages) (texts []string) {
	for _, o := range slices.Backward(m.Offers) {
		if o.Visible() && slices.Contains(m.Box.Objects, fyne.CanvasObject(o.Toast)) {
			texts = append(texts, widgettest.Find(o.Toast, func(*widgets.Paragraph) bool { return true }).Text())
		}
	}
	return texts
}

func TestMessageEndsWithItsPlaceAndItsTime(t *testing.T) {
	for name, leave := range map[string]func(m *Messages, move func(Place)){
		"another chat": func(_ *Messages, move func(Place)) { move(Place{Chat: "b"}) },
		"a page":       func(_ *Messages, move func(Place)) { move(Place{Page: "Files"}) },
		"its time":     func(m *Messages, _ func(Place)) { m.Tick(time.Now().Add(messageTime + time.Second)) },
	} {
		t.Run(name, func(t *testing.T) {
			m, foot, move := newMessages(t)
			m.Show("Not sent.")
			m.LayOut()
			if !m.Toast.Visible() || foot.reserved <= 0 {
				t.Fatalf("message: got visible %v with %v reserved above the composer, want it there", m.Toast.Visible(), foot.reserved)
			}
			if leave(m, move); m.Toast.Visible() {
				t.Error("the message is still shown")
			}
		})
	}
}

func TestMessageOfTheWholeProgramStaysElsewhere(t *testing.T) {
	m, _, move := newMessages(t)
	m.ShowFor("The key is missing.", time.Minute)
	if move(Place{Page: "Files"}); !m.Toast.Visible() {
		t.Error("the message ended with the place")
	}
}

func TestOffersReturnToTheirPlaceUntilTheyExpire(t *testing.T) {
	m, _, move := newMessages(t)
	until := time.Now().Add(time.Minute)
	m.OfferUndo("A message was deleted.", func() {}, until)
	m.OfferUndoAt(Everywhere, "A chat was deleted.", func() {}, until)
	for _, c := range []struct {
		at   Place
		want []string
	}{
		{Place{Chat: "a"}, []string{"A chat was deleted.", "A message was deleted."}},
		{Place{Page: "Files"}, []string{"A chat was deleted."}},
		{Place{Chat: "a"}, []string{"A chat was deleted.", "A message was deleted."}},
	} {
		if move(c.at); !slices.Equal(textsShown(m), c.want) {
			t.Errorf("offers in %+v: got %q, want %q", c.at, textsShown(m), c.want)
		}
	}
	if m.Tick(until.Add(time.Second)); len(m.Offers) != 0 {
		t.Errorf("offers after their time: got %q, want none", textsShown(m))
	}
}

func TestUndoTakesTheNewestOfferOfThePlace(t *testing.T) {
	m, _, move := newMessages(t)
	var undone []string
	offer := func(text string) {
		m.OfferUndo(text, func() { undone = append(undone, text) }, time.Now().Add(time.Minute))
	}
	offer("one")
	offer("two")
	move(Place{Page: "Files"})
	if m.UndoLast() {
		t.Fatalf("undone elsewhere: %q", undone)
	}
	move(Place{Chat: "a"})
	for range 2 {
		if !m.UndoLast() {
			t.Error("an offer of the place was not undone")
		}
	}
	if want := []string{"two", "one"}; m.UndoLast() || !slices.Equal(undone, want) {
		t.Errorf("undone: got %q, want %q, and nothing left to undo", undone, want)
	}
}

func TestOldestOfTooManyOffersIsDropped(t *testing.T) {
	m, _, _ := newMessages(t)
	for _, text := range []string{"1", "2", "3", "4", "5", "6"} {
		m.OfferUndo(text, func() {}, time.Now().Add(time.Minute))
	}
	if got, want := textsShown(m), []string{"6", "5", "4", "3", "2"}; !slices.Equal(got, want) {
		t.Errorf("offers: got %q, want %q", got, want)
	}
}

// testGateway is a gateway whose start can be tried again.
type testGateway struct {
	isRemote bool
	retries  int
}

func (g *testGateway) IsRemote() bool    { return g.isRemote }
func (*testGateway) GatewayName() string { return "cellar" }
func (g *testGateway) Retry()            { g.retries++ }

func TestProblemOfTheGatewayNamesWhatHelps(t *testing.T) {
	lost := feed.Status{Problem: "The port is taken."}
	was := feed.Status{Problem: "No route.", Status: protocol.Status{}}
	was.Loaded = true
	for name, c := range map[string]struct {
		isRemote bool
		status   feed.Status
		title    string
		button   string
	}{
		"the own gateway did not start":   {false, lost, "The gateway did not start.", "Try again"},
		"a remote one was never reached":  {true, lost, "No connection to the gateway cellar.", ""},
		"the connection to one was lost":  {true, was, "The connection to the gateway cellar was lost.", ""},
		"the disk is full":                {false, feed.Status{Loaded: true, Connected: true, Status: protocol.Status{Storage: "The disk is full."}}, "The disk is full.", "Resume"},
		"everything works":                {false, feed.Status{Loaded: true, Connected: true}, "", ""},
		"the own one connects in a while": {false, feed.Status{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, _ := newMessages(t)
			g := &testGateway{isRemote: c.isRemote}
			NewStatus(m, g, feed.New()).Update(feed.View{Status: c.status})
			if got := m.Banner.Visible(); got != (c.title != "") {
				t.Fatalf("banner: got visible %v, want %v", got, c.title != "")
			}
			if c.title == "" {
				return
			}
			pagetest.Shows(t, m.Banner, c.title)
			if b := pagetest.VisibleButton(m.Banner, c.button); c.button != "" && b == nil {
				t.Errorf("the banner has no button %q", c.button)
			}
			if c.button == "Try again" {
				if pagetest.VisibleButton(m.Banner, c.button).OnTap(); g.retries != 1 {
					t.Errorf("the gateway was started again %d times, want once", g.retries)
				}
			}
		})
	}
}

func TestNoticeIsNewOnce(t *testing.T) {
	m, _, _ := newMessages(t)
	s := NewStatus(m, &testGateway{}, feed.New())
	v := feed.View{Notice: &protocol.Notice{At: 7, Title: "Backup", Text: "Done."}}
	n, isNew := s.NewNotice(v)
	if !isNew {
		t.Fatal("the first notice is not new")
	}
	s.ShowNotice(n)
	pagetest.Shows(t, m.Toast, "Backup: Done.")
	if _, again := s.NewNotice(v); again {
		t.Error("the same notice is new again")
	}
	v.Status.Storage, v.Notice = "The disk is full.", &protocol.Notice{At: 8, Text: "The disk is full. The agent is paused."}
	if _, isNew := s.NewNotice(v); isNew {
		t.Error("the notice repeats the banner")
	}
}
