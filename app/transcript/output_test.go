package transcript

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"fairlead/app/widgets/widgettest"
)

// numberedLines returns numbered lines.
func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestLongOutputIsFoldedToItsBeginningAndEnd(t *testing.T) {
	c := NewCallCard()
	widgettest.Window(t, c, 600, 700)
	tool := Call{Verb: "Bash", Argument: "seq", State: CallDone, Output: numberedLines(1234)}
	c.Set(tool)
	c.SetOpen(true)
	var asked []bool
	c.OnShowAll = func(all bool) { asked = append(asked, all); c.SetOutput(all, false) }
	text := c.output.panel.View().Selectable().PlainText()
	if !strings.HasPrefix(text, "line 1\n") || !strings.HasSuffix(text, "line 1234") || !strings.Contains(text, "⋯ 1,217 lines not shown") {
		t.Fatalf("folded:\n%s\nwant one with \"⋯ 1,217 lines not shown\"", text)
	}
	if got := c.output.size.Text; got != "1,234 lines" {
		t.Errorf(`the size is %q, want "1,234 lines"`, got)
	}
	test.Tap(button(c, "Show all"))
	if text = c.output.panel.View().Selectable().PlainText(); strings.Count(text, "\n") != 1233 {
		t.Errorf("unfolded it has %d lines", strings.Count(text, "\n")+1)
	}
	test.Tap(button(c, "Show less"))
	if text = c.output.panel.View().Selectable().PlainText(); strings.Count(text, "\n") != foldHead+foldTail || fmt.Sprint(asked) != "[true false]" {
		t.Errorf("folded again it has %d lines, asked %v", strings.Count(text, "\n")+1, asked)
	}
	if c.CopyText() != tool.Output {
		t.Error("Copy leaves something out")
	}
	c.Set(Call{Verb: "Bash", State: CallDone, Output: "\x1b[31mred\x1b[0m"})
	if got := c.CopyText(); got != "red" {
		t.Errorf(`Copy returns: got %q, want "red"`, got)
	}
	tool.State = CallRunning
	c.Set(tool)
	if text = c.output.panel.View().Selectable().PlainText(); strings.Count(text, "\n") != 1233 {
		t.Error("the output of a running command is folded")
	}
}

func TestShortOutputHasNothingToUnfold(t *testing.T) {
	c := NewCallCard()
	widgettest.Window(t, c, 600, 700)
	c.Set(Call{Verb: "Bash", Argument: "seq", State: CallDone, Output: numberedLines(foldOver), Brief: "exit 0"})
	c.SetOpen(true)
	if button(c, "Show all") != nil || c.output.size.Text != "20 lines · exit 0" {
		t.Errorf(`Show all is offered for %q; want "20 lines · exit 0"`, c.output.size.Text)
	}
	c.Set(Call{Verb: "Bash", Argument: "seq", State: CallDone, Output: "a part", CanLoad: true, Size: "2 MB"})
	if button(c, "Show all") == nil || c.output.size.Text != "2 MB" {
		t.Errorf("what can be loaded is not offered for %q", c.output.size.Text)
	}
}

func TestNotesOfACallWrap(t *testing.T) {
	c := NewCallCard()
	widgettest.Window(t, c, 432, 700)
	tool := Call{Verb: "Bash", Argument: "make", State: CallUnknown, Output: "tick 1", Note: "Short."}
	c.Set(tool)
	c.SetOpen(true)
	low := c.box.MinSize().Height
	tool.Note = strings.Repeat("The connection was lost while this ran. ", 5)
	c.Set(tool)
	if high := c.box.MinSize().Height; high <= low || c.MinSize().Width > 432 {
		t.Errorf("%v high with a short note, %v with a long one; %v wide", low, high, c.MinSize().Width)
	}
}
