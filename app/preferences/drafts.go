package preferences

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"

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

// Drafts saves drafts with the preferences. It implements chat.DraftStore.
type Drafts struct{ Store *Store }

// Load returns the drafts that were saved before the last restart. It waits for the disk.
func (d Drafts) Load() (texts map[protocol.SessionKey]string, pictures map[protocol.SessionKey][]protocol.Attachment) {
	pictures = make(map[protocol.SessionKey][]protocol.Attachment)
	for saved := range readFiles[draftPictures](d.Store, draftDir) {
		pictures[saved.Chat] = saved.Pictures
	}
	return d.Store.Get().Drafts, pictures
}

// SaveText implements chat.DraftStore.
func (d Drafts) SaveText(key protocol.SessionKey, text string) {
	d.Store.Update(func(r *Preferences) {
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

// SavePictures implements chat.DraftStore.
func (d Drafts) SavePictures(key protocol.SessionKey, pictures []protocol.Attachment) {
	sum := sha256.Sum256([]byte(key)) // a key has characters that file names cannot have
	name := filepath.Join(draftDir, hex.EncodeToString(sum[:8])+".json")
	if len(pictures) == 0 {
		d.Store.saveFile(name, nil)
		return
	}
	d.Store.saveFile(name, draftPictures{key, pictures})
}
