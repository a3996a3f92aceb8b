package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

var noon = time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)

func at(before time.Duration) int64 { return noon.Add(-before).UnixMilli() }

func user(id, text string) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}, Timestamp: at(time.Minute)}
}

func assistant(id string, run protocol.RunID, blocks ...protocol.Block) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), RunID: run, Role: protocol.RoleAssistant, Content: blocks, Timestamp: at(time.Minute)}
}

func toolCall(id, name, args string) protocol.Block {
	return protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func result(id, call, text string, info *protocol.CallInfo) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), Role: protocol.RoleToolResult, ToolCallID: call, ToolName: "server__Bash", Content: protocol.Content{protocol.Text(text)}, Call: info}
}

// lines returns the text of rows, one line each.
func lines(items []transcript.Item) string {
	var out []string
	for _, i := range items {
		switch d := i.Data.(type) {
		case messageData:
			out = append(out, strings.TrimSpace(d.sender+": "+d.text))
		case toolData:
			words := strings.Fields(fmt.Sprint(d.card.Verb, " ", d.card.Machine, " ", d.card.Argument, " ", d.card.Status, " ", d.card.Time))
			out = append(out, "["+strings.Join(words, " ")+"]")
		case thinkingData:
			out = append(out, "("+d.title+")")
		case noticeData:
			out = append(out, "- "+d.text)
		case problemData:
			out = append(out, "! "+d.problem.Title+" <"+d.action+">")
		case dayData:
			out = append(out, "-- "+d.text)
		case queuedData:
			out = append(out, "next "+d.text)
		}
	}
	return strings.Join(out, "\n")
}

func assertLines(t *testing.T, items []transcript.Item, want ...string) {
	t.Helper()
	if got := lines(items); got != strings.Join(want, "\n") {
		t.Errorf("rows:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	seen := map[string]bool{}
	for _, i := range items {
		if seen[i.Key] {
			t.Errorf("two rows with key %s", i.Key)
		}
		seen[i.Key] = true
	}
}

// desk is a pane in a window that records its calls.
type desk struct {
	*Pane
	win  fyne.Window
	did  []string
	sent []protocol.Attachment
}

func newDesk(t testing.TB, width, height float32) *desk {
	test.NewTempApp(t)
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, 1))
	d := &desk{}
	note := func(format string, a ...any) { d.did = append(d.did, fmt.Sprintf(format, a...)) }
	d.Pane = New(Handlers{
		Send: func(text string, images []protocol.Attachment, node protocol.NodeID) {
			note("send %q %d @%s", text, len(images), node)
			d.sent = images
		},
		Resend: func(in protocol.ChatResendParams) {
			text, pictures, model := "as it was", -1, "the chat's"
			if in.Message != nil {
				text, pictures, d.sent = *in.Message, len(*in.Attachments), *in.Attachments
			}
			if in.Model != nil {
				model = in.Model.ID
			}
			note("resend %s %q %d by %s", in.MessageID, text, pictures, model)
		},
		DeleteMessage: func(id protocol.MessageID, what string) { note("delete %s %q", id, what) },
		Fork:          func(id protocol.MessageID, draft protocol.Content) { note("fork %s %q", id, draft.Text()) },
		Stop:          func() { note("stop") },
		Unqueue:       func(id protocol.RunID) { note("unqueue %s", id) },
		StopCall:      func(id protocol.CallID) { note("stop call %s", id) },
		Answer:        func(q protocol.Question, decision string) { note("%s %s %s", decision, q.ID, q.Hash) },
		Review:        func(id protocol.QuestionID) { note("review %s", id) },
		Older:         func() { note("older") },
		Rename:        func(s string) { note("rename %q", s) },
		Settings:      func() { note("settings") },
		SetModel:      func(protocol.ModelRef) {}, SetThink: func(string) {},
		Media: func(string, func([]byte, error)) {},
		ReadFile: func(path string, done func(protocol.Attachment, error)) {
			if strings.Contains(path, "bad") {
				done(protocol.Attachment{}, errors.New("it is too large"))
				return
			}
			done(protocol.Attachment{Filename: path, MimeType: "image/png"}, nil)
		},
		Pictures: func(said protocol.Content, done func([]protocol.Attachment)) {
			var list []protocol.Attachment
			for _, b := range said {
				if b.MediaKey != "" {
					list = append(list, protocol.Attachment{Filename: b.Filename, Data: "of " + b.MediaKey})
				}
			}
			done(list)
		},
		PasteImage: func(done func(protocol.Attachment, error)) {
			done(protocol.Attachment{Filename: "pasted.png", MimeType: "image/png"}, nil)
		},
	}, &style.Machines{})
	d.win = test.NewTempWindow(t, d.Pane)
	d.win.SetPadded(false)
	d.win.Resize(fyne.NewSize(width, height))
	d.Tick(noon)
	return d
}

// actionsOf returns what can be done with a message.
func (d *desk) actionsOf(id protocol.MessageID) []messageAction {
	rows := newMessageRows(d.chat, d.transcript, d.choices, d.composer, &requests{d.chat, d.transcript})
	return rows.actionsOf(messageData{id: id})
}

func (d *desk) assert(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(d.did, "; "); got != strings.Join(want, "; ") {
		t.Errorf("did %s\nwant %s", got, strings.Join(want, "; "))
	}
	d.did = nil
}

// button returns a visible button with a text, or one without a text by its icon.
func (d *desk) button(text string) *widgets.Button {
	var found *widgets.Button
	var visit func(o fyne.CanvasObject)
	visit = func(o fyne.CanvasObject) {
		if !o.Visible() {
			return
		}
		switch o := o.(type) {
		case *widgets.Button:
			if o.Text == text || o.Text == "" && o.Icon == text {
				found = o
			}
		case *fyne.Container:
			for _, c := range o.Objects {
				visit(c)
			}
		}
		if w, ok := o.(fyne.Widget); ok {
			for _, c := range test.WidgetRenderer(w).Objects() {
				visit(c)
			}
		}
	}
	visit(d.win.Content())
	return found
}

func key(e *entry, name fyne.KeyName) { e.TypedKey(&fyne.KeyEvent{Name: name}) }
