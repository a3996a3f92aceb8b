package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/chats"
	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
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

// desk is a page in a window that records what is done in it.
type desk struct {
	*Pane
	page    *Page
	host    *pagetest.Now
	gateway pagetest.Gateway
	win     fyne.Window
	sent    []protocol.Attachment
	noting  sync.Mutex // held while a call is noted: calls come from several goroutines
}

func newDesk(t testing.TB, width, height float32) *desk {
	test.NewTempApp(t)
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, 1))
	d := &desk{host: &pagetest.Now{}, gateway: pagetest.Gateway{}}
	d.answer()
	f := feed.NewOf(d.gateway)
	e := host.Env{Host: d.host, Feed: f, Chats: chats.New(f), Machines: &style.Machines{}, Prefs: new(preferences.Store)}
	d.page = NewPage(t.Context(), e, nil, NewDrafts(noDrafts{}, nil, nil), false)
	d.Pane = d.page.Pane
	d.composer.files.readFile = func(path string) (protocol.Attachment, error) {
		if strings.Contains(path, "bad") {
			return protocol.Attachment{}, errors.New("it is too large")
		}
		return protocol.Attachment{Filename: path, MimeType: "image/png"}, nil
	}
	d.composer.files.readClipboard = func(context.Context) (protocol.Attachment, error) {
		return protocol.Attachment{Filename: "pasted.png", MimeType: "image/png"}, nil
	}
	d.win = pagetest.Window(t, d.Pane, width, height)
	d.Tick(noon)
	return d
}

func (d *desk) note(format string, a ...any) {
	d.noting.Lock()
	defer d.noting.Unlock()
	d.host.Did = append(d.host.Did, fmt.Sprintf(format, a...))
}

// on notes the calls of a method, and answers them.
func on[P, R any](d *desk, m protocol.Method[P, R], answer func(P) (R, error)) {
	d.gateway[m.Name] = func(p any) (any, error) { return answer(p.(P)) }
}

// answer notes the calls of the gateway.
func (d *desk) answer() {
	on(d, protocol.ChatSend, func(p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
		d.note("send %q %d @%s", p.Message, len(p.Attachments), p.Node)
		d.sent = p.Attachments
		return protocol.ChatSendResult{Status: protocol.ChatStarted}, nil
	})
	on(d, protocol.ChatResend, func(p protocol.ChatResendParams) (protocol.ChatResendResult, error) {
		text, pictures, model := "as it was", -1, "the chat's"
		if p.Message != nil {
			text, pictures, d.sent = *p.Message, len(*p.Attachments), *p.Attachments
		}
		if p.Model != nil {
			model = p.Model.ID
		}
		d.note("resend %s %q %d by %s", p.MessageID, text, pictures, model)
		return protocol.ChatResendResult{}, nil
	})
	on(d, protocol.MessageDelete, func(p protocol.MessageParams) (protocol.MessageDeleteResult, error) {
		d.note("delete %s", p.MessageID)
		return protocol.MessageDeleteResult{}, nil
	})
	on(d, protocol.SessionFork, func(p protocol.SessionForkParams) (protocol.SessionEntry, error) {
		d.note("fork %s before %v", p.MessageID, p.Before)
		return protocol.SessionEntry{SessionKey: "forked"}, nil
	})
	on(d, protocol.ChatCancel, func(p protocol.ChatCancelParams) (protocol.ChatCancelResult, error) {
		d.note("%s", strings.TrimSpace("stop "+string(p.RunID)))
		return protocol.ChatCancelResult{}, nil
	})
	on(d, protocol.SessionPatch, func(p protocol.SessionPatchParams) (protocol.OK, error) {
		if p.Label != nil {
			d.note("rename %q", *p.Label)
		}
		return protocol.OK{}, nil
	})
	on(d, protocol.MediaGet, func(p protocol.MediaGetParams) (protocol.MediaGetResult, error) {
		return protocol.MediaGetResult{Data: "of " + p.Key}, nil
	})
}

// noDrafts is a [DraftStore] that saves nothing.
type noDrafts struct{}

func (noDrafts) SaveText(protocol.SessionKey, string) {}

func (noDrafts) SavePictures(protocol.SessionKey, []protocol.Attachment) {}

// rows returns the rows of the chat.
func (d *desk) rows() *transcript.View { return d.view.Content.Objects[0].(*transcript.View) }

// messages returns the messages whose rows are visible.
func (d *desk) messages() (list []*transcript.MessageView) {
	for _, r := range widgettest.All[transcript.Row](d.rows()) {
		if m := widgettest.Find(r, func(*transcript.MessageView) bool { return true }); m != nil {
			list = append(list, m)
		}
	}
	return list
}

// actionsOf returns what can be done with a message.
func (d *desk) actionsOf(id protocol.MessageID) []conversation.Action {
	return d.requests.Actions(*d.chat.state.Stored(id))
}

func (d *desk) assert(t *testing.T, want ...string) {
	t.Helper()
	d.chat.host.Feed.Tasks.Wait()
	if got := strings.Join(d.host.Did, "; "); got != strings.Join(want, "; ") {
		t.Errorf("did %s\nwant %s", got, strings.Join(want, "; "))
	}
	d.host.Did = nil
}

// button returns a visible button; see [pagetest.VisibleButton].
func (d *desk) button(text string) *widgets.Button {
	return pagetest.VisibleButton(d.win.Content(), text)
}

func key(e *entry, name fyne.KeyName) { e.TypedKey(&fyne.KeyEvent{Name: name}) }
