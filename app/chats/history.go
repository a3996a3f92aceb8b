package chats

import (
	"context"
	"errors"
	"slices"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

const pageSize = 150

// Messages has the loaded messages of a conversation. Its slices must not be changed.
type Messages struct {
	Key     protocol.SessionKey
	List    []protocol.Message // oldest first
	More    bool               // older messages exist
	Loading bool
	Problem string

	load int                // number of the current load; responses to earlier ones are ignored
	late []protocol.Message // messages that arrived during the load
}

// History is the messages of one conversation. Its methods are safe for concurrent use.
type History struct {
	Key   protocol.SessionKey
	Value *feed.Value[Messages]
	feed  *feed.Feed
	// windows is the number of windows that show it; guarded by the lock of [Chats].
	windows int
	// fetch reads n messages before a sequence number; 0 is the end.
	fetch func(ctx context.Context, before int64, n int) (list []protocol.Message, more bool, err error)
}

// NewHistory loads the newest messages of a conversation with fetch, which reads n messages before a
// sequence number; 0 is the end.
func NewHistory(f *feed.Feed, key protocol.SessionKey, fetch func(ctx context.Context, before int64, n int) ([]protocol.Message, bool, error)) *History {
	h := &History{Key: key, feed: f, Value: feed.NewValue(Messages{Key: key, Loading: true}), fetch: fetch}
	h.Reload()
	return h
}

// Reload loads the newest messages again.
func (h *History) Reload() { h.reload(pageSize) }

func (h *History) reload(n int) {
	load := 0
	h.Value.Update(func(v *Messages) {
		v.load++
		load = v.load
		v.Loading, v.Problem, v.late = true, "", nil
	})
	h.page(0, n, func(v *Messages, p page, err error) {
		if v.load != load {
			return
		}
		v.Loading = false
		late := v.late
		v.late = nil
		if err != nil {
			v.Problem = feed.Sentence(err)
			return
		}
		v.List, v.More = p.list, p.more
		for _, m := range late {
			v.List = appendNew(v.List, m)
		}
	})
}

// Older loads the messages before the first loaded one.
func (h *History) Older() { h.older(pageSize) }

const reachSize = 1000

// Reach loads messages back to a sequence number. It blocks, also while the chat is loading.
func (h *History) Reach(ctx context.Context, seq int64) error {
	oldest := int64(0)
	for v := range h.Value.Changes(ctx) {
		switch {
		case v.Problem != "":
			return errors.New(v.Problem)
		case v.Loading:
			continue
		case !v.More || v.List[0].Seq <= seq:
			return nil
		case v.List[0].Seq == oldest:
			return errors.New("the messages before could not be loaded")
		}
		oldest = v.List[0].Seq
		h.older(int(min(max(oldest-seq+pageSize/2, pageSize), reachSize)))
	}
	return ctx.Err()
}

// ReachRun loads messages back to those of a run and returns its first one. It blocks, also while the
// chat is loading.
func (h *History) ReachRun(ctx context.Context, run protocol.RunID) (protocol.Message, error) {
	oldest := int64(0)
	for v := range h.Value.Changes(ctx) {
		if v.Problem != "" {
			return protocol.Message{}, errors.New(v.Problem)
		}
		if v.Loading {
			continue
		}
		if m, ok := lists.Find(v.List, func(m protocol.Message) bool { return m.RunID == run }); ok {
			return m, nil
		}
		if !v.More || v.List[0].Seq == oldest {
			return protocol.Message{}, errors.New("that run is no longer in this chat")
		}
		oldest = v.List[0].Seq
		h.older(reachSize)
	}
	return protocol.Message{}, ctx.Err()
}

func (h *History) older(n int) {
	v := h.Value.Get()
	if !v.More || v.Loading || len(v.List) == 0 {
		return
	}
	load, before := v.load, v.List[0].Seq
	h.Value.Update(func(v *Messages) { v.Loading = true })
	h.page(before, n, func(v *Messages, p page, err error) {
		if v.load != load || len(v.List) == 0 || v.List[0].Seq != before {
			return
		}
		v.Loading = false
		if err != nil {
			h.feed.Tasks.Start(func(context.Context) { h.feed.Tasks.Fail(err) })
			return
		}
		v.List = append(slices.Clone(p.list), v.List...)
		v.More = p.more
	})
}

// page loads n messages before a sequence number (0: the newest) and adds them to the view.
func (h *History) page(before int64, n int, into func(*Messages, page, error)) {
	h.feed.Tasks.StartRequest(func(ctx context.Context) {
		list, more, err := h.fetch(ctx, before, n)
		h.Value.Update(func(v *Messages) { into(v, page{list, more}, err) })
	})
}

type page struct {
	list []protocol.Message
	more bool
}

func (h *History) preview(ctx context.Context, before int64, n int) ([]protocol.Message, bool, error) {
	p, err := feed.Call(ctx, h.feed, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: h.Key, Limit: n, Before: before, Notices: true})
	// A short page reaches the beginning, which may have been deleted, or the last summary.
	isShort := len(p.Messages) < n
	afterSummary := before == 0 && slices.ContainsFunc(p.Messages, func(m protocol.Message) bool { return m.Compaction != nil })
	return p.Messages, len(p.Messages) > 0 && p.Messages[0].Seq > 1 && (!isShort || afterSummary), err
}

// appendNew appends a message unless the list has it already. It does not change the given list.
func appendNew(list []protocol.Message, m protocol.Message) []protocol.Message {
	if n := len(list); n > 0 && list[n-1].Seq >= m.Seq {
		return list
	}
	// Sharing the array keeps appending cheap in a chat of thousands of messages. It is safe:
	// changes come one at a time, and only this code appends.
	return append(list, m)
}

func (h *History) apply(ch protocol.Change) {
	if ch.Kind == protocol.ChangeHistory {
		// As many messages as are shown, so that the reader stays at the same one.
		h.reload(min(max(len(h.Value.Get().List), pageSize), reachSize))
		return
	}
	if ch.Message == nil {
		return
	}
	m := *ch.Message
	h.Value.Update(func(v *Messages) {
		if v.Loading {
			v.late = append(v.late, m)
		}
		v.List = appendNew(v.List, m)
	})
}
