package chat

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Pane shows one conversation. It belongs to the GUI thread.
type Pane struct {
	widget.BaseWidget
	h        Handlers
	machines *style.Machines
	builder  *builder
	state    State
	given    bool
	reader   bool // read-only
	now      time.Time

	header     *header
	find       *finder
	transcript *transcript.View
	composer   *composer
	empty      fyne.CanvasObject
	middle     *fyne.Container
	top        *widgets.Background // backgrounds, and the line below the header
	bottom     *widgets.Background
	line       fyne.CanvasObject
	trouble    *widgets.ErrorBox
	waiting    *widgets.Text
	since      time.Time          // start of loading
	wanted     protocol.MessageID // message to reveal once it is loaded
	marked     time.Time          // time when a row was highlighted; zero for none

	left   map[protocol.SessionKey]left
	back   bool            // the scroll position shall be restored
	open   map[string]bool // parts that the reader expanded or collapsed
	raw    map[string]bool // rows shown as raw Markdown
	images map[string]fyne.Resource
}

// New creates a pane without a conversation; [Pane.Update] sets one. All windows share machines.
func New(h Handlers, machines *style.Machines) *Pane {
	p := &Pane{h: h, machines: machines, builder: newBuilder(machines), now: time.Now(), left: map[protocol.SessionKey]left{}, open: map[string]bool{}, raw: map[string]bool{}, images: map[string]fyne.Resource{}}
	p.transcript = transcript.New(p.row)
	p.transcript.Width = columnWidth
	p.transcript.OnTop = func() {
		if p.state.More && p.h.Older != nil {
			p.h.Older()
		}
	}
	p.top, p.bottom, p.line = widgets.NewBackground("background", "", 0), widgets.NewBackground("background", "", 0), widgets.HLine()
	p.transcript.ItemText = p.words
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
	p.waiting = widgets.NewText("Loading…", style.ColorMuted, "text")
	p.waiting.Align = fyne.TextAlignCenter
	p.middle = container.New(middleLayout{}, p.transcript, p.empty, p.trouble, p.waiting)
	p.ExtendBaseWidget(p)
	p.show()
	return p
}

// NewReader creates a read-only pane for an archived conversation, without header and composer.
func NewReader(h Handlers, machines *style.Machines) *Pane {
	p := New(h, machines)
	p.reader = true
	p.middle.Remove(p.empty)
	p.empty = widgets.NewEmptyState("chat", "No messages", "")
	p.middle.Add(p.empty)
	for _, o := range []fyne.CanvasObject{p.header.box, p.composer.box, p.top, p.bottom, p.line, p.empty} {
		o.Hide()
	}
	return p
}

// Update shows a state. A change of the conversation resets the reader's view state and draft; the
// scroll position is restored when the reader comes back.
func (p *Pane) Update(s State) {
	if p.given && s.Session.SessionKey != p.state.Session.SessionKey {
		p.leave(p.state.Session.SessionKey)
		p.back = true
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
		p.transcript.ClearSelection()
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

// Tick passes the time, once a second: it updates durations, enables Allow, and handles a new day
// and the end of a trust period.
func (p *Pane) Tick(now time.Time) {
	// a new day, or the end of the chat's trust period
	over := p.now.Year() != now.Year() || p.now.YearDay() != now.YearDay()
	p.now = now
	over = over || p.header.mode.Text != p.header.modeWord(p.state)
	if !p.marked.IsZero() && now.Sub(p.marked) >= markTime {
		p.unmark()
	}
	if len(p.state.Runs) > 0 || len(p.state.Calls) > 0 || len(p.state.Approvals) > 0 || p.state.Loading || over {
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
	p.comeBack()
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

// Rename lets the person edit the title in the header.
func (p *Pane) Rename() { p.header.Rename() }

// SetLeading puts an object before the title, such as the drawer's button; nil removes it.
func (p *Pane) SetLeading(o fyne.CanvasObject) {
	p.header.left.Objects = nil
	if o != nil {
		p.header.left.Objects = []fyne.CanvasObject{o}
		o.Refresh() // the theme may have changed while it was not displayed
	}
	setVisible(p.header.left, o != nil)
	p.relayout()
}
