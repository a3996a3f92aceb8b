package chat

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/look"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Pane shows one conversation. It belongs to the GUI thread.
type Pane struct {
	widget.BaseWidget
	h        Handlers
	machines *look.Machines
	builder  *builder
	state    State
	given    bool
	reader   bool // nothing can be written
	now      time.Time

	header     *header
	find       *finder
	transcript *widgets.Transcript
	composer   *composer
	empty      fyne.CanvasObject
	middle     *fyne.Container
	top        *widgets.Ground // grounds, and the line below the header
	bottom     *widgets.Ground
	line       fyne.CanvasObject
	trouble    *widgets.ErrorBox
	waiting    *widgets.Text
	since      time.Time          // when loading began
	wanted     protocol.MessageID // to be shown when it is there
	marked     time.Time          // when a row was marked; zero while none is

	open   map[string]bool // folds and cards that the reader opened or closed
	raw    map[string]bool // rows shown as they were written
	images map[string]fyne.Resource
}

// New makes a pane without a conversation; [Pane.Update] gives it one. machines are shared by all windows.
func New(h Handlers, machines *look.Machines) *Pane {
	p := &Pane{h: h, machines: machines, builder: newBuilder(machines), now: time.Now(), open: map[string]bool{}, raw: map[string]bool{}, images: map[string]fyne.Resource{}}
	p.transcript = widgets.NewTranscript(p.row)
	p.transcript.Width = columnWidth
	p.transcript.OnTop = func() {
		if p.state.More && p.h.Older != nil {
			p.h.Older()
		}
	}
	p.top, p.bottom, p.line = widgets.NewGround("background", "", 0), widgets.NewGround("background", "", 0), widgets.HLine()
	p.transcript.Words = func(it widgets.Item) string {
		d, _ := it.Data.(messageData)
		return d.text
	}
	p.transcript.OnType = func(r rune) {
		p.FocusComposer()
		p.composer.entry.TypedRune(r)
	}
	p.transcript.OnPaste = func() {
		p.FocusComposer()
		p.composer.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: fyne.CurrentApp().Clipboard()})
	}
	p.transcript.OnLeave = p.FocusComposer
	p.header, p.find = newHeader(p), newFinder(p)
	p.composer = newComposer(p)
	p.empty = p.newEmpty()
	p.trouble = widgets.NewErrorBox(widgets.Problem{}, func() { p.act(actReload, "") })
	p.waiting = widgets.NewText("Loading…", look.ColorMuted, "text")
	p.waiting.Align = fyne.TextAlignCenter
	p.middle = container.New(middleLayout{}, p.transcript, p.empty, p.trouble, p.waiting)
	p.ExtendBaseWidget(p)
	p.show()
	return p
}

// NewReader makes a pane for a conversation that goes on no more: without the line above it and the field to write in.
func NewReader(h Handlers, machines *look.Machines) *Pane {
	p := New(h, machines)
	p.reader = true
	p.middle.Remove(p.empty)
	p.empty = widgets.NewEmptyState("chat", "Nothing was said", "")
	p.middle.Add(p.empty)
	for _, o := range []fyne.CanvasObject{p.header.box, p.composer.box, p.top, p.bottom, p.line, p.empty} {
		o.Hide()
	}
	return p
}

// Update shows a state. For another conversation than before, what the reader opened, chose and typed is forgotten.
func (p *Pane) Update(s State) {
	if p.given && s.Session.SessionKey != p.state.Session.SessionKey {
		p.builder = newBuilder(p.machines)
		clear(p.open)
		clear(p.raw)
		clear(p.images)
		p.composer.images, p.composer.node = nil, ""
		p.composer.entry.history, p.composer.entry.at = nil, 0
		p.composer.entry.SetText("")
		p.composer.showThumbs()
		p.wanted = ""
		p.unmark()
		p.transcript.Unmark()
		p.find.close()
		p.transcript.SetItems(nil)
		p.transcript.ScrollToEnd()
	}
	if s.Loading && (!p.given || !p.state.Loading) {
		p.since = p.now
	}
	p.state, p.given = s, true
	p.show()
}

// Tick tells the time, once a second: durations of what runs go on, a question's Allow becomes ready.
func (p *Pane) Tick(now time.Time) {
	p.now = now
	if !p.marked.IsZero() && now.Sub(p.marked) >= markTime {
		p.unmark()
	}
	if len(p.state.Runs) > 0 || len(p.state.Calls) > 0 || len(p.state.Approvals) > 0 || p.state.Loading {
		p.show()
	}
}

func (p *Pane) show() {
	ids := make([]string, len(p.state.Nodes))
	for i, n := range p.state.Nodes {
		ids[i] = string(n.ID)
	}
	if len(ids) > 0 {
		p.machines.Know(ids)
	}
	p.header.show(p.state)
	p.composer.show(p.state)
	items := p.builder.build(p.state, p.now)
	p.transcript.SetItems(items)
	if p.find.box.Visible() {
		p.find.look(false)
	}
	p.reveal()

	trouble := p.state.Problem != "" && len(items) == 0
	loading := p.state.Loading && len(items) == 0 && !trouble
	setVisible(p.transcript, len(items) > 0)
	setVisible(p.empty, p.given && len(items) == 0 && !trouble && !loading)
	setVisible(p.trouble, trouble)
	setVisible(p.waiting, loading && p.now.Sub(p.since) >= 300*time.Millisecond)
	if trouble {
		p.trouble.Set(widgets.Problem{What: sentence(p.state.Problem), Button: "Try again"})
	}
	p.relayout()
}

// AddFiles takes files that were dropped or chosen: pictures go with the next message, of others the path is written.
func (p *Pane) AddFiles(paths []string) {
	for _, path := range paths {
		p.composer.addPath(path)
	}
	p.FocusComposer()
}

// Node is the machine that the chat is about, empty when there is none.
func (p *Pane) Node() protocol.NodeID {
	id, _ := p.composer.nodeName(p.state)
	return protocol.NodeID(id)
}

// Composer is the field to write in, for a window that gives it the keyboard before it is shown the first time.
func (p *Pane) Composer() fyne.Focusable { return p.composer.entry }

// FocusComposer gives the keyboard to the composer, in a window that was drawn already.
func (p *Pane) FocusComposer() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		c.Focus(p.composer.entry)
	}
}

// Draft is what is typed and not sent.
func (p *Pane) Draft() string { return p.composer.entry.Text }

// SetDraft replaces what is typed.
func (p *Pane) SetDraft(text string) { p.composer.entry.SetText(text) }

// Attachments are the pictures that go with what is typed.
func (p *Pane) Attachments() []protocol.Attachment { return slices.Clone(p.composer.images) }

// SetAttachments replaces them.
func (p *Pane) SetAttachments(list []protocol.Attachment) {
	p.composer.images = slices.Clone(list)
	p.composer.showThumbs()
}

// Rename lets the title be changed in the header.
func (p *Pane) Rename() { p.header.Rename() }

// SetLeading puts an object before the title, such as the button of a drawer; nil takes it away.
func (p *Pane) SetLeading(o fyne.CanvasObject) {
	p.header.left.Objects = nil
	if o != nil {
		p.header.left.Objects = []fyne.CanvasObject{o}
	}
	setVisible(p.header.left, o != nil)
	p.relayout()
}

// markTime is how long a message that was looked for stays marked.
const markTime = 3 * time.Second

// Reveal scrolls to a message of the conversation and marks it for a moment: now, or as soon as it is loaded.
func (p *Pane) Reveal(id protocol.MessageID) {
	p.wanted = id
	p.reveal()
}

// Wanted is the message that is still to be shown, empty when there is none.
func (p *Pane) Wanted() protocol.MessageID { return p.wanted }

func (p *Pane) reveal() {
	key, ok := p.builder.rows[p.wanted]
	if p.wanted == "" || !ok || !p.transcript.ScrollToKey(key) {
		return
	}
	p.wanted, p.marked = "", p.now
	p.transcript.Mark(key)
}

func (p *Pane) unmark() {
	p.marked = time.Time{}
	p.transcript.Mark("")
}

// ScrollToEnd goes to the newest message.
func (p *Pane) ScrollToEnd() { p.transcript.ScrollToEnd() }

// Stop stops the run in progress; it reports whether there was one.
func (p *Pane) Stop() bool { return p.composer.entry.onStop() }

func (p *Pane) running() bool {
	for _, r := range p.state.Runs {
		if !r.Over() && r.State != protocol.RunQueued {
			return true
		}
	}
	return false
}

func (p *Pane) copyText(s string) { fyne.CurrentApp().Clipboard().SetContent(s) }

// act does what a notice's or problem's button says.
func (p *Pane) act(what string, run protocol.RunID) {
	var f func()
	switch what {
	case actSettings:
		f = p.h.Settings
	case actReset:
		f = p.h.Reset
	case actReload:
		f = p.h.Reload
	case actResume:
		f = p.h.Resume
	case actRetry:
		p.retry(run)
	}
	if f != nil {
		f()
	}
}

// retry sends the message of a run again.
func (p *Pane) retry(run protocol.RunID) {
	r := protocol.RunInfo{RunID: run, SessionKey: p.state.Session.SessionKey}
	for _, x := range p.state.Runs {
		if x.RunID == run {
			r = x
		}
	}
	for i := len(p.state.Messages) - 1; i >= 0 && r.Message == ""; i-- {
		if m := p.state.Messages[i]; m.Role == protocol.RoleUser && (m.RunID == run || m.RunID == "") {
			if r.Message = m.Content.Text(); m.Origin == protocol.OriginEvent {
				c, _ := m.Completion()
				r.Message = c.Words(string(c.NodeID))
			}
		}
	}
	if p.h.Retry != nil && r.Message != "" {
		p.h.Retry(r)
	}
}

// newEmpty is what an empty chat offers: each chip does real work at once.
func (p *Pane) newEmpty() fyne.CanvasObject {
	chip := func(text, icon string) fyne.CanvasObject {
		return widgets.NewChip(text, icon, func() {
			if p.h.Send != nil {
				p.composer.entry.remember(text)
				p.h.Send(text, nil, p.composer.node)
			}
		})
	}
	return widgets.NewEmptyState("", "What shall we do?", "Ask in plain words. Nothing with an effect happens before you have seen it and allowed it. Begin with ! to run a command yourself.",
		chip("run ls -la", "terminal"), chip("list the Go files", "list"), chip("read README.md", "file"), chip("what can you do", "question"))
}
