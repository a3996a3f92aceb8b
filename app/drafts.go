package app

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/app/chat"
	"fairlead/gateway/protocol"
)

// draft is an unsent message of a chat: text and pictures.
type draft struct {
	text     string
	pictures []protocol.Attachment
}

// drafts holds the drafts of all chats. It belongs to the GUI thread. They survive a restart.
type drafts struct {
	prefs  *prefs
	byChat map[protocol.SessionKey]draft
}

// maxDraft is the largest text that is saved, in bytes: each change rewrites the whole file.
const maxDraft = 256 << 10

// draftPause is the pause after a change after which the draft is saved.
const draftPause = time.Second

// draftPictures is the content of the file with a draft's pictures, which are too large for the
// preferences.
type draftPictures struct {
	Chat     protocol.SessionKey   `json:"chat"`
	Pictures []protocol.Attachment `json:"pictures"`
}

func newDrafts(p *prefs) drafts {
	d := drafts{prefs: p, byChat: make(map[protocol.SessionKey]draft)}
	for key, text := range p.get().Drafts {
		d.byChat[key] = draft{text: text}
	}
	for saved := range readFiles[draftPictures](p, draftDir) {
		d.byChat[saved.Chat] = draft{d.byChat[saved.Chat].text, saved.Pictures}
	}
	return d
}

// save stores the content of a chat's field.
func (d drafts) save(key protocol.SessionKey, now draft) {
	before := d.byChat[key]
	d.byChat[key] = now
	if now.text == "" && len(now.pictures) == 0 {
		delete(d.byChat, key)
	}
	if len(now.text) > maxDraft {
		now.text = ""
	}
	d.saveText(key, now.text)
	if !slices.Equal(now.pictures, before.pictures) {
		d.savePictures(key, now.pictures)
	}
}

func (d drafts) has(key protocol.SessionKey) bool {
	_, ok := d.byChat[key]
	return ok
}

// forget deletes what would be restored after a restart. Until then the draft stays, in case that
// the deletion of the chat is undone.
func (d drafts) forget(key protocol.SessionKey) {
	d.saveText(key, "")
	if len(d.byChat[key].pictures) > 0 {
		d.savePictures(key, nil)
	}
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

// draftDir is the folder of the files with pictures, in the folder of the preferences.
const draftDir = "drafts"

// savePictures saves the pictures that are restored after a restart.
func (d drafts) savePictures(key protocol.SessionKey, pictures []protocol.Attachment) {
	sum := sha256.Sum256([]byte(key)) // a key has characters that file names cannot have
	name := filepath.Join(draftDir, hex.EncodeToString(sum[:8])+".json")
	if len(pictures) == 0 {
		d.prefs.saveFile(name, nil)
		return
	}
	d.prefs.saveFile(name, draftPictures{key, pictures})
}

func (d draft) equal(other draft) bool {
	return d.text == other.text && slices.Equal(d.pictures, other.pictures)
}

func (d draft) withPrefix(text string, pictures []protocol.Attachment) draft {
	return draft{strings.TrimRight(text+"\n"+d.text, "\n"), slices.Concat(pictures, d.pictures)}
}

// draftField is the field of a chat, whose text is saved while the person types.
type draftField struct {
	pane      *chat.Pane
	last      draft     // content at the last look
	changedAt time.Time // time of the last change; zero once it is saved
}

func (f *draftField) get() draft { return draft{f.pane.Draft(), f.pane.Attachments()} }

func (f *draftField) set(d draft) {
	f.pane.SetDraft(d.text)
	f.pane.SetAttachments(d.pictures)
}

// isDue reports whether the content should be saved, because the person pauses typing.
func (f *draftField) isDue(now time.Time) bool {
	d := f.get()
	if !d.equal(f.last) {
		f.last, f.changedAt = d, now
		return false
	}
	return !f.changedAt.IsZero() && now.Sub(f.changedAt) >= draftPause
}

// saveDraft saves the content of the field, unless the chat has a window of its own.
func (c *conversation) saveDraft() {
	d := c.field.get()
	c.field.last, c.field.changedAt = d, time.Time{}
	if own := c.ui.chats.windows[c.key]; c.key != "" && (own == nil || own == c || d.text != "") {
		c.ui.drafts.save(c.key, d)
	}
}

// tickDraft saves the draft once the person pauses typing.
func (c *conversation) tickDraft(now time.Time) {
	if c.field.isDue(now) {
		c.saveDraft()
	}
}
