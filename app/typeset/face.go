package typeset

import (
	"io"
	"log"
	"log/slog"
	"sync"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"

	"fairlead/app/fonts"
)

// Style is the appearance of a run of text.
type Style struct {
	Bold, Italic, Mono bool
	Size               float32
}

// faces are the fonts of a style: its own, and the fallbacks for missing characters.
type faces struct {
	style Style // without its size
	all   []*font.Face
	spare bool // all includes the emoji font
	// the symbol font, for arrows and other signs; for letters the system's fonts come first
	signs  *font.Face
	lacks  map[rune]bool // characters that no font has
	blocks map[rune]int  // number of those in each block of 256 characters
}

// families are the fonts in use, by style without its size.
var families = map[Style]*faces{}

// systemFonts reads the list of the system's fonts once. It is nil if they cannot be listed.
var systemFonts = sync.OnceValue(func() *fontscan.FontMap {
	m := fontscan.NewFontMap(log.New(io.Discard, "", 0))
	if err := m.UseSystemFonts(""); err != nil {
		slog.Info("The fonts of this computer cannot be listed", "err", err)
		return nil
	}
	return m
})

func facesFor(s Style) *faces {
	s.Size = 0
	f := families[s]
	if f == nil {
		f = &faces{style: s, lacks: map[rune]bool{}, blocks: map[rune]int{}}
		f.add(theme.DefaultTheme().Font(fyne.TextStyle{Bold: s.Bold, Italic: s.Italic, Monospace: s.Mono}))
		families[s] = f
	}
	return f
}

func (f *faces) add(r fyne.Resource) {
	if face := newFace(r); face != nil {
		f.all = append(f.all, face)
	}
}

func newFace(r fyne.Resource) *font.Face {
	if parsed := fonts.Parse(r); parsed != nil {
		return font.NewFace(parsed)
	}
	return nil
}

func hasGlyph(face *font.Face, r rune) bool {
	if face == nil {
		return false
	}
	_, ok := face.NominalGlyph(r)
	return ok
}

// maxBlockTries limits failed lookups per 256 characters: each takes a third of a millisecond.
const maxBlockTries = 8

// ResolveFace implements shaping.Fontmap.
func (f *faces) ResolveFace(r rune) *font.Face {
	if face := f.loadedFaceWith(r); face != nil {
		return face
	}
	if !f.spare {
		f.spare = true
		f.add(theme.DefaultEmojiFont())
		f.signs = newFace(theme.DefaultTextMonospaceFont())
		if face := f.loadedFaceWith(r); face != nil {
			return face
		}
	}
	sign := hasGlyph(f.signs, r)
	if sign && !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return f.signs
	}
	if !f.lacks[r] && f.blocks[r>>8] < maxBlockTries {
		if face := f.find(r); face != nil {
			f.all = append(f.all, face)
			return face
		}
		f.lacks[r] = true
		f.blocks[r>>8]++
	}
	if sign {
		return f.signs
	}
	return f.all[0]
}

func (f *faces) loadedFaceWith(r rune) *font.Face {
	for _, face := range f.all {
		if hasGlyph(face, r) {
			return face
		}
	}
	return nil
}

// find looks for a character in the system's fonts.
func (f *faces) find(r rune) *font.Face {
	system := systemFonts()
	if system == nil {
		return nil
	}
	name, aspect := fontscan.SansSerif, font.Aspect{Style: font.StyleNormal, Weight: font.WeightNormal}
	if f.style.Mono {
		name = fontscan.Monospace
	}
	if f.style.Italic {
		aspect.Style = font.StyleItalic
	}
	if f.style.Bold {
		aspect.Weight = font.WeightBold
	}
	system.SetQuery(fontscan.Query{Families: []string{name}, Aspect: aspect})
	system.SetScript(language.LookupScript(r))
	face := system.ResolveFace(r)
	if !hasGlyph(face, r) {
		return nil
	}
	return face
}
