package inbox

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/pagetest"
)

func TestCommandIsChangedBeforeItRuns(t *testing.T) {
	b := newBench(t, ask("q", "rm -rf build"))
	b.wait(2 * time.Second)
	test.Tap(b.frame.edit)
	pagetest.Shot(b.t, b.window, "approve-edit")
	golden.Markup(t, "edit", b.Box)
	b.step.(*editStep).entry.SetText("rm -r build/cache")
	b.step.(*editStep).entry.TypedRune('x')
	b.wait(200 * time.Millisecond)
	test.Tap(b.frame.confirm) // a key was pressed just before
	b.want()
	b.press(fyne.KeyReturn) // a new line, no answer
	b.want()
	b.step.(*editStep).entry.SetText("rm -r build/cache")
	b.wait(2 * time.Second)
	test.Tap(b.frame.confirm)
	b.want("q allow once")
	if got := string(b.replies[0].Args); got != `{"command":"rm -r build/cache"}` {
		t.Errorf("runs: got %s, want `{\"command\":\"rm -r build/cache\"}`", got)
	}
}

func TestEmptyCommandDoesNotRun(t *testing.T) {
	b := newBench(t, ask("q", "ls"))
	b.wait(time.Second)
	test.Tap(b.frame.edit)
	b.step.(*editStep).entry.SetText("  ")
	b.wait(2 * time.Second)
	test.Tap(b.frame.confirm)
	b.want()
	if !strings.Contains(b.frame.notice.Text, "the command is empty") {
		t.Errorf(`says: got %q, want "the command is empty" in frame.notice.Text`, b.frame.notice.Text)
	}
}
