package app

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"

	"fairlead/app/chat"
	"fairlead/gateway/protocol"
)

// draftDir is the folder of the files with pictures, in the folder of the preferences.
const draftDir = "drafts"

// draftPictures is the content of the file with a draft's pictures, which are too large for the
// preferences.
type draftPictures struct {
	Chat     protocol.SessionKey   `json:"chat"`
	Pictures []protocol.Attachment `json:"pictures"`
}

// draftFiles saves drafts with the preferences. It implements [chat.DraftStore].
type draftFiles struct{ backend *backend }

// loadDrafts returns the drafts that were saved before the last restart.
func loadDrafts(b *backend) *chat.Drafts {
	pictures := make(map[protocol.SessionKey][]protocol.Attachment)
	for saved := range readFiles[draftPictures](b.prefs, draftDir) {
		pictures[saved.Chat] = saved.Pictures
	}
	return chat.NewDrafts(draftFiles{b}, b.prefs.get().Drafts, pictures)
}

// SaveText implements [chat.DraftStore].
func (d draftFiles) SaveText(key protocol.SessionKey, text string) {
	d.backend.prefs.update(func(r *preferences) {
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

// SavePictures implements [chat.DraftStore].
func (d draftFiles) SavePictures(key protocol.SessionKey, pictures []protocol.Attachment) {
	sum := sha256.Sum256([]byte(key)) // a key has characters that file names cannot have
	name := filepath.Join(draftDir, hex.EncodeToString(sum[:8])+".json")
	if len(pictures) == 0 {
		d.backend.prefs.saveFile(name, nil)
		return
	}
	d.backend.prefs.saveFile(name, draftPictures{key, pictures})
}
