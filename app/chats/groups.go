package chats

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Filter selects the chats of a list: those with a tag, or all if it is empty. Archived chats
// have a list of their own.
type Filter struct {
	Archived bool
	Tag      string
}

func (f Filter) has(e *protocol.SessionEntry) bool {
	return e.Archived == f.Archived && (f.Tag == "" || slices.Contains(e.Tags, f.Tag))
}

// Group is a part of the list of chats, with at least one chat. The chats must not be changed.
type Group struct {
	Title string
	Chats []*protocol.SessionEntry
}

// Groups returns the chats of a list in groups: the pinned ones, and the others by the day of
// their last activity. all is in the order of activity.
func Groups(all []protocol.SessionEntry, f Filter, now time.Time) []Group {
	pinned := Group{Title: "Pinned"}
	var groups []Group
	var until int64 // the present group ends there
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	for i := range all {
		e := &all[i]
		switch {
		case !f.has(e):
			continue
		case e.Pinned:
			pinned.Chats = append(pinned.Chats, e)
			continue
		case len(groups) == 0 || e.LastActiveAt < until:
			title, from := dayGroup(e.LastActiveAt, today)
			groups, until = append(groups, Group{Title: title}), from.UnixMilli()
		}
		last := &groups[len(groups)-1]
		last.Chats = append(last.Chats, e)
	}
	if len(pinned.Chats) > 0 {
		groups = slices.Insert(groups, 0, pinned)
	}
	return groups
}

// dayGroup returns the name of the group of a time, and when the group begins.
func dayGroup(ms int64, today time.Time) (title string, from time.Time) {
	t := time.UnixMilli(ms).In(today.Location())
	for _, g := range []struct {
		title string
		days  int
	}{{"Today", 0}, {"Yesterday", 1}, {"Previous 7 days", 7}} {
		if from = today.AddDate(0, 0, -g.days); !t.Before(from) {
			return g.title, from
		}
	}
	from = time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, t.Location())
	if t.Year() == today.Year() {
		return t.Format("January"), from
	}
	return t.Format("January 2006"), from
}

// Pin lists chats first, or no longer.
func (c *Chats) Pin(pinned bool, keys ...protocol.SessionKey) {
	c.patchAll(keys, func(p *protocol.SessionPatchParams) { p.Pinned = &pinned })
}

// Archive hides chats from the list, or lists them again.
func (c *Chats) Archive(archived bool, keys ...protocol.SessionKey) {
	c.patchAll(keys, func(p *protocol.SessionPatchParams) { p.Archived = &archived })
}

// Tag adds a tag to chats, or removes it.
func (c *Chats) Tag(tag string, on bool, keys ...protocol.SessionKey) {
	v := c.feed.View()
	c.patchAll(keys, func(p *protocol.SessionPatchParams) {
		e, _ := v.Session(p.SessionKey)
		tags := lists.Without(e.Tags, func(t string) bool { return t == tag })
		if on {
			tags = append(tags, tag)
		}
		p.Tags = &tags
	})
}

// patchAll changes chats.
func (c *Chats) patchAll(keys []protocol.SessionKey, change func(*protocol.SessionPatchParams)) {
	c.feed.Tasks.Do(func(ctx context.Context) error {
		return forAll(keys, func(key protocol.SessionKey) error {
			p := protocol.SessionPatchParams{SessionKey: key}
			change(&p)
			return feed.Send(ctx, c.feed, protocol.SessionPatch, p)
		})
	})
}

// parallelRequests is the number of requests for many chats that are sent at once.
const parallelRequests = 16

// forAll calls f for all chats, for several at once, and returns the first error.
func forAll(keys []protocol.SessionKey, f func(protocol.SessionKey) error) error {
	var wg crash.Group
	errs := make([]error, len(keys))
	slots := make(chan struct{}, parallelRequests)
	for i, key := range keys {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = f(key)
			<-slots
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// DeleteAll deletes chats. Until the returned time, [Chats.RestoreAll] can undo that. deleted are
// those that were deleted, also after an error. It blocks.
func (c *Chats) DeleteAll(
	ctx context.Context, keys []protocol.SessionKey,
) (deleted []protocol.SessionKey, until time.Time, err error) {
	var mu sync.Mutex // guards deleted and until
	err = forAll(keys, func(key protocol.SessionKey) error {
		at, err := c.Delete(ctx, key)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if deleted = append(deleted, key); until.IsZero() || at.Before(until) {
			until = at
		}
		return nil
	})
	return deleted, until, err
}

// RestoreAll restores deleted chats. It blocks.
func (c *Chats) RestoreAll(ctx context.Context, keys []protocol.SessionKey) error {
	return forAll(keys, func(key protocol.SessionKey) error { return c.Restore(ctx, key) })
}
