package style

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Names of colours in addition to Fyne's. A widget resolves them with [Color], or assigns them to a
// text segment.
const (
	ColorSurface   fyne.ThemeColorName = "flSurface" // cards, inputs, dialogs
	ColorSidebar   fyne.ThemeColorName = "flSidebar"
	ColorLine      fyne.ThemeColorName = "flLine" // one-pixel separators
	ColorText                          = theme.ColorNameForeground
	ColorMuted     fyne.ThemeColorName = "flMuted"
	ColorAccent                        = theme.ColorNamePrimary
	ColorOnAccent                      = theme.ColorNameForegroundOnPrimary
	ColorNeedsYou  fyne.ThemeColorName = "flNeedsYou"
	ColorOnNeeds   fyne.ThemeColorName = "flOnNeedsYou" // text on a badge
	ColorGood      fyne.ThemeColorName = "flGood"
	ColorBad       fyne.ThemeColorName = "flBad"
	ColorHover                         = theme.ColorNameHover
	ColorSelected  fyne.ThemeColorName = "flSelected" // a selected row
	ColorCode      fyne.ThemeColorName = "flCode"     // background of code and output
	ColorAddedBg   fyne.ThemeColorName = "flAddedBg"
	ColorRemovedBg fyne.ThemeColorName = "flRemovedBg"
	ColorFound     fyne.ThemeColorName = "flFound"    // background of a search result
	ColorFoundNow  fyne.ThemeColorName = "flFoundNow" // background of the current search result
	// white in both variants: the background of a QR code
	ColorPaper fyne.ThemeColorName = "flPaper"

	SyntaxKeyword fyne.ThemeColorName = "flSynKeyword"
	SyntaxString  fyne.ThemeColorName = "flSynString"
	SyntaxNumber  fyne.ThemeColorName = "flSynNumber"
	SyntaxComment fyne.ThemeColorName = "flSynComment"
	SyntaxName    fyne.ThemeColorName = "flSynName" // functions, types, tags
)

// pair is a colour in the light and the dark variant.
type pair struct{ light, dark uint32 }

var colors = map[fyne.ThemeColorName]pair{
	theme.ColorNameBackground: {0xFBFBFA, 0x17181A},
	ColorSurface:              {0xFFFFFF, 0x1E2023},
	ColorSidebar:              {0xF3F3F1, 0x131416},
	ColorLine:                 {0xE4E4E0, 0x2C2F33},
	ColorText:                 {0x1B1C1E, 0xE9EAEC},
	ColorMuted:                {0x62656B, 0x9BA0A8},
	ColorAccent:               {0x1F5FBF, 0x6EA8FF},
	ColorOnAccent:             {0xFFFFFF, 0x101418},
	ColorNeedsYou:             {0xB26A00, 0xF0B04A},
	ColorOnNeeds:              {0xFFFFFF, 0x17181A},
	ColorGood:                 {0x1C7C43, 0x5CC689},
	ColorBad:                  {0xB3261E, 0xFF8A80},
	ColorHover:                {0xEFEFEC, 0x26292D},
	ColorSelected:             {0xE6ECF5, 0x26303F},
	ColorCode:                 {0xF6F6F4, 0x191B1D},
	ColorAddedBg:              {0xE5F4EA, 0x1B2F24},
	ColorRemovedBg:            {0xFBE9E7, 0x3A2322},
	ColorFound:                {0xFFE9A8, 0x5A4716},
	ColorFoundNow:             {0xFFC24D, 0x8A6A12},

	ColorPaper: {0xFFFFFF, 0xFFFFFF},

	SyntaxKeyword: {0x8A2E8F, 0xD6A1E8},
	SyntaxString:  {0x1C6B3A, 0x8FCF9F},
	SyntaxNumber:  {0x9A4A00, 0xEBB072},
	SyntaxComment: {0x62656B, 0x9BA0A8},
	SyntaxName:    {0x1F5FBF, 0x8FBBFF},

	theme.ColorNameHyperlink:           {0x1F5FBF, 0x6EA8FF},
	theme.ColorNameFocus:               {0xD3E1F7, 0x2B4468},
	theme.ColorNameSelection:           {0xC9DCF8, 0x2F4C75},
	theme.ColorNameButton:              {0xEFEFEC, 0x2A2D31},
	theme.ColorNameDisabledButton:      {0xF3F3F1, 0x222427},
	theme.ColorNameDisabled:            {0x8A8D93, 0x767B83},
	theme.ColorNamePressed:             {0xDDDDD8, 0x34383D},
	theme.ColorNameError:               {0xB3261E, 0xFF8A80},
	theme.ColorNameForegroundOnError:   {0xFFFFFF, 0x17181A},
	theme.ColorNameSuccess:             {0x1C7C43, 0x5CC689},
	theme.ColorNameForegroundOnSuccess: {0xFFFFFF, 0x17181A},
	theme.ColorNameWarning:             {0xB26A00, 0xF0B04A},
	theme.ColorNameForegroundOnWarning: {0xFFFFFF, 0x17181A},
	theme.ColorNameHeaderBackground:    {0xF3F3F1, 0x222427},
	theme.ColorNameInputBackground:     {0xFFFFFF, 0x1E2023},
	theme.ColorNameInputBorder:         {0x8E9197, 0x646A73},
	theme.ColorNameMenuBackground:      {0xFFFFFF, 0x24272B},
	theme.ColorNameOverlayBackground:   {0xFFFFFF, 0x1E2023},
	theme.ColorNamePlaceHolder:         {0x62656B, 0x9BA0A8},
	theme.ColorNameScrollBar:           {0x9A9DA3, 0x5C626B},
	theme.ColorNameSeparator:           {0xE4E4E0, 0x2C2F33},

	theme.ColorNameInnerWindowBorder:         {0xE4E4E0, 0x2C2F33},
	theme.ColorNameInnerWindowBorderInactive: {0xE4E4E0, 0x2C2F33},
}

// Color resolves a colour name in the running theme.
func Color(name fyne.ThemeColorName) color.Color {
	s := fyne.CurrentApp().Settings()
	if t, ok := s.Theme().(*Theme); ok {
		return t.Color(name, s.ThemeVariant())
	}
	if c, ok := lookup(name, s.ThemeVariant()); ok {
		return c
	}
	return s.Theme().Color(name, s.ThemeVariant())
}

func lookup(name fyne.ThemeColorName, v fyne.ThemeVariant) (color.Color, bool) {
	p, ok := colors[name]
	if !ok {
		return nil, false
	}
	rgb := p.light
	if v == theme.VariantDark {
		rgb = p.dark
	}
	return color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xff}, true
}
