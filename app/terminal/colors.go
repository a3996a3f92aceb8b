package terminal

import (
	"image/color"

	"fairlead/app/style"
	"fairlead/gateway/peer/screen"
)

// basic are the 16 colours of terminals, for dark and for light windows.
var basic = [2][16]uint32{
	{
		0x3A3F47, 0xE0605E, 0x5CC689, 0xE5C04F, 0x6EA8FF, 0xD6A1E8, 0x63C9D6, 0xC9CDD3,
		0x767B83, 0xFF8A80, 0x8FE3B0, 0xFFDD7A, 0x9CC4FF, 0xE8C2F5, 0x95E2EC, 0xFFFFFF,
	},
	{
		0x24272B, 0xB3261E, 0x1C7A42, 0x7A5A00, 0x1F5FBF, 0x8A2E8F, 0x0B6573, 0xC9CCD1,
		0x62656B, 0xC93A32, 0x248F50, 0x8F6A00, 0x3272D2, 0xA046A5, 0x147E8F, 0xFFFFFF,
	},
}

// ink is how a cell is painted.
type ink struct {
	text, ground color.NRGBA
	hasGround    bool // other than that of the screen
}

// inks resolves colours. They depend on the theme, so they are forgotten with it.
type inks struct {
	known        map[screen.Style]ink
	text, ground color.NRGBA
}

func newInks() *inks {
	return &inks{known: map[screen.Style]ink{}, text: rgb(style.Color(style.ColorText)), ground: rgb(style.Color(style.ColorCode))}
}

func rgb(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }

// maxInks bounds the memory; a picture in true colour has a style for each cell.
const maxInks = 4096

// of returns how a cell of a style is painted. Text is legible on any ground.
func (n *inks) of(s screen.Style) ink {
	s = s.Look()
	if i, ok := n.known[s]; ok {
		return i
	}
	text, ground := n.color(s.Foreground, n.text), n.color(s.Background, n.ground)
	if s.Attributes&screen.Inverse != 0 {
		text, ground = ground, text
	}
	if s.Attributes&screen.Faint != 0 {
		text = mix(text, ground)
	}
	i := ink{rgb(style.Legible(text, ground)), ground, ground != n.ground}
	if s.Attributes&screen.Hidden != 0 {
		i.text = ground
	}
	if len(n.known) >= maxInks {
		clear(n.known)
	}
	n.known[s] = i
	return i
}

func mix(a, b color.NRGBA) color.NRGBA {
	half := func(a, b uint8) uint8 { return uint8((int(a) + int(b)) / 2) }
	return color.NRGBA{half(a.R, b.R), half(a.G, b.G), half(a.B, b.B), 0xff}
}

// color resolves a colour; standard is what the default means here.
func (n *inks) color(c screen.Color, standard color.NRGBA) color.NRGBA {
	if r, g, b, ok := c.RGB(); ok {
		return color.NRGBA{r, g, b, 0xff}
	}
	index, ok := c.Palette()
	if !ok {
		return standard
	}
	switch i := int(index); {
	case i < 16:
		v := basic[0][i]
		if isLight(n.ground) {
			v = basic[1][i]
		}
		return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
	case i < 232: // a cube of 6 steps a side
		step := func(v int) uint8 {
			if v == 0 {
				return 0
			}
			return uint8(55 + 40*v)
		}
		i -= 16
		return color.NRGBA{step(i / 36), step(i / 6 % 6), step(i % 6), 0xff}
	default: // greys
		v := uint8(8 + 10*(i-232))
		return color.NRGBA{v, v, v, 0xff}
	}
}

func isLight(c color.NRGBA) bool { return int(c.R)+int(c.G)+int(c.B) > 3*128 }
