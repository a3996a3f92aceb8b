package inbox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/code"
	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

// twoParts is an approval for a change in two places.
func twoParts(id string) protocol.Question {
	q := ask(id, "")
	q.Tool, q.Effect = "Write", protocol.EffectWrite
	q.Args = json.RawMessage(`{"path":"/srv/parser/main.go","content":"package main\n\nfunc b() int { return 2 }\n\n\n\n\n\n\n// new\n"}`)
	q.Preview = &protocol.CallPreview{
		Folder: "/srv/parser", Path: "/srv/parser/main.go", Added: 2, Removed: 2,
		Diff: "--- main.go\n+++ main.go\n@@ -1,3 +1,3 @@\n package main\n \n-func a() int { return 1 }\n+func b() int { return 2 }\n@@ -9,2 +9,2 @@\n \n-// old\n+// new\n",
	}
	return q
}

func TestPartsOfAChangeAreAllowedSeparately(t *testing.T) {
	b := newBench(t, twoParts("q"))
	golden.Markup(t, "parts", b.Box)
	b.wait(2 * time.Second)
	b.toggle(1)
	if b.allowText != "Allow 1 of 2 changes" || b.frame.allow.More.Visible() {
		t.Errorf(`the button says %q; want "Allow 1 of 2 changes"`, b.allowText)
	}
	if got := b.options.changeText.text(); got != "1 line added, 1 removed" {
		t.Errorf(`the change is said to be %q, want "1 line added, 1 removed"`, got)
	}
	test.Tap(b.frame.allow.Main) // its effect changed
	b.want()
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-parts")
	test.Tap(b.frame.allow.Main)
	b.want("q allow once")
	var in struct{ Content string }
	json.Unmarshal(b.replies[0].Args, &in)
	if !strings.Contains(in.Content, "func b") || !strings.Contains(in.Content, "// old") {
		t.Errorf(`writes: got %q; want "func b" in Content and "// old" in Content`, in.Content)
	}
}

func TestChangeWithoutAPartCannotBeAllowed(t *testing.T) {
	b := newBench(t, twoParts("q"))
	b.toggle(0)
	b.toggle(1)
	b.wait(5 * time.Second)
	if !b.frame.allow.Main.Disabled() {
		t.Error("Allow can be pressed")
	}
	b.keys.allow(nil)
	b.want()
}

func TestWideDialogShowsTheChangeSideBySide(t *testing.T) {
	b := newBench(t, twoParts("q"))
	b.window.Resize(fyne.NewSize(WideWidth, 600))
	pagetest.Shot(b.t, b.window, "approve-wide")
	golden.Markup(t, "wide", b.Box)
	b.window.Canvas().Refresh(b.Box)
	room := func() (one, both bool) {
		var walk func(o fyne.CanvasObject)
		walk = func(o fyne.CanvasObject) {
			c, ok := o.(*fyne.Container)
			if !ok {
				return
			}
			if len(c.Objects) == 2 {
				if _, is := c.Objects[0].(*code.Panel); is && c.Objects[0].Visible() != c.Objects[1].Visible() {
					one, both = c.Objects[0].Visible(), c.Objects[1].Visible()
				}
			}
			for _, x := range c.Objects {
				walk(x)
			}
		}
		walk(b.frame.body)
		return one, both
	}
	if one, both := room(); one || !both {
		t.Errorf("wide: under each other %v, side by side %v; want false and true", one, both)
	}
	b.window.Resize(fyne.NewSize(Width, 600))
	if one, both := room(); !one || both {
		t.Errorf("narrow: under each other %v, side by side %v; want true and false", one, both)
	}
}

// TestTheWheelScrollsOverAChange scrolls with the pointer over a hunk: the content below must come
// into view, since Allow requires that.
func TestTheWheelScrollsOverAChange(t *testing.T) {
	q := twoParts("1")
	q.Preview.Diff = "@@ -1,40 +1,40 @@\n-old\n+new\n" + strings.Repeat(" line\n", 39) + "@@ -90 +90 @@\n-old\n+new\n"
	b := newBench(t, q)
	b.window.Resize(fyne.NewSize(520, 400))
	var panels []*code.Panel
	find(b.frame.body, func(o fyne.CanvasObject) {
		if p, ok := o.(*code.Panel); ok {
			panels = append(panels, p)
		}
	})
	if len(panels) != 6 {
		t.Fatalf("got %d panels, want 6", len(panels))
	}
	for _, p := range panels {
		var inner fyne.Scrollable
		for _, o := range test.WidgetRenderer(p).Objects() {
			find(o, func(o fyne.CanvasObject) {
				if s, ok := o.(fyne.Scrollable); ok {
					inner = s
				}
			})
		}
		if inner == nil {
			t.Fatal("nothing takes the wheel")
		}
		before := b.frame.scroll.Offset.Y
		inner.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -20)})
		if b.frame.scroll.Offset.Y <= before {
			t.Error("the wheel stops at a panel")
		}
	}
}
