package style

import (
	"fmt"
	"hash/fnv"
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Names of colours in addition to Fyne's, for [Color] and text segments.
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
	ColorFound     fyne.ThemeColorName = "flFound" // background of a search result
	// further colours of text, for the output of programs
	ColorYellow  fyne.ThemeColorName = "flYellow"
	ColorMagenta fyne.ThemeColorName = "flMagenta"
	ColorCyan    fyne.ThemeColorName = "flCyan"
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
	ColorNeedsYou:             {0x965E00, 0xF0B04A},
	ColorOnNeeds:              {0xFFFFFF, 0x17181A},
	ColorGood:                 {0x1C7A42, 0x5CC689},
	ColorBad:                  {0xB3261E, 0xFF8A80},
	ColorHover:                {0xEFEFEC, 0x26292D},
	ColorSelected:             {0xE6ECF5, 0x26303F},
	ColorCode:                 {0xF6F6F4, 0x191B1D},
	ColorAddedBg:              {0xE5F4EA, 0x1B2F24},
	ColorRemovedBg:            {0xFBE9E7, 0x3A2322},
	ColorFound:                {0xFFEBB0, 0x42340F},

	ColorYellow:  {0x7A5A00, 0xE5C04F},
	ColorMagenta: {0x8A2E8F, 0xD6A1E8},
	ColorCyan:    {0x0B6573, 0x63C9D6},

	ColorPaper: {0xFFFFFF, 0xFFFFFF},

	SyntaxKeyword: {0x8A2E8F, 0xD6A1E8},
	SyntaxString:  {0x1C6B3A, 0x8FCF9F},
	SyntaxNumber:  {0x9A4A00, 0xEBB072},
	SyntaxComment: {0x62656B, 0x9BA0A8},
	SyntaxName:    {0x1F5FBF, 0x8FBBFF},

	theme.ColorNameHyperlink:           {0x1F5FBF, 0x6EA8FF},
	theme.ColorNameFocus:               {0xD3E1F7, 0x2B4468},
	theme.ColorNameSelection:           {0xE2EDFC, 0x233857},
	theme.ColorNameButton:              {0xEFEFEC, 0x2A2D31},
	theme.ColorNameDisabledButton:      {0xF3F3F1, 0x222427},
	theme.ColorNameDisabled:            {0x8A8D93, 0x767B83},
	theme.ColorNamePressed:             {0xE3E3DE, 0x33373C},
	theme.ColorNameError:               {0xB3261E, 0xFF8A80},
	theme.ColorNameForegroundOnError:   {0xFFFFFF, 0x17181A},
	theme.ColorNameSuccess:             {0x1C7A42, 0x5CC689},
	theme.ColorNameForegroundOnSuccess: {0xFFFFFF, 0x17181A},
	theme.ColorNameWarning:             {0x965E00, 0xF0B04A},
	theme.ColorNameForegroundOnWarning: {0xFFFFFF, 0x17181A},
	theme.ColorNameHeaderBackground:    {0xF3F3F1, 0x222427},
	theme.ColorNameInputBackground:     {0xFFFFFF, 0x1E2023},
	theme.ColorNameInputBorder:         {0x8E9197, 0x656B74},
	theme.ColorNameMenuBackground:      {0xFFFFFF, 0x24272B},
	theme.ColorNameOverlayBackground:   {0xFFFFFF, 0x1E2023},
	theme.ColorNamePlaceHolder:         {0x62656B, 0x9BA0A8},
	theme.ColorNameScrollBar:           {0x9A9DA3, 0x5C626B},
	theme.ColorNameSeparator:           {0xE4E4E0, 0x2C2F33},
}

// Color resolves a colour name in the running theme.
func Color(name fyne.ThemeColorName) color.Color {
	return current().Color(name, fyne.CurrentApp().Settings().ThemeVariant())
}

// The machines' colours: each has a contrast of at least 3:1 with the backgrounds of pages and
// rows, and all are distinguishable from each other and from the *needs you* colour for normal,
// red-blind, green-blind and blue-blind eyes (a test computes this). They were found by a search
// with these conditions.
var machinePairs = [8]pair{
	{0x5078FA, 0x8CBEFA}, // blue
	{0xD250B4, 0xC643A3}, // magenta
	{0x0A5A6E, 0x46F0DC}, // teal
	{0x309228, 0xC8E696}, // green
	{0x50148C, 0x8C78FA}, // violet
	{0x505000, 0xB4B496}, // olive
	{0xAA7864, 0xA56C29}, // brown
	{0x283C32, 0x827864}, // slate
}

func machineColor(i int) fyne.ThemeColorName {
	return fyne.ThemeColorName(fmt.Sprintf("flMachine%d", i))
}

func init() {
	for i, p := range machinePairs {
		colors[machineColor(i)] = p
	}
}

// Machines assigns a colour to each machine: the same in every window, and after a restart if the
// same machines are known. The zero value is ready to use; it belongs to the GUI thread.
type Machines struct {
	slots  map[string]int
	chosen map[string]int // chosen by the person
	names  map[string]string
	// servers are the MCP servers, whose tools are called like those of a machine.
	servers map[string]bool
}

// Choices are the names of the colours that a person can choose for a machine, in the order of the
// palette. Red, orange and yellow are not among them: they mark errors and what needs the person.
var Choices = []string{"blue", "pink", "teal", "green", "purple", "olive", "brown", "grey"}

// ChoiceColor returns the colour for a name of [Choices].
func ChoiceColor(name string) fyne.ThemeColorName { return machineColor(slices.Index(Choices, name)) }

// SetName sets a machine's display name; empty restores its ID.
func (m *Machines) SetName(id, name string) {
	if m.names == nil {
		m.names = map[string]string{}
	}
	m.names[id] = name
}

// Name returns a machine's display name, or its ID if it has none.
func (m *Machines) Name(id string) string {
	if m != nil && m.names[id] != "" {
		return m.names[id]
	}
	return id
}

// SetServers sets which names are those of MCP servers.
func (m *Machines) SetServers(names []string) {
	m.servers = make(map[string]bool)
	for _, n := range names {
		m.servers[n] = true
	}
}

// IsServer reports whether an ID is the name of an MCP server.
func (m *Machines) IsServer(id string) bool { return m.servers[id] }

// SetColor sets a machine's colour to one of [Choices]; empty restores the automatic colour.
func (m *Machines) SetColor(id, name string) {
	slot := slices.Index(Choices, name)
	if slot < 0 {
		delete(m.chosen, id)
		return
	}
	if m.chosen == nil {
		m.chosen = map[string]int{}
	}
	m.chosen[id] = slot
}

// Add sets the known machines. Machines that were known before keep their colours.
func (m *Machines) Add(ids []string) {
	if m.slots == nil {
		m.slots = map[string]int{}
	}
	ids = slices.Sorted(slices.Values(ids))
	for id := range m.slots {
		if !slices.Contains(ids, id) {
			delete(m.slots, id)
		}
	}
	taken := map[int]int{}
	for _, slot := range m.slots {
		taken[slot]++
	}
	for _, id := range ids {
		if _, ok := m.slots[id]; ok {
			continue
		}
		slot, best := slotOf(id), -1
		// the first free colour, starting at the machine's preferred one, else the least used one
		for i := range machinePairs {
			c := (slot + i) % len(machinePairs)
			if best < 0 || taken[c] < taken[best] {
				best = c
			}
		}
		m.slots[id] = best
		taken[best]++
	}
}

// Color returns a machine's colour. An unknown machine gets the preferred colour of its name.
func (m *Machines) Color(id string) fyne.ThemeColorName {
	if m != nil {
		if slot, ok := m.chosen[id]; ok {
			return machineColor(slot)
		}
		if slot, ok := m.slots[id]; ok {
			return machineColor(slot)
		}
	}
	return machineColor(slotOf(id))
}

func slotOf(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % uint32(len(machinePairs)))
}
