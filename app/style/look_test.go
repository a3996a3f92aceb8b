package style

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"fairlead/assets"
)

var variants = map[string]fyne.ThemeVariant{"light": theme.VariantLight, "dark": theme.VariantDark}

func rgb(t *testing.T, name fyne.ThemeColorName, v fyne.ThemeVariant) [3]float64 {
	t.Helper()
	c, ok := New(System, 1).Color(name, v).(color.NRGBA)
	if !ok {
		t.Fatalf("%s is not one of our colours", name)
	}
	var out [3]float64
	for i, b := range []uint8{c.R, c.G, c.B} {
		x := float64(b) / 255
		if x <= 0.04045 {
			out[i] = x / 12.92
		} else {
			out[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast is the contrast ratio of WCAG 2.
func contrast(a, b [3]float64) float64 {
	l := func(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }
	x, y := l(a), l(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestModeOverridesTheSystemsVariant(t *testing.T) {
	for _, v := range variants {
		if New(Dark, 1).Color(ColorSurface, v) != New(System, 1).Color(ColorSurface, theme.VariantDark) {
			t.Error("dark mode shows a light colour")
		}
		if New(Light, 1).Color(ColorSurface, v) != New(System, 1).Color(ColorSurface, theme.VariantLight) {
			t.Error("light mode shows a dark colour")
		}
	}
}

func TestTextSizeScalesTextOnly(t *testing.T) {
	small, large := New(System, 1), New(System, TextLargest)
	for _, name := range []fyne.ThemeSizeName{theme.SizeNameText, SizeCode, SizeSmall, SizeSidebar, SizeTitle} {
		if large.Size(name) <= small.Size(name) {
			t.Errorf("%s does not grow", name)
		}
	}
	for _, name := range []fyne.ThemeSizeName{theme.SizeNamePadding, theme.SizeNameInnerPadding, theme.SizeNameInputRadius} {
		if large.Size(name) != small.Size(name) {
			t.Errorf("%s: got a size that grows with the text, want the same size", name)
		}
	}
}

// Linear RGB as seen without one kind of cone (Machado, Oliveira, Fernandes 2009, severity 1).
var eyes = map[string][3][3]float64{
	"normal":      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"red-blind":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"green-blind": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"blue-blind":  {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func lab(c [3]float64, eye [3][3]float64) [3]float64 {
	var s [3]float64
	for i := range s {
		for j := range c {
			s[i] += eye[i][j] * c[j]
		}
		s[i] = min(max(s[i], 0), 1)
	}
	f := func(x float64) float64 {
		if x > 0.008856 {
			return math.Cbrt(x)
		}
		return 7.787*x + 16.0/116
	}
	x := f((0.4124*s[0] + 0.3576*s[1] + 0.1805*s[2]) / 0.95047)
	y := f(0.2126*s[0] + 0.7152*s[1] + 0.0722*s[2])
	z := f((0.0193*s[0] + 0.1192*s[1] + 0.9505*s[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(p, q [3]float64) float64 {
	return math.Sqrt(math.Pow(p[0]-q[0], 2) + math.Pow(p[1]-q[1], 2) + math.Pow(p[2]-q[2], 2))
}

func TestMachineColorsDifferForEveryKindOfColorVision(t *testing.T) {
	const apart = 15 // CIE76; 2.3 is just noticeable
	for vname, v := range variants {
		var list []fyne.ThemeColorName
		for i := range machinePairs {
			list = append(list, machineColor(i))
			for _, ground := range []fyne.ThemeColorName{theme.ColorNameBackground, ColorSurface, ColorSidebar, ColorHover, ColorSelected} {
				if got := contrast(rgb(t, machineColor(i), v), rgb(t, ground, v)); got < 3 {
					t.Errorf("%s: machine %d on %s has %.2f:1, want 3:1", vname, i, ground, got)
				}
			}
		}
		for eye, m := range eyes {
			for i, a := range list {
				if d := distance(lab(rgb(t, a, v), m), lab(rgb(t, ColorNeedsYou, v), m)); d < 12 {
					t.Errorf("%s, %s: %s is %.1f from needs you, want 12", vname, eye, a, d)
				}
				for _, b := range list[i+1:] {
					if d := distance(lab(rgb(t, a, v), m), lab(rgb(t, b, v), m)); d < apart {
						t.Errorf("%s, %s: %s and %s are %.1f apart, want %d", vname, eye, a, b, d, apart)
					}
				}
			}
		}
	}
}

func TestMachinesGetDifferentColorsAndKeepThem(t *testing.T) {
	var m Machines
	m.Add([]string{"laptop", "server", "nas", "tower", "pi", "phone", "box", "mini"})
	seen := map[fyne.ThemeColorName]string{}
	for id := range m.slots {
		c := m.Color(id)
		if other, ok := seen[c]; ok {
			t.Errorf("%s and %s have the same colour", id, other)
		}
		seen[c] = id
	}
	before := m.Color("server")
	m.Add([]string{"server", "another"})
	if m.Color("server") != before {
		t.Error("a known machine changed its colour")
	}
	if m.Color("never seen") == "" || (*Machines)(nil).Color("x") == "" {
		t.Error("an unknown machine has no colour")
	}
}

func TestChosenMachineColorLastsUntilReset(t *testing.T) {
	var m Machines
	m.Add([]string{"a", "b"})
	own := m.Color("a")
	for _, name := range Choices {
		m.SetColor("a", name)
		if m.Color("a") != ChoiceColor(name) {
			t.Errorf("%s is %s, want %s", name, m.Color("a"), ChoiceColor(name))
		}
	}
	m.Add([]string{"a"})
	m.SetColor("a", "")
	if m.Color("a") != own {
		t.Errorf("it is %s, was %s", m.Color("a"), own)
	}
}

func TestIconsFollowTheTheme(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, New(Light, 1))
	light := string(Icon("copy").Content())
	test.ApplyTheme(t, New(Dark, 1))
	if dark := string(Icon("copy").Content()); dark == light {
		t.Error("the icon has the same colour in light and dark")
	}
	for _, name := range fyneIcons {
		Icon(name)
	}
	if TrayIcon(assets.TrayNeedsYou, 3, false, assets.TrayInk).Name() == TrayIcon(assets.TrayNeedsYou, 4, false, assets.TrayInk).Name() {
		t.Error("Fyne would show a cached badge")
	}
}
