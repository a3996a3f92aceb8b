package transcript

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
)

func TestToolCardOpensByKeyboardAndByMouse(t *testing.T) {
	c := NewCallCard()
	var toggled []bool
	c.OnToggle = func(open bool) { toggled = append(toggled, open) }
	win := widgettest.Window(t, c, 500, 300)
	c.Set(Call{Verb: "Bash", Machine: "server", Argument: "make", State: CallDone, Time: "0.2 s", Output: "ok"})
	test.Tap(c.head)
	win.Canvas().Focus(c.head)
	c.head.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	c.head.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	c.head.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	if len(toggled) != 3 || !toggled[0] || toggled[1] || !toggled[2] {
		t.Errorf("toggled: got %v; want length 3, toggled[0], not toggled[1] and toggled[2]", toggled)
	}
}

func TestWaitingCardAsksAndAllowIsNotReadyAtOnce(t *testing.T) {
	c := NewCallCard()
	var did []string
	c.OnAllow = func() { did = append(did, "allow") }
	c.OnDeny = func() { did = append(did, "deny") }
	c.OnReview = func() { did = append(did, "review") }
	widgettest.Window(t, c, 500, 300)
	tool := Call{Verb: "Edit", Machine: "server", Argument: "a.go", State: CallWaiting, Status: "waiting for you", CanAnswer: true, AllowHint: "Allow waits."}
	c.Set(tool)
	test.Tap(button(c, "Allow once"))
	if len(did) != 0 {
		t.Fatal("Allow was pressed before it was ready")
	}
	if got := c.reviewReason.Text; got != tool.AllowHint {
		t.Errorf("beside a disabled Allow: got %q, want %q", got, tool.AllowHint)
	}
	tool.AllowEnabled, tool.AllowHint = true, ""
	c.Set(tool)
	for _, b := range []string{"Review…", "Deny", "Allow once"} {
		test.Tap(button(c, b))
	}
	if got := strings.Join(did, " "); got != "review deny allow" {
		t.Errorf(`did: got %q, want "review deny allow"`, got)
	}
	tool.State, tool.CanAnswer, tool.Status = CallDenied, false, "denied"
	c.Set(tool)
	if button(c, "Allow once") != nil {
		t.Error("an answered question still has buttons")
	}
}

func TestEveryStateOfAToolCardHasAWordOrAnIcon(t *testing.T) {
	for s := CallWaiting; s <= CallUnknown; s++ {
		// these have a text from the caller, and a dot
		if stateIcons[s].name == "" && s != CallWaiting && s != CallRunning {
			t.Errorf("state %d has only a colour", s)
		}
	}
}

func TestNarrowCardsAreNotWiderThanTheirWindow(t *testing.T) {
	c := NewCallCard()
	widgettest.Window(t, c, 432, 200)
	c.Set(Call{Verb: "Bash", Machine: "a-machine-with-a-very-long-name", Argument: strings.Repeat("long ", 100), State: CallRunning, Time: "running 1 h 12 min", CanStop: true, Output: strings.Repeat("x", 1000)})
	c.SetOpen(true)
	if w := c.MinSize().Width; w > 432 {
		t.Errorf("the card wants %v", w)
	}
}

func TestPicturesOfAMessageStandInAsManyLinesAsTheyNeed(t *testing.T) {
	m := NewMessageView()
	widgettest.Window(t, m, 480, 600)
	var list []fyne.Resource
	for range 5 {
		list = append(list, style.Icon("image"))
	}
	m.Set(Message{Sender: "You", Text: "Five of them", Plain: true, Images: list})
	widgets.Fit(m, 480)
	for i, o := range m.images.Objects {
		if end := o.Position().X + o.Size().Width; end > 480 {
			t.Errorf("picture %d ends at %v of 480, want at most 480", i, end)
		}
	}
	if three := 3 * m.images.Objects[0].Size().Height; m.Size().Height < three {
		t.Errorf("the message is %v high, its pictures need %v", m.Size().Height, three)
	}
}

func TestToolCardMarkup(t *testing.T) {
	widgettest.Window(t, widgets.NewRect("", "", 0), 10, 10) // the theme must be set before creating widgets
	bash := Call{Verb: "Bash", Machine: "server", Argument: "make -j4"}
	for name, tool := range map[string]func(*Call){
		"toolcard": func(c *Call) {
			*c = Call{Verb: "Edit", Machine: "server", Argument: "src/parse.c", State: CallWaiting, Status: "waiting for you", Added: 3, Removed: 1, CanAnswer: true, AllowEnabled: true}
		},
		"toolcard-running": func(c *Call) {
			c.State, c.Time, c.CanStop, c.Output = CallRunning, "running 12 s", true, "cc -O2 -c parse.c"
		},
		"toolcard-done":   func(c *Call) { c.State, c.Time, c.Output, c.Brief = CallDone, "0.2 s", "built", "exit 0" },
		"toolcard-failed": func(c *Call) { c.State, c.Status, c.Time = CallFailed, "exit 2", "3 s" },
		"toolcard-denied": func(c *Call) { c.State, c.Status = CallDenied, "denied" },
	} {
		t.Run(name, func(t *testing.T) {
			c, shows := NewCallCard(), bash
			tool(&shows)
			c.Set(shows)
			c.SetOpen(shows.Output != "")
			win := test.NewTempWindow(t, c)
			win.SetPadded(false)
			win.Resize(fyne.NewSize(500, max(90, c.MinSize().Height)))
			golden.Markup(t, name, c)
		})
	}
}

func button(o fyne.CanvasObject, text string) *widgets.Button {
	return widgettest.Find(o, func(b *widgets.Button) bool { return b.Text == text })
}
