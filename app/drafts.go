package app

import (
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// draft is an unsent message of a chat: text and pictures.
type draft struct {
	text     string
	pictures []protocol.Attachment
}

// drafts holds the drafts of all chats, including those of closed windows. It belongs to the GUI
// thread. The texts survive a restart.
type drafts struct {
	prefs *prefs
	list  map[protocol.SessionKey]draft
}

// maxDraft is the largest text that is saved across restarts, in bytes: the whole file is rewritten
// after every change.
const maxDraft = 256 << 10

// draftPause is the pause in typing after which the text is saved.
const draftPause = time.Second

func newDrafts(p *prefs) drafts {
	d := drafts{prefs: p, list: make(map[protocol.SessionKey]draft)}
	for key, text := range p.get().Drafts {
		d.list[key] = draft{text: text}
	}
	return d
}

// put stores the content of a chat's field.
func (d drafts) put(key protocol.SessionKey, now draft) {
	if d.list[key] = now; now.text == "" && len(now.pictures) == 0 {
		delete(d.list, key)
	}
	if now.text == "" || len(now.text) > maxDraft {
		d.drop(key)
		return
	}
	d.prefs.update(func(r *remembered) {
		if r.Drafts[key] != now.text {
			if r.Drafts = maps.Clone(r.Drafts); r.Drafts == nil {
				r.Drafts = make(map[protocol.SessionKey]string)
			}
			r.Drafts[key] = now.text
		}
	})
}

// before puts an unsent message before the draft of a chat.
func (d drafts) before(key protocol.SessionKey, text string, pictures []protocol.Attachment) {
	d.put(key, d.list[key].after(text, pictures))
}

// after returns the draft with another one put before it.
func (d draft) after(text string, pictures []protocol.Attachment) draft {
	return draft{strings.TrimRight(text+"\n"+d.text, "\n"), slices.Concat(pictures, d.pictures)}
}

// drop deletes the saved text of a draft; it is no longer restored after a restart.
func (d drafts) drop(key protocol.SessionKey) {
	d.prefs.update(func(r *remembered) {
		if _, ok := r.Drafts[key]; ok {
			r.Drafts = maps.Clone(r.Drafts)
			delete(r.Drafts, key)
		}
	})
}

// draft returns the content of the field.
func (c *conversation) draft() draft { return draft{c.pane.Draft(), c.pane.Attachments()} }

func (c *conversation) setDraft(d draft) {
	c.pane.SetDraft(d.text)
	c.pane.SetAttachments(d.pictures)
}

// keepDraft saves the content of the field. While a chat has a window of its own, that window's
// field counts, not the empty one of the main window.
func (c *conversation) keepDraft() {
	d := c.draft()
	c.typed, c.typedAt = d.text, time.Time{}
	if own := c.ui.chats.windows[c.key]; c.key != "" && (own == nil || own == c || d.text != "") {
		c.ui.drafts.put(c.key, d)
	}
}

// tickDraft saves the draft once the person pauses typing.
func (c *conversation) tickDraft(now time.Time) {
	switch text := c.pane.Draft(); {
	case text != c.typed:
		c.typed, c.typedAt = text, now
	case !c.typedAt.IsZero() && now.Sub(c.typedAt) >= draftPause:
		c.keepDraft()
	}
}
