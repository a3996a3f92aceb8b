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

// drafts holds the drafts of all chats. It belongs to the GUI thread. Texts survive a restart.
type drafts struct {
	prefs  *prefs
	byChat map[protocol.SessionKey]draft
}

// maxDraft is the largest text that is saved, in bytes: each change rewrites the whole file.
const maxDraft = 256 << 10

// draftPause is the pause in typing after which the text is saved.
const draftPause = time.Second

func newDrafts(p *prefs) drafts {
	d := drafts{prefs: p, byChat: make(map[protocol.SessionKey]draft)}
	for key, text := range p.get().Drafts {
		d.byChat[key] = draft{text: text}
	}
	return d
}

// save stores the content of a chat's field.
func (d drafts) save(key protocol.SessionKey, now draft) {
	d.byChat[key] = now
	if now.text == "" && len(now.pictures) == 0 {
		delete(d.byChat, key)
	}
	if len(now.text) > maxDraft {
		now.text = ""
	}
	d.saveText(key, now.text)
}

func (d drafts) has(key protocol.SessionKey) bool {
	_, ok := d.byChat[key]
	return ok
}

// saveText saves the text that is restored after a restart; an empty one deletes it.
func (d drafts) saveText(key protocol.SessionKey, text string) {
	d.prefs.update(func(r *preferences) {
		if r.Drafts[key] == text {
			return
		}
		if r.Drafts = maps.Clone(r.Drafts); r.Drafts == nil {
			r.Drafts = make(map[protocol.SessionKey]string)
		}
		r.Drafts[key] = text
		if text == "" {
			delete(r.Drafts, key)
		}
	})
}

func (d draft) withPrefix(text string, pictures []protocol.Attachment) draft {
	return draft{strings.TrimRight(text+"\n"+d.text, "\n"), slices.Concat(pictures, d.pictures)}
}

func (c *conversation) draft() draft { return draft{c.pane.Draft(), c.pane.Attachments()} }

func (c *conversation) setDraft(d draft) {
	c.pane.SetDraft(d.text)
	c.pane.SetAttachments(d.pictures)
}

// saveDraft saves the content of the field, unless the chat has a window of its own.
func (c *conversation) saveDraft() {
	d := c.draft()
	c.lastText, c.changedAt = d.text, time.Time{}
	if own := c.ui.chats.windows[c.key]; c.key != "" && (own == nil || own == c || d.text != "") {
		c.ui.drafts.save(c.key, d)
	}
}

// tickDraft saves the draft once the person pauses typing.
func (c *conversation) tickDraft(now time.Time) {
	switch text := c.pane.Draft(); {
	case text != c.lastText:
		c.lastText, c.changedAt = text, now
	case !c.changedAt.IsZero() && now.Sub(c.changedAt) >= draftPause:
		c.saveDraft()
	}
}
