// Package fonts lets all text share the parsed fonts.
package fonts

import (
	"bytes"
	"log/slog"
	"sync"

	"fyne.io/fyne/v2"
	"github.com/go-text/typesetting/font"
)

// parsing has the functions that parse a font once.
var parsing struct {
	mu  sync.Mutex // guards all
	all map[fyne.Resource]func() *font.Font
}

// Parse parses a font of the program on the first call, and returns the same font from then on; nil
// if r is nil or broken. It is safe for concurrent use, and so is a font; a [font.Face] is not.
func Parse(r fyne.Resource) *font.Font {
	if r == nil {
		return nil
	}
	parsing.mu.Lock()
	if parsing.all == nil {
		parsing.all = make(map[fyne.Resource]func() *font.Font)
	}
	once, ok := parsing.all[r]
	if !ok {
		once = sync.OnceValue(func() *font.Font { return parse(r) })
		parsing.all[r] = once
	}
	parsing.mu.Unlock()
	return once()
}

func parse(r fyne.Resource) *font.Font {
	face, err := font.ParseTTF(bytes.NewReader(r.Content()))
	if err != nil {
		slog.Error("A font cannot be read", "name", r.Name(), "err", err)
		return nil
	}
	return face.Font
}

// face returns a new face of a font of the program; nil if the font is broken.
func face(r fyne.Resource) *font.Face {
	if f := Parse(r); f != nil {
		return font.NewFace(f)
	}
	return nil
}
