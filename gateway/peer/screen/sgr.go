package screen

import "github.com/charmbracelet/x/ansi"

// set carries out CSI m.
func (pen *Style) set(params ansi.Params) {
	if len(params) == 0 {
		*pen = Style{link: pen.link}
	}
	for i := 0; i < len(params); i++ {
		n := params[i].Param(0)
		group := i // the last parameter that belongs to this one, joined by colons
		for group < len(params)-1 && params[group].HasMore() {
			group++
		}
		switch {
		case n == 38, n == 48:
			color, last, ok := extendedColor(params, i, group)
			if ok && n == 38 {
				pen.Foreground = color
			} else if ok {
				pen.Background = color
			}
			group = last
		case n == 58: // the colour of underlines is not stored
			_, group, _ = extendedColor(params, i, group)
		case n == 4 && group > i:
			pen.setUnderline(params[i+1].Param(1))
		default:
			pen.setAttribute(n)
		}
		i = group
	}
}

// extendedColor reads the colour after parameter i: 5 and an index, or 2 and three values, either
// as further parameters or joined by colons up to group. last is its last parameter.
func extendedColor(params ansi.Params, i, group int) (color Color, last int, ok bool) {
	values := params[i+1:]
	joined := group > i
	if joined {
		values = params[i+1 : group+1]
	}
	if len(values) == 0 {
		return 0, group, false
	}
	at := func(i int) Color { return Color(min(max(values[i].Param(0), 0), 255)) }
	used := 1
	switch values[0].Param(0) {
	case 5:
		if len(values) > 1 {
			color, used, ok = paletteColor|at(1), 2, true
		}
	case 2:
		first := 1
		if joined && len(values) > 4 { // with the number of a colour space, which has no use
			first = 2
		}
		if len(values) >= first+3 {
			color, used, ok = directColor|at(first)<<16|at(first+1)<<8|at(first+2), first+3, true
		} else {
			used = len(values)
		}
	}
	if joined {
		return color, group, ok
	}
	return color, i + used, ok
}

func (pen *Style) setUnderline(kind int) {
	pen.Attributes &^= anyUnderline
	switch kind {
	case 0:
	case 2:
		pen.Attributes |= DoubleUnderline
	case 3:
		pen.Attributes |= CurlyUnderline
	default:
		pen.Attributes |= Underline
	}
}

var attributesOn = [...]Attributes{1: Bold, 2: Faint, 3: Italic, 5: Blink, 6: Blink, 7: Inverse, 8: Hidden, 9: Strike}

var attributesOff = [...]Attributes{
	22: Bold | Faint, 23: Italic, 24: anyUnderline, 25: Blink, 27: Inverse, 28: Hidden, 29: Strike,
	55: Overline,
}

func (pen *Style) setAttribute(n int) {
	switch {
	case n == 0:
		*pen = Style{link: pen.link}
	case n == 4:
		pen.setUnderline(1)
	case n == 21:
		pen.setUnderline(2)
	case n == 53:
		pen.Attributes |= Overline
	case n == 39:
		pen.Foreground = 0
	case n == 49:
		pen.Background = 0
	case n >= 30 && n <= 37:
		pen.Foreground = paletteColor | Color(n-30)
	case n >= 40 && n <= 47:
		pen.Background = paletteColor | Color(n-40)
	case n >= 90 && n <= 97:
		pen.Foreground = paletteColor | Color(n-90+8)
	case n >= 100 && n <= 107:
		pen.Background = paletteColor | Color(n-100+8)
	case n > 0 && n < len(attributesOn):
		pen.Attributes |= attributesOn[n]
	case n > 0 && n < len(attributesOff):
		pen.Attributes &^= attributesOff[n]
	}
}
