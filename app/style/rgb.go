package style

import (
	"image/color"
	"math"
	"strconv"

	"fyne.io/fyne/v2"
)

const rgbPrefix = "rgb:"

// RGB returns the name of any colour of text on [ColorCode], also in a search result, from six
// hexadecimal digits. The theme changes the colour as far as needed to make it legible.
func RGB(hex string) fyne.ThemeColorName { return fyne.ThemeColorName(rgbPrefix + hex) }

// tintAlpha is the opacity of a background, so that text of any colour stays legible on it.
const tintAlpha = 0x48

// Tint resolves a colour name for a background behind text.
func Tint(name fyne.ThemeColorName) color.Color {
	c := color.NRGBAModel.Convert(Color(name)).(color.NRGBA)
	c.A = tintAlpha
	return c
}

// minContrast is the minimum contrast ratio of text (WCAG 2).
const minContrast = 4.5

// legible mixes a colour with that of text until it has enough contrast with the ground.
func legible(hex string, ground, text color.Color) color.Color {
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		return text
	}
	return mixUntilLegible(color.NRGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 0xff}, ground, text)
}

// Legible returns a colour of text, changed as far as needed to make it legible on a ground.
func Legible(c, ground color.Color) color.Color {
	to := color.White
	if luminance(ground) > 0.18 { // black has more contrast there
		to = color.Black
	}
	return mixUntilLegible(color.NRGBAModel.Convert(c).(color.NRGBA), ground, to)
}

func mixUntilLegible(c color.NRGBA, ground, text color.Color) color.Color {
	to := color.NRGBAModel.Convert(text).(color.NRGBA)
	dark := luminance(ground)
	for range 12 {
		if l := luminance(c); (max(l, dark)+0.05)/(min(l, dark)+0.05) >= minContrast {
			return c
		}
		mix := func(a, b uint8) uint8 { return uint8((4*int(a) + int(b)) / 5) }
		c.R, c.G, c.B = mix(c.R, to.R), mix(c.G, to.G), mix(c.B, to.B)
	}
	return text
}

// luminance returns the relative luminance of a colour (WCAG 2).
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
