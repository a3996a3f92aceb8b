package transcript

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
)

// cardWithApproval shows an expanded card with an approval in a window.
func cardWithApproval(t *testing.T, width, scale float32, tool Call) (*CallCard, fyne.Window) {
	c := NewCallCard()
	w := widgettest.Window(t, widgets.Col(0, c), width, 900)
	test.ApplyTheme(t, style.New(style.Light, scale))
	tool.Verb, tool.Machine, tool.State, tool.Status, tool.CanAnswer, tool.AllowEnabled = "Bash", "server", CallWaiting, "waiting for you", true, true
	c.Set(tool)
	c.SetOpen(true)
	widgets.Relayout(w.Content().(*fyne.Container))
	return c, w
}

func command(letters int) string {
	return strings.Repeat("make -j4 all && ", letters/16) + "rm -r /srv/app"
}

func TestAQuestionIsAllowedOnlyFromACardThatShowsAllOfIt(t *testing.T) {
	for _, size := range []struct{ width, scale float32 }{{860, 1}, {432, 1}, {432, 1.5}} {
		for letters, whole := range map[int]bool{30: true, 58: true, 250: true, 4000: false} {
			t.Run(fmt.Sprint(letters, " at ", size), func(t *testing.T) {
				text := command(letters)
				tool := Call{Argument: text}
				if len(text) >= 60 {
					tool.Input = text
				}
				c, _ := cardWithApproval(t, size.width, size.scale, tool)
				if got := button(c, "Allow once") != nil; got != whole {
					t.Errorf("%d letters at %v: Allow is offered: %v, want %v", letters, size, got, whole)
				}
				if button(c, "Review…") == nil || button(c, "Deny") == nil {
					t.Errorf("%d letters at %v: there is no way to review or deny", letters, size)
				}
				allowed := false
				c.OnAllow = func() { allowed = true }
				c.allow.Tapped(nil)
				if allowed != whole {
					t.Errorf("%d letters at %v: allowed: %v, want %v", letters, size, allowed, whole)
				}
				if !c.input.Visible() {
					if c.argument.Cut() {
						t.Errorf("%d letters at %v: the line is cut off and nothing below it says the rest", letters, size)
					}
					return
				}
				_, view := c.input.View().VisibleArea()
				if full := c.input.View().MinSize(); c.input.View().Selectable().PlainText() != text || full.Width > view.Width || whole && full.Height > view.Height+0.5 {
					t.Errorf("%d letters at %v: the panel shows %v of %v", letters, size, view, full)
				}
				if w := c.MinSize().Width; w > size.width {
					t.Errorf("%d letters at %v: the card wants %v", letters, size, w)
				}
			})
		}
	}
}

func TestFoldingOrNarrowingACardDisablesAllow(t *testing.T) {
	text := command(400)
	c, w := cardWithApproval(t, 860, 1, Call{Argument: text, Input: text})
	var told []bool
	c.OnShowsAll = func(whole bool) {
		if n := len(told); n == 0 || told[n-1] != whole {
			told = append(told, whole)
		}
	}
	offered := func() bool { return button(c, "Allow once") != nil && !c.allow.Disabled() }
	c.SetOpen(false)
	if offered() {
		t.Error("a folded card offers Allow")
	}
	c.SetOpen(true)
	if !offered() {
		t.Error("the unfolded card does not")
	}
	w.Resize(fyne.NewSize(260, 900))
	if offered() {
		t.Errorf("in a narrow window it still does")
	}
	w.Resize(fyne.NewSize(860, 900))
	if !offered() {
		t.Error("in the wide one it does not again")
	}
	if len(told) != 4 || told[0] || !told[1] || told[2] || !told[3] {
		t.Errorf("told: got %v; want length 4, not told[0], told[1], not told[2] and told[3]", told)
	}
	more := c.call
	more.NeedsReview = true
	c.Set(more)
	if offered() {
		t.Error("what must be reviewed is allowed from the card")
	}
}

func TestCutOffLineIsMarkedBelowAndFoundOnce(t *testing.T) {
	text := "go test ./app/widgets -run Card -count 20 -race -v needle"
	c, w := cardWithApproval(t, 432, 1, Call{Argument: text})
	if !c.input.Visible() || c.input.View().Selectable().PlainText() != text || !c.argument.Repeated {
		t.Errorf("below the line stands %q; want %q", c.input.View().Selectable().PlainText(), text)
	}
	w.Resize(fyne.NewSize(1400, 900))
	if c.input.Visible() || c.argument.Cut() {
		t.Error("it is said again although there is room")
	}
}

func TestReusedCardShowsTheTextOfItsCall(t *testing.T) {
	c := NewCallCard()
	widgettest.Window(t, c, 500, 300)
	text := Call{Verb: "Bash", Argument: "one …", Input: "one\ntwo"}
	for _, tool := range []Call{text, {Verb: "Edit", Argument: "a.go", Diff: "+added"}, text} {
		c.Reset(true)
		c.Set(tool)
		if want := tool.Texts()[1]; c.input.View().Selectable().PlainText() != want {
			t.Errorf("the panel says %q instead of %q", c.input.View().Selectable().PlainText(), want)
		}
	}
}

func TestLongQuestionsMatchGolden(t *testing.T) {
	for name, letters := range map[string]int{"question-wrapped": 250, "question-long": 4000} {
		t.Run(name, func(t *testing.T) {
			text := command(letters)
			c, _ := cardWithApproval(t, 432, 1, Call{Argument: text, Input: text})
			golden.Markup(t, name, c)
		})
	}
}
