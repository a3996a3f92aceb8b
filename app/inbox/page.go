package inbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Keys are those of a row of the page.
var Keys = []widgets.KeyText{{Keys: "Enter", Text: "Review"}, {Keys: "Del", Text: "Deny"}, {Keys: "L", Text: "Not now"}}

// Page is the page of all pending questions. Calls have rows without an Allow button: allowing one
// requires the whole question in view, in the dialog. Others have cards with their answers. It belongs
// to the GUI thread.
type Page struct {
	Box fyne.CanvasObject

	answerer
	env    host.Env
	list   *fyne.Container // rows and cards
	cards  map[protocol.QuestionID]*card
	rows   []*row // all that were created, of which the first shown are in the list
	shown  int
	none   fyne.CanvasObject
	scroll *container.Scroll
	more   *widgets.Text
	clock  func() time.Time
	canvas fyne.Canvas // set by Focus
}

// card is a question on the page with its answers.
type card struct {
	*widgets.Question
	hash  string
	later int64
	box   fyne.CanvasObject
}

// maxListed is the maximum number of questions listed.
const maxListed = 100

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(e)
	p.Update(e.Feed.View()) // at once, so that an opened page does not flicker
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Questions, e.Feed.Machines, e.Feed.Sessions, e.Feed.Calls), p.Update)
	bind.Every(ctx, 250*time.Millisecond, p.Tick)
	return p
}

func newPage(e host.Env) *Page {
	p := &Page{answerer: NewModel(e.Feed), env: e, list: widgets.Col(0), cards: make(map[protocol.QuestionID]*card), more: widgets.NewText("", style.ColorMuted, style.SizeSmall), clock: time.Now}
	p.none = widgets.Inset(2*style.Page, 0, 0, 0, widgets.NewEmptyState("check", "Nothing needs you", "Questions appear here, in the tray and in a window."))
	p.scroll = widgets.NewVScroll(widgets.Inset(0, style.Inside, style.Page, 0, widgets.Col(style.Gap, p.list, p.more)))
	p.Box = widgets.NewPage("Needs you", container.NewStack(p.scroll, p.none))
	return p
}

// Content implements [host.View].
func (p *Page) Content() fyne.CanvasObject { return p.Box }

// Back implements [host.View].
func (p *Page) Back() bool { return false }

// Update shows the questions of a view. The focused row keeps the focus while it exists.
func (p *Page) Update(v feed.View) {
	groups := question.Groups(v)
	widgets.SetVisible(p.none, len(groups) == 0)
	widgets.SetVisible(p.scroll, len(groups) > 0)
	p.more.SetText("")
	if hidden := len(groups) - maxListed; hidden > 0 {
		groups = groups[:maxListed]
		p.more.SetText(fmt.Sprintf("%d more appear as you answer these", hidden))
	}
	was := p.cards
	p.cards, p.shown, p.list.Objects = make(map[protocol.QuestionID]*card), 0, nil
	for _, g := range groups {
		if question.KindOf(g.Question).IsCall {
			p.list.Add(p.nextRow(g).box)
			continue
		}
		c := was[g.ID]
		if c == nil || c.hash != g.Hash || c.later != g.Question.Later {
			c = p.newCard(g.Question, v)
		}
		p.cards[g.ID] = c
		p.list.Add(c.box)
	}
	alignButtons(p.rows[:p.shown])
	p.list.Refresh()
	p.keepFocus()
}

// nextRow returns the next row of the list for a group.
func (p *Page) nextRow(g question.Group) *row {
	if p.shown == len(p.rows) {
		p.rows = append(p.rows, newRow(p, p.shown))
	}
	r := p.rows[p.shown]
	p.shown++
	r.set(g)
	return r
}

func (p *Page) newCard(q protocol.Question, v feed.View) *card {
	c := &card{hash: q.Hash, later: q.Later, Question: newCard(q, place{Env: p.env, view: v, now: p.clock()}, func(a protocol.QuestionAnswerParams) { p.Answer([]protocol.Question{q}, a) })}
	c.OnResize, c.box = p.list.Refresh, widgets.InCard(c.Question)
	return c
}

// alignButtons gives the buttons of all rows equal widths, so that they stand in columns.
func alignButtons(rows []*row) {
	for _, column := range []func(*row) *widgets.Button{
		func(r *row) *widgets.Button { return r.all }, func(r *row) *widgets.Button { return r.deny }, func(r *row) *widgets.Button { return r.later },
	} {
		widest := ""
		for _, r := range rows {
			if text := column(r).Text; len(text) > len(widest) {
				widest = text
			}
		}
		for _, r := range rows {
			column(r).Widest = widest
			column(r).Refresh()
		}
	}
}

// Tick passes the time.
func (p *Page) Tick(now time.Time) {
	for _, c := range p.cards {
		c.Tick(now)
	}
	for _, r := range p.rows[:p.shown] {
		r.tick(now)
	}
}

// Focus focuses the first question, from where the arrow keys move.
func (p *Page) Focus(c fyne.Canvas) {
	p.canvas = c
	p.focus(0)
}

func (p *Page) focus(i int) {
	if p.canvas == nil || i < 0 || i >= p.shown {
		return
	}
	p.canvas.Focus(p.rows[i].press)
	widgets.ScrollIntoView(p.rows[i].box)
}

// keepFocus focuses the last question if the focused one is gone.
func (p *Page) keepFocus() {
	if p.canvas == nil {
		return
	}
	focused := p.canvas.Focused()
	for _, r := range p.rows[p.shown:] {
		if slices.Contains([]fyne.Focusable{r.press, r.all, r.deny, r.later}, focused) {
			if p.shown == 0 {
				p.canvas.Unfocus()
			}
			p.focus(p.shown - 1)
			return
		}
	}
}

// row is a question, or several identical ones. Enter opens it, Delete denies, L snoozes.
type row struct {
	page        *Page
	group       question.Group
	mark        *widgets.Rect
	title, text *widgets.Text
	trail       *widgets.Text
	press       *widgets.Clickable
	all         *widgets.Button // replaces Review for identical questions
	deny, later *widgets.Button
	box         fyne.CanvasObject
}

func newRow(p *Page, i int) *row {
	r := &row{
		page: p, mark: widgets.NewRect("", "", 3), title: widgets.NewText("", style.ColorText, "text"), text: widgets.NewText("", style.ColorMuted, style.SizeSmall),
		trail: widgets.NewText("", style.ColorMuted, style.SizeSmall),
	}
	r.title.Ellipsis, r.text.Ellipsis = true, true
	r.mark.SetMinSize(fyne.NewSquareSize(12))
	r.press = widgets.NewClickable(widgets.Inset(style.Inside, style.Inside, style.Inside, style.Inside,
		widgets.Row(style.Inside, 2, r.mark, widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), widgets.Col(2, r.title, r.text), r.trail)), r.review)
	r.press.OnMenu = func(at fyne.Position) {
		widgets.ShowMenuAt(p.list, at, []*fyne.MenuItem{fyne.NewMenuItem("Review", r.review), fyne.NewMenuItem("Open chat", func() { p.env.Open(host.Chat{Key: r.group.SessionKey}) })})
	}
	r.press.OnKey = func(k fyne.KeyName) bool {
		switch k {
		case fyne.KeyUp:
			p.focus(i - 1)
		case fyne.KeyDown:
			p.focus(i + 1)
		case fyne.KeyDelete:
			r.deny.Tapped(nil)
		case fyne.KeyL:
			r.later.Tapped(nil)
		default:
			return false
		}
		return true
	}
	r.all = widgets.NewButton("Review", "eye", r.review)
	r.deny = widgets.NewQuietButton("Deny", "denied", func() { p.Answer(r.group.All, question.Answer(false)) })
	r.deny.Danger = true
	r.later = widgets.NewQuietButton("Not now", "clock", func() {
		if r.group.Later != 0 {
			p.Unsnooze(r.group.All...)
			return
		}
		p.Snooze(r.group.All...)
	})
	buttons := widgets.Flow(style.Inside, r.all, r.deny, r.later)
	r.box = widgets.Col(style.Gap, widgets.WithControls(rowText, r.press, buttons), widgets.HLine())
	return r
}

// review opens the question; of several identical ones it opens one, with the offer to answer all.
func (r *row) review() {
	if len(r.group.All) > 1 && r.group.Later == 0 {
		r.page.env.Open(host.Identical(r.group.ID))
		return
	}
	r.page.env.Open(host.Question(r.group.ID))
}

func (r *row) set(g question.Group) {
	r.group = g
	r.mark.Set(widgets.Choose(g.Node == "", "", r.page.env.Machines.Color(string(g.Node))), "")
	title, where := display.CallText(g.Question, r.page.env.Machines.Name(string(g.Node)))
	title, _ = wording.Reveal(title)
	where, _ = wording.Reveal(where)
	_, deny := display.AnswerWords(g.Question)
	review := "Review"
	if n := len(g.All); n > 1 {
		title, deny = fmt.Sprintf("%d × %s", n, title), fmt.Sprintf("Deny all %d", n)
		if g.Later == 0 {
			review = fmt.Sprintf("Allow all %d…", n)
		}
	}
	r.all.SetText(review)
	r.later.SetText(widgets.Choose(g.Later != 0, "Show now", "Not now"))
	r.title.Suffix = widgets.Choose(where != "", " "+where, "")
	r.title.Set(title, widgets.Choose(g.Later != 0, style.ColorMuted, style.ColorText))
	r.title.Refresh()
	r.deny.SetText(deny)
	text, _ := wording.Reveal(question.Asker(r.page.env.Feed.View(), g.AskedBy, g.SessionKey) + " · " + display.Why(g.Question))
	r.text.SetText(text)
	r.tick(r.page.clock())
}

func (r *row) tick(now time.Time) {
	q := r.group.Question
	q.Later = r.group.Later
	text := timeText(q, now)
	if r.trail.Text != text {
		r.trail.SetText(text)
		r.press.Refresh()
	}
}

// rowText is the minimum width of the text beside its buttons.
const rowText float32 = 300
