package approve

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/state"
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
	t       *testing.T
	now     time.Time
	window  fyne.Window
	answers []string
	told    []protocol.QuestionID
	replies []state.Reply
	tried   []string
	found   protocol.RuleTryResult
	copied  string
}

func newBench(t *testing.T, open ...protocol.Question) *bench {
	a := test.NewTempApp(t)
	a.Settings().SetTheme(style.New(style.Light, 1))
	b := &bench{t: t, now: time.Unix(1000, 0)}
	b.window = test.NewTempWindow(t, nil)
	b.window.SetPadded(false)
	b.Dialog = New(Handlers{
		Answer: func(list []protocol.Question, r state.Reply) {
			b.replies = append(b.replies, r)
			for _, q := range list {
				b.answers = append(b.answers, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", q.ID, r.Decision, r.Scope, r.Reason)))
			}
		},
		Resize: func(size fyne.Size) { b.window.Resize(b.rounded(size)) },
		Title:  b.window.SetTitle,
		Snooze: func(list ...protocol.Question) { b.answers = append(b.answers, string(list[0].ID)+" later") },
		Copy:   func(text string) { b.copied = text },
		Try: func(policy json.RawMessage, done func(protocol.RuleTryResult, error)) {
			b.tried = append(b.tried, string(policy))
			done(b.found, nil)
		},
		Shown: func(id protocol.QuestionID) { b.told = append(b.told, id) },
	}, new(style.Machines), b.window.Canvas())
	b.arming.now = func() time.Time { return b.now }
	b.window.SetContent(b.Dialog)
	for i := range open {
		open[i].ExpiresAt = b.now.Add(5 * time.Minute).UnixMilli()
	}
	b.Update(open, nil)
	b.window.Resize(b.rounded(b.Best()))
	b.OnScreen(true)
	return b
}

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
