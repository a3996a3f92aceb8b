// Package archive is the page of archived conversations: the list of a chat's conversations from
// before its resets, and a reader for each.
package archive

import (
	"context"
	"io"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/chats"
	"fairlead/app/conversation"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/export"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx   context.Context
	host  host.Env
	model Model
	key   protocol.SessionKey
	widgets.Body

	list     *widgets.ItemList
	archives []protocol.ArchiveInfo
	loaded   bool
	problem  string

	restoreButton *widgets.Button      // of the open conversation
	reader        *conversation.Reader // nil while the list is shown
	current       protocol.ArchiveInfo
	cancel        context.CancelFunc // stops following the open conversation
	now           func() time.Time
}

// New creates the page, which shows nothing before OpenAt; it lives until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := &Page{ctx: ctx, host: e, model: newModel(e.Feed, e.Chats), Body: widgets.NewBody(), now: time.Now}
	p.list = widgets.NewItemList(func(i int) { p.open(p.archives[i], "", 0) })
	bind.Every(ctx, 200*time.Millisecond, p.Tick)
	return p
}

// OpenAt implements [host.Opener]: it shows the archives of a chat.
func (p *Page) OpenAt(to host.Target) {
	at, _ := to.(host.Archive)
	p.key = at.Key
	p.draw()
	if at.Hit != nil {
		p.OpenHit(*at.Hit)
		return
	}
	p.Load()
}

// Load loads the list of conversations.
func (p *Page) Load() {
	bind.Go(p.ctx, func(ctx context.Context) ([]protocol.ArchiveInfo, error) { return p.model.List(ctx, p.key) }, p.fill)
}

func (p *Page) fill(list []protocol.ArchiveInfo, err error) {
	p.loaded, p.problem = err == nil, ""
	if err != nil {
		p.problem = err.Error()
	}
	p.archives = list
	p.list.Set(lists.Map(list, func(a protocol.ArchiveInfo) widgets.ListItem {
		return widgets.ListItem{Icon: "chat", Title: "Until " + format.When(a.CreatedAt, p.now()), Text: ArchiveLine(a)}
	}))
	if p.reader == nil {
		p.draw()
	}
}

func (p *Page) draw() {
	var body fyne.CanvasObject
	back := widgets.NewQuietButton("Back to chat", "back", p.openChat)
	switch {
	case p.problem != "":
		body = widgets.NewLoadError("The earlier conversations could not be loaded.", p.problem, p.Load)
	case !p.loaded:
		body = widgets.NewLoading()
	case len(p.archives) == 0:
		body = widgets.NewEmptyPage("clock", "No earlier conversations",
			"When you clear a chat or edit a message, the earlier messages are archived here.", widgets.NewButton("Back to chat", "back", p.openChat))
		back.Hide()
	default:
		name := widgets.NewText(p.host.Chats.Title(p.key), style.ColorMuted, "text")
		name.Ellipsis = true
		body = widgets.Border(widgets.Inset(0, 0, style.Inside, 0, name), nil, nil, nil, p.list)
	}
	p.Put(widgets.NewPage("Earlier conversations", body, back))
}

func (p *Page) openChat() { p.host.Open(host.Chat{Key: p.key}) }

// OpenHit shows an archived message that a search found.
func (p *Page) OpenHit(h protocol.SearchHit) {
	bind.Go(p.ctx, func(ctx context.Context) (protocol.ArchiveInfo, error) { return p.model.Find(ctx, h) }, func(a protocol.ArchiveInfo, err error) {
		if err != nil {
			p.fill(nil, err)
			return
		}
		p.open(a, h.MessageID, h.Seq)
	})
}

// open shows one conversation, at a message unless that is empty.
func (p *Page) open(a protocol.ArchiveInfo, id protocol.MessageID, seq int64) {
	p.close()
	ctx, cancel := context.WithCancel(p.ctx)
	p.cancel = cancel
	c := p.model.Open(p.key, a.ID)
	p.showReader(a, c)
	bind.Watch(ctx, c.Value, p.show)
	if id == "" {
		return
	}
	p.reader.View().Reveal(id, "")
	bind.Run(ctx, func(ctx context.Context) error { return c.Reach(ctx, seq) }, func(err error) {
		p.show(c.Value.Get())
		if p.reader.View().PendingReveal() != "" {
			p.host.Say("The message is no longer in the archive.")
		}
	})
}

func (p *Page) showReader(a protocol.ArchiveInfo, c *chats.History) {
	p.current = a
	p.reader = conversation.NewReader(p.ctx, p.host)
	p.reader.View().Open(c)
	back := widgets.NewQuietButton("Earlier conversations", "back", p.back)
	var save *widgets.Button
	save = widgets.NewButton("Export", "export", func() { widgets.ShowMenu(save, conversation.ExportMenu(p.export)) })
	p.restoreButton = widgets.NewButton("Restore", "undo", func() { p.restoreWithUndo(a) })
	replaces := "the current conversation, which is"
	if a.Kind == protocol.ArchiveEdit {
		replaces = "the messages since the edit, which are"
	}
	text := widgets.NewParagraph("Archived on "+time.UnixMilli(a.CreatedAt).Format("Monday, 2 January 2006, 15:04")+" · "+ArchiveLine(a)+
		". Restoring it replaces "+replaces+" archived here.", style.ColorText, "text")
	banner := container.NewStack(widgets.NewRect(style.ColorSelected, "", style.Corner),
		widgets.Inset(style.Inside, 12, style.Inside, 12, widgets.WithIcon("text", 2, widget.NewIcon(style.IconIn("clock", style.ColorAccent)), text)))
	head := widgets.Col(style.Inside, widgets.Flow(style.Inside, back, p.restoreButton, save), banner)
	p.Put(widgets.Border(widgets.Inset(style.Inside, style.Group, style.Inside, style.Group, head), nil, nil, nil, p.reader))
	p.reader.Tick(p.now())
	p.show(c.Value.Get())
}

func (p *Page) show(v chats.Messages) {
	if p.reader != nil {
		p.reader.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: p.key}, Messages: v.List, More: v.More, Loading: v.Loading, Problem: v.Problem})
	}
}

// Tick passes the time, for the loading indicator and the end of highlighting.
func (p *Page) Tick(now time.Time) {
	if p.reader != nil {
		p.reader.Tick(now)
	}
}

func (p *Page) close() {
	if p.cancel != nil {
		p.cancel()
	}
	p.reader, p.cancel = nil, nil
}

// Back returns from one conversation to the list, or from the list to the chat. It reports true.
func (p *Page) Back() bool {
	if p.reader != nil {
		p.back()
	} else {
		p.openChat()
	}
	return true
}

// back returns to the list and loads it if OpenHit skipped that.
func (p *Page) back() {
	p.close()
	if !p.loaded {
		p.Load()
	}
	p.draw()
}

func (p *Page) export(f export.Format) {
	a := p.current
	p.host.Open(host.SaveFile{Name: f.FileName(p.model.Title(p.key, a)), Title: "Export chat", Failed: "The chat could not be saved", Write: func(ctx context.Context, w io.Writer) (string, error) {
		return "", p.model.Export(ctx, p.key, a, f, w)
	}})
}

// undoFor is how long the window offers to undo; the page can do it later, too.
const undoFor = 15 * time.Second

func (p *Page) restoreWithUndo(a protocol.ArchiveInfo) {
	button := p.restoreButton
	button.Disable()
	p.restore(a.ID, func(before protocol.ArchiveID, err error) {
		if err != nil {
			button.Enable()
			return
		}
		var undo func()
		if before != "" {
			undo = func() { p.restore(before, func(protocol.ArchiveID, error) {}) }
		}
		if p.ctx.Err() == nil { // the page is still open
			p.openChat()
		}
		p.host.Undo("The earlier conversation was restored.", undo, time.Now().Add(undoFor))
	})
}

func (p *Page) restore(id protocol.ArchiveID, done func(before protocol.ArchiveID, err error)) {
	bind.Go(context.WithoutCancel(p.ctx), func(ctx context.Context) (protocol.ArchiveID, error) {
		return p.model.Restore(ctx, p.key, id)
	}, func(before protocol.ArchiveID, err error) {
		if err != nil {
			p.host.Say("The conversation was not restored: " + err.Error())
		}
		done(before, err)
	})
}
