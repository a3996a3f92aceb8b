package palette

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/gateway/protocol"
)

// Entry is something that the palette finds.
type Entry struct {
	Icon, Title string
	Kind        string // shown at the right
	// Words are further words by which it is found.
	Words string
	// Do is what choosing it does; without it, Target is opened.
	Do     func()
	Target host.Target
}

// Model finds entries. It is safe for concurrent use.
type Model struct {
	feed    *feed.Feed
	own     []Entry
	setting *feed.Value[[]Entry]
	changed *feed.Value[[]Entry] // files that the agent changed
}

// NewModel creates a model of the entries of a gateway. own are the actions and pages of the program.
func NewModel(f *feed.Feed, own []Entry) *Model {
	return &Model{feed: f, own: own, setting: feed.NewValue[[]Entry](nil), changed: feed.NewValue[[]Entry](nil)}
}

// Load loads the settings and the files that the agent changed. Until then, none is found by its
// name. It blocks.
func (m *Model) Load(ctx context.Context) error {
	return errors.Join(m.loadSettings(ctx), m.loadChanged(ctx))
}

// loadChanged loads the files that the agent changed anywhere on this computer.
func (m *Model) loadChanged(ctx context.Context) error {
	local, ok := m.feed.View().Machines.Local()
	if !ok {
		return nil
	}
	c, err := feed.Call(ctx, m.feed, protocol.FilesChanges, protocol.FilesChangesParams{Node: local.ID})
	var list []Entry
	seen := map[string]bool{}
	for _, change := range c.Changes {
		if !seen[change.Path] && len(list) < maxChanged {
			seen[change.Path] = true
			list = append(list, fileIn(local.ID, change.Path, false))
		}
	}
	m.changed.Update(func(l *[]Entry) { *l = list })
	return err
}

func (m *Model) loadSettings(ctx context.Context) error {
	r, err := feed.Call(ctx, m.feed, protocol.ConfigSchema, protocol.Empty{})
	if err != nil {
		return err
	}
	var list []Entry
	for _, f := range r.Fields {
		if f.Title != "" {
			list = append(list, settingEntry(f))
		}
	}
	m.setting.Update(func(l *[]Entry) { *l = list })
	return nil
}

const (
	maxEntries = 30
	maxRecent  = 6 // chats, while nothing is typed
	maxChanged = 5000
	maxBelow   = 20
	minQuery   = 2 // letters of a search for files
	// typingPause is how long a person types nothing before files are searched.
	typingPause = 150 * time.Millisecond
)

// Find returns the entries that contain all words of a query, the best first. Without a query it
// returns the latest chats, the actions and the pages.
func (m *Model) Find(query string) []Entry {
	v := m.feed.View()
	if strings.TrimSpace(query) == "" {
		chats := chatEntries(v)
		rest := slices.Concat(m.own, m.pausing(v), machineActions(v))
		// The order of the alphabet is that of use: Action, Page, Settings.
		slices.SortStableFunc(rest, func(a, b Entry) int { return cmp.Compare(a.Kind, b.Kind) })
		return slices.Concat(chats[:min(len(chats), maxRecent)], rest)
	}
	type ranked struct {
		Entry
		rank int
	}
	var found []ranked
	for _, e := range slices.Concat(m.own, m.pausing(v), chatEntries(v), machineEntries(v), machineActions(v), m.setting.Get(), m.changed.Get()) {
		if r := rank(e, query); r >= 0 {
			found = append(found, ranked{e, r})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	list := make([]Entry, 0, min(len(found), maxEntries))
	for _, e := range found[:min(len(found), maxEntries)] {
		list = append(list, e.Entry)
	}
	return list
}

// rank says how well an entry fits a query; less is better, and -1 means that it does not.
func rank(e Entry, query string) int {
	title := strings.ToLower(e.Title)
	all := title + " " + strings.ToLower(e.Kind+" "+e.Words)
	words := strings.Fields(strings.ToLower(query))
	if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
		return -1
	}
	begins := func(text, w string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(text, isBetween), func(s string) bool { return strings.HasPrefix(s, w) })
	}
	switch {
	case strings.HasPrefix(title, strings.Join(words, " ")):
		return 0
	case !slices.ContainsFunc(words, func(w string) bool { return !begins(title, w) }):
		return 1
	case !slices.ContainsFunc(words, func(w string) bool { return !begins(all, w) }):
		return 2
	}
	return 3
}

// isBetween reports whether a letter separates words.
func isBetween(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// IsPath reports whether a query is the path of a file: on this computer, in the form of its system.
func IsPath(query string) bool {
	q := strings.TrimSpace(query)
	return strings.HasPrefix(q, "/") || strings.HasPrefix(q, "~") || len(q) > 2 && q[1] == ':' && (q[2] == '\\' || q[2] == '/')
}

// Files returns the files of this computer's folder in which a path ends, as far as their names begin
// like the path's last part. It blocks.
func (m *Model) Files(ctx context.Context, query string) ([]Entry, error) {
	local, ok := m.feed.View().Machines.Local()
	if !ok {
		return nil, nil
	}
	query = strings.ReplaceAll(strings.TrimSpace(query), `\`, "/")
	if query == "~" {
		query = "~/"
	}
	dir, name := path.Split(query)
	r, err := feed.Call(ctx, m.feed, protocol.FilesList, protocol.FilesListParams{Node: local.ID, Path: dir})
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, f := range r.Entries {
		if strings.HasPrefix(strings.ToLower(f.Name), strings.ToLower(name)) && len(list) < maxEntries {
			list = append(list, fileEntry(local.ID, r.Path, f))
		}
	}
	return list, nil
}

// IsSearch reports whether files of the workspace are searched for a query.
func IsSearch(query string) bool {
	return !IsPath(query) && len([]rune(strings.TrimSpace(query))) >= minQuery
}

// Below returns files and folders below this computer's workspace that fit a query. It waits until
// nobody types and blocks; if ctx ends, it returns its error.
func (m *Model) Below(ctx context.Context, query string) ([]Entry, error) {
	local, ok := m.feed.View().Machines.Local()
	if !ok {
		return nil, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(typingPause):
	}
	r, err := feed.Call(ctx, m.feed, protocol.FilesFind, protocol.FilesFindParams{Node: local.ID, Query: query, Limit: maxBelow})
	var list []Entry
	for _, f := range r.Found {
		list = append(list, fileIn(local.ID, joinPath(r.Path, f.Path), f.Folder))
	}
	return list, err
}

// Join appends the files that are not in a list yet.
func Join(list, files []Entry) []Entry {
	for _, f := range files {
		if !slices.ContainsFunc(list, func(e Entry) bool { return e.Target == f.Target }) {
			list = append(list, f)
		}
	}
	return list
}
