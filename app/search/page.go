// Package search is the page that searches the messages of all chats.
package search

import (
	"cmp"
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx   context.Context
	e     host.Env
	Box   fyne.CanvasObject
	Field *widgets.SearchField

	hits   []protocol.SearchHit
	next   int64
	wanted int // number of results wanted from the latest search
	// how far back an unfinished search has reached, in Unix milliseconds; 0 for none
	searchedUntil int64
	query         string
	newest        bind.Newest
	list          *widgets.ItemList
	body          *fyne.Container
	more          *widgets.Button
	now           func() time.Time
}

const showOlder = "Show older"

// hitLead is the number of characters that a result shows before the first match.
const hitLead = 40

const typingPause = 200 * time.Millisecond

// New creates the page; it lives until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := &Page{ctx: ctx, e: e, now: time.Now, body: container.NewStack(), Field: widgets.NewSearchField("Search all messages", "")}
	p.list = widgets.NewItemList(func(i int) { p.open(p.hits[i]) })
	p.more = widgets.NewQuietButton(showOlder, "down", func() {
		if p.searchedUntil == 0 {
			p.wanted = len(p.hits) + feed.SearchPage
			p.find(p.next)
		}
	})
	p.Field.OnChanged = func(string) { p.find(0) }
	p.Field.OnChoose = func() {
		if len(p.hits) > 0 {
			p.list.OnChoose(0)
		}
	}
	p.Field.OnMove = func(by int) {
		if by > 0 && len(p.hits) > 0 {
			widgets.Focus(p.list)
		}
	}
	p.draw("")
	p.Box = widgets.NewPage("Search", widgets.Border(widgets.Inset(0, 0, style.Inside, 0, p.Field), nil, nil, nil, p.body), widgets.NewQuietButton("Back", "back", func() { p.Back() }))
	return p
}

// open shows a message in its chat, or in the archive.
func (p *Page) open(h protocol.SearchHit) {
	if h.Archived {
		p.e.Open(host.Archive{Key: h.SessionKey, Hit: &h})
		return
	}
	p.e.Open(host.Chat{Key: h.SessionKey, Hit: &h})
}

// Content implements [host.View].
func (p *Page) Content() fyne.CanvasObject { return p.Box }

// OpenAt implements [host.Opener]: it searches for a text.
func (p *Page) OpenAt(to host.Target) {
	query, _ := to.(host.Search)
	p.Field.SetText(string(query))
}

// Focus implements [host.Focuser].
func (p *Page) Focus(c fyne.Canvas) { c.Focus(p.Field) }

// Back leaves the page.
func (p *Page) Back() bool {
	p.e.Open(host.Back{})
	return true
}

func (p *Page) find(page int64) {
	p.query = strings.TrimSpace(p.Field.Text)
	ctx, query := p.newest.Context(p.ctx), p.query
	if page == 0 {
		p.wanted = feed.SearchPage
	}
	if query == "" {
		p.hits, p.next, p.searchedUntil = nil, 0, 0
		p.draw("")
		return
	}
	bind.Go(ctx, func(ctx context.Context) (protocol.SessionsSearchResult, error) {
		if page == 0 {
			select {
			case <-time.After(typingPause):
			case <-ctx.Done():
			}
		}
		return feed.SearchMessages(ctx, p.e.Feed, query, page)
	}, func(r protocol.SessionsSearchResult, err error) {
		if err != nil {
			p.searchedUntil = 0
			p.draw(err.Error())
			return
		}
		if page == 0 {
			p.hits = nil
		}
		p.show(r)
		if p.searchedUntil != 0 {
			p.find(p.next)
		}
	})
}

func (p *Page) show(r protocol.SessionsSearchResult) {
	p.hits, p.next, p.searchedUntil = append(p.hits, r.Hits...), r.Next, 0
	if len(p.hits) < p.wanted {
		p.searchedUntil = r.Reached
	}
	v := p.e.Feed.View()
	p.list.Set(lists.Map(p.hits, func(h protocol.SearchHit) widgets.ListItem {
		chat, _ := v.Session(h.SessionKey)
		title := cmp.Or(h.Title, feed.TitleOf(chat))
		return widgets.ListItem{Icon: "chat", Found: feed.HitText(h, hitLead, widgets.MarkStart, widgets.MarkEnd), Text: title + " · " + authorOf(v, h, p.now())}
	}))
	p.draw("")
}

func (p *Page) draw(problem string) {
	var o fyne.CanvasObject
	switch {
	case problem != "":
		o = widgets.NewLoadError("The search failed.", problem, func() { p.find(0) })
	case p.query == "":
		o = widgets.NewEmptyPage("search", "Search your chats", "A message must contain all words, in any order. Put words in double quotes to find a phrase. Archived conversations are included.")
	case len(p.hits) == 0 && p.searchedUntil != 0:
		o = widgets.NewEmptyPage("search", "Still searching", "Nothing found so far, back to "+format.When(p.searchedUntil, p.now())+".")
	case len(p.hits) == 0:
		o = widgets.NewEmptyPage("search", "Nothing found", "No message contains all of these words. Try fewer words.")
	default:
		var foot fyne.CanvasObject
		if p.next != 0 {
			p.more.SetText(showOlder)
			if p.searchedUntil != 0 {
				p.more.SetText("Searching before " + format.When(p.searchedUntil, p.now()) + "…")
			}
			foot = widgets.Inset(style.Gap, 0, style.Gap, 0, widgets.Row(0, -1, p.more))
		}
		o = widgets.Border(nil, foot, nil, nil, p.list)
	}
	widgets.SetContent(p.body, o)
}
