package conversation

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	_ "image/gif"  // the supported formats
	_ "image/jpeg" // these three only
	_ "image/png"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/gateway/peer/picture"
)

// pictures are the pictures of the messages of one conversation, by their keys.
type pictures struct {
	list   *transcript.View
	media  func(key string, done func(data []byte))
	loaded map[string]fyne.Resource
}

func newPictures(list *transcript.View, media func(string, func([]byte))) *pictures {
	return &pictures{list: list, media: media, loaded: map[string]fyne.Resource{}}
}

// of returns the pictures of keys, one per line, and loads missing ones.
func (p *pictures) of(keys string) []fyne.Resource {
	if keys == "" {
		return nil
	}
	var list []fyne.Resource
	for key := range strings.SplitSeq(keys, "\n") {
		if _, known := p.loaded[key]; !known {
			p.load(key, keys)
		}
		list = append(list, p.loaded[key])
	}
	return list
}

// load loads one of the pictures of a row; it is an icon until it arrives.
func (p *pictures) load(key, keys string) {
	p.loaded[key] = style.IconIn("image", style.ColorMuted)
	if data, inline := strings.CutPrefix(key, "data:"); inline {
		if raw, err := base64.StdEncoding.DecodeString(data); err == nil {
			p.loaded[key] = Drawable(key, raw)
		}
		return
	}
	p.media(key, func(data []byte) {
		p.loaded[key] = Drawable(key, data)
		for _, it := range p.list.Items() {
			if d, ok := it.Data.(messageData); ok && d.images == keys {
				p.list.Rebind(it.Key)
			}
		}
	})
}

// Drawable returns a picture as a resource with a unique name per content, because Fyne caches by
// name. One that cannot be decoded becomes a [transcript.Unreadable]: Fyne would try again, and log
// the error, each time it draws the window.
func Drawable(key string, data []byte) fyne.Resource {
	if _, err := picture.Open(data); err != nil {
		return &transcript.Unreadable{Resource: style.IconIn("image", style.ColorMuted), Data: data}
	}
	h := fnv.New64a()
	h.Write([]byte(key))
	h.Write(data)
	return fyne.NewStaticResource(fmt.Sprintf("picture-%x", h.Sum64()), picture.Repair(data))
}
