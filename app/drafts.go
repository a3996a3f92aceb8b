package app

import (
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// draft is what was typed into a chat and not sent.
type draft struct {
	text     string
	pictures []protocol.Attachment
}

// drafts are those of every window, also of the ones that are closed. They belong to the GUI thread. The texts last to the next start.
type drafts struct {
	prefs *prefs
	list  map[protocol.SessionKey]draft
}

// maxDraft is how long a text may be that lasts to the next start, in bytes: the file is written anew with every change.
const maxDraft = 256 << 10

// draftPause is for how long nothing is typed before the text is written down.
const draftPause = time.Second

func newDrafts(p *prefs) drafts {
	d := drafts{prefs: p, list: make(map[protocol.SessionKey]draft)}
	for key, text := range p.get().Drafts {
		d.list[key] = draft{text: text}
	}
	return d
}

// put keeps what a chat's field holds.
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

// before puts what was not taken before what a chat's field holds.
func (d drafts) before(key protocol.SessionKey, text string, pictures []protocol.Attachment) {
	d.put(key, d.list[key].after(text, pictures))
}

// after is the draft with something before it.
func (d draft) after(text string, pictures []protocol.Attachment) draft {
	return draft{strings.TrimRight(text+"\n"+d.text, "\n"), slices.Concat(pictures, d.pictures)}
}

// drop has a text end with the program.
func (d drafts) drop(key protocol.SessionKey) {
	d.prefs.update(func(r *remembered) {
		if _, ok := r.Drafts[key]; ok {
			r.Drafts = maps.Clone(r.Drafts)
			delete(r.Drafts, key)
		}
	})
}

// draft is what the field holds.
func (c *conversation) draft() draft { return draft{c.pane.Draft(), c.pane.Attachments()} }

func (c *conversation) setDraft(d draft) {
	c.pane.SetDraft(d.text)
	c.pane.SetAttachments(d.pictures)
}

// keepDraft keeps what the field holds. The field of a window of its own counts for its chat, not an empty one of the main window.
func (c *conversation) keepDraft() {
	d := c.draft()
	c.typed, c.typedAt = d.text, time.Time{}
	if own := c.s.torn[c.key]; c.key != "" && (own == nil || own == c || d.text != "") {
		c.s.drafts.put(c.key, d)
	}
}

// tickDraft keeps it once the typing pauses.
func (c *conversation) tickDraft(now time.Time) {
	switch text := c.pane.Draft(); {
	case text != c.typed:
		c.typed, c.typedAt = text, now
	case !c.typedAt.IsZero() && now.Sub(c.typedAt) >= draftPause:
		c.keepDraft()
	}
}
