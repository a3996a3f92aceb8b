package settings

import (
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
)

// search finds pages, their sections and all settings. Its results stand in place of the list of
// pages.
type search struct {
	page        *Page
	field       *widgets.SearchField
	results     []result
	highlighted int // the result that Enter in the field opens
}

// result is a result of the search: a page, a section of a page, or one of all settings.
type result struct {
	page    int
	section string // title; empty for the page
	setting string // name; empty for a page or a section
	title   string
	text    string
}

// maxResults is the largest number of results that are listed.
const maxResults = 50

func newSearch(p *Page) *search {
	s := &search{page: p, field: widgets.NewSearchField("Search settings", "")}
	s.field.OnChanged = func(string) {
		s.highlighted = 0
		s.update()
		p.list.ScrollToTop()
	}
	s.field.OnMove = s.move
	s.field.OnChoose = func() {
		if len(s.results) > 0 {
			s.open(s.highlighted)
		}
	}
	s.field.OnCancel = func() { widgets.Focus(p.list) }
	return s
}

// isOn reports whether results are shown.
func (s *search) isOn() bool { return s.field.Text != "" }

// update shows the results for the text in the field.
func (s *search) update() {
	s.results = nil
	if s.isOn() {
		s.page.follow()
		s.results = s.find(s.field.Text)
		s.highlighted = max(min(s.highlighted, len(s.results)-1), 0)
	}
	s.page.fill()
}

// find returns what contains each word of a query: pages, sections, and then settings.
func (s *search) find(query string) (list []result) {
	p := s.page
	var inside []result
	for i, e := range p.entries {
		about := pageWords[e.Title]
		if wording.Matches(e.Title+" "+about, query) {
			list = append(list, result{page: i, title: e.Title, text: about})
		}
		for _, part := range sections[e.Title] {
			if wording.Matches(part.title+" "+part.about+" "+e.Title, query) && (!part.local || p.o.Local != nil) {
				inside = append(inside, result{page: i, section: part.title, title: part.title, text: e.Title + " · " + part.about})
			}
		}
	}
	list = append(list, inside...)
	all := p.indexOf(allSettingsTitle)
	for _, x := range p.model.Value.Get().Find(query, "", false) {
		if !x.Pattern && len(list) < maxResults && !ownPlace[x.Path] {
			list = append(list, result{page: all, setting: x.Name, title: titleOf(x), text: x.Group + " · " + x.Description})
		}
	}
	return list
}

// rows are the lines of the results.
func (s *search) rows() []widgets.ListRow {
	if len(s.results) == 0 {
		none := widgets.Inset(style.Inside, style.Inside, 0, style.Inside, mutedText("No settings found."))
		return []widgets.ListRow{{ID: "none", Heading: none}}
	}
	return lists.Map(s.results, func(r result) widgets.ListRow {
		return widgets.ListRow{ID: r.title + " " + r.text, Tall: true}
	})
}

func (s *search) item(i int) widgets.SidebarItem {
	r := s.results[i]
	return widgets.SidebarItem{Icon: s.page.entries[r.page].Icon, Title: r.title, Text: r.text, Selected: i == s.highlighted}
}

// open opens the page of a result, and highlights the setting or the section there.
func (s *search) open(i int) {
	p, r := s.page, s.results[i]
	s.highlighted = i
	p.list.Refresh()
	p.Open(p.entries[r.page].Title)
	switch {
	case r.setting != "":
		p.all.reveal(r.setting)
	case r.section != "" && p.own != nil:
		p.own.reveal(r.section)
	}
}

// move highlights another result, or moves the keyboard to the list of pages.
func (s *search) move(by int) {
	switch n := len(s.results); {
	case n > 0:
		s.highlighted = min(max(s.highlighted+by, 0), n-1)
		s.page.list.Refresh()
		s.page.list.Reveal(s.highlighted)
	case by > 0 && !s.isOn():
		widgets.Focus(s.page.list)
	}
}
