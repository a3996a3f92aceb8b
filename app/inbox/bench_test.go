package inbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

func ask(id, command string) protocol.Question {
	args, _ := json.Marshal(map[string]string{"command": command})
	return protocol.Question{
		ID: protocol.QuestionID(id), Hash: "hash of " + command, Kind: protocol.AskCall, State: protocol.QuestionPending, Node: "server",
		Host: &protocol.HostInfo{OS: "Ubuntu", Address: "192.168.1.20"}, Tool: "Bash", Args: args, Effect: protocol.EffectExec,
		AskedBy: protocol.AskedBy{Kind: "chat", Name: "Refactor the parser", Model: "gpt-x"}, Why: "No rule allows this command",
		Sandbox: "files: /srv/parser only · network: off · enforced", Preview: &protocol.CallPreview{Folder: "/srv/parser"},
		Choices: []string{protocol.ScopeOnce, protocol.ScopeSession}, SessionRule: "this exact command on server",
	}
}

type bench struct {
	*Dialog
	pagetest.Host
	t       *testing.T
	now     time.Time
	window  fyne.Window
	answers []string
	told    []protocol.QuestionID
	replies []protocol.QuestionAnswerParams
	tried   []string
	found   protocol.RuleTryResult
}

func newBench(t *testing.T, open ...protocol.Question) *bench {
	a := test.NewTempApp(t)
	a.Settings().SetTheme(style.New(style.Light, 1))
	b := &bench{t: t, now: time.Unix(1000, 0)}
	b.window = test.NewTempWindow(t, nil)
	b.window.SetPadded(false)
	b.Dialog = NewDialog(t.Context(), host.Env{Host: &b.Host, Machines: new(style.Machines)}, b.window)
	b.Dialog.answerer = b
	b.resize = func(size fyne.Size) { b.window.Resize(b.rounded(size)) }
	b.try = func(policy json.RawMessage, done func(protocol.RuleTryResult, error)) {
		b.tried = append(b.tried, string(policy))
		done(b.found, nil)
	}
	b.arming.now = func() time.Time { return b.now }
	b.window.SetContent(b.Box)
	for i := range open {
		open[i].ExpiresAt = b.now.Add(5 * time.Minute).UnixMilli()
	}
	b.Update(open, feed.View{})
	b.window.Resize(b.rounded(b.Best()))
	b.OnScreen(true)
	return b
}

// Answer implements [answerer].
func (b *bench) Answer(list []protocol.Question, p protocol.QuestionAnswerParams) {
	b.replies = append(b.replies, p)
	for _, q := range list {
		b.answers = append(b.answers, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", q.ID, p.Decision, p.Scope, p.Reason)))
	}
}

// Snooze implements [answerer].
func (b *bench) Snooze(list ...protocol.Question) {
	b.answers = append(b.answers, string(list[0].ID)+" later")
}

// Unsnooze implements [answerer].
func (b *bench) Unsnooze(...protocol.Question) {}

// MarkShown implements [answerer].
func (b *bench) MarkShown(id protocol.QuestionID, _ string) { b.told = append(b.told, id) }

// rounded returns a size in whole pixels, as window managers give it.
func (b *bench) rounded(s fyne.Size) fyne.Size {
	return fyne.NewSize(float32(int(s.Width)), float32(int(s.Height)))
}

// wait lets time pass with the window's ticks.
func (b *bench) wait(d time.Duration) {
	for end := b.now.Add(d); b.now.Before(end); {
		b.now = b.now.Add(100 * time.Millisecond)
		b.Tick(b.now)
	}
}

func (b *bench) want(answers ...string) {
	b.t.Helper()
	if got, want := strings.Join(b.answers, ", "), strings.Join(answers, ", "); got != want {
		b.t.Errorf("answers: %q, want %q", got, want)
	}
}

func (b *bench) press(name fyne.KeyName) {
	if f := b.window.Canvas().Focused(); f != nil {
		f.TypedKey(&fyne.KeyEvent{Name: name})
		if name == fyne.KeySpace {
			f.TypedRune(' ')
		}
	}
}
