package chat

import (
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// draft is an unsent message of a chat.
type draft struct {
	text   string
	images []protocol.Attachment
}

func (d draft) equal(other draft) bool {
	return d.text == other.text && slices.Equal(d.images, other.images)
}

func (d draft) withPrefix(text string, images []protocol.Attachment) draft {
	return draft{strings.TrimRight(text+"\n"+d.text, "\n"), slices.Concat(images, d.images)}
}

// DraftStore saves drafts for the next start. An empty text and no pictures delete what it has.
type DraftStore interface {
	SaveText(key protocol.SessionKey, text string)
	SavePictures(key protocol.SessionKey, pictures []protocol.Attachment)
}

// Drafts holds the drafts of all chats. It belongs to the GUI thread.
type Drafts struct {
	store  DraftStore
	byChat map[protocol.SessionKey]draft
	sent   protocol.SessionKey // where the last message was sent: this chat is in use before the gateway says so
	// owners are the pages in windows of their own, which alone edit the drafts of their chats.
	owners map[protocol.SessionKey]*Page
}

// maxDraft is the largest text that is saved, in bytes: each change rewrites the whole file.
const maxDraft = 256 << 10

// draftPause is the pause after a change after which the draft is saved.
const draftPause = time.Second

// NewDrafts returns the drafts that were saved before.
func NewDrafts(store DraftStore, texts map[protocol.SessionKey]string, pictures map[protocol.SessionKey][]protocol.Attachment) *Drafts {
	d := &Drafts{store: store, byChat: make(map[protocol.SessionKey]draft), owners: make(map[protocol.SessionKey]*Page)}
	for key, text := range texts {
		d.byChat[key] = draft{text: text}
	}
	for key, list := range pictures {
		d.byChat[key] = draft{d.byChat[key].text, list}
	}
	return d
}

// save stores the content of a chat's field.
func (d *Drafts) save(key protocol.SessionKey, now draft) {
	before := d.byChat[key]
	d.byChat[key] = now
	if now.text == "" && len(now.images) == 0 {
		delete(d.byChat, key)
	}
	if len(now.text) > maxDraft {
		now.text = ""
	}
	d.store.SaveText(key, now.text)
	if !slices.Equal(now.images, before.images) {
		d.store.SavePictures(key, now.images)
	}
}

// IsUnused reports whether a chat has no draft, and no message was sent there just now.
func (d *Drafts) IsUnused(key protocol.SessionKey) bool {
	_, has := d.byChat[key]
	return !has && key != d.sent && d.owners[key] == nil
}

// Forget deletes what would be restored after a restart. Until then the draft stays, in case that
// the deletion of the chat is undone.
func (d *Drafts) Forget(key protocol.SessionKey) {
	d.store.SaveText(key, "")
	if len(d.byChat[key].images) > 0 {
		d.store.SavePictures(key, nil)
	}
}

// isOf reports whether a page edits the draft of a chat.
func (d *Drafts) isOf(key protocol.SessionKey, p *Page) bool {
	own := d.owners[key]
	return own == nil || own == p
}
