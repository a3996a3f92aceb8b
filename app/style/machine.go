package style

import (
	"fmt"
	"hash/fnv"
	"slices"

	"fyne.io/fyne/v2"
)

// The machines' colours: each has a contrast of at least 3:1 with the window's backgrounds, and all
// are distinguishable from each other and from the *needs you* colour for normal, red-blind,
// green-blind and blue-blind eyes (a test computes this). They were found by a search with these
// conditions.
var machinePairs = [8]pair{
	{0x5078FA, 0x8CBEFA}, // blue
	{0xD250B4, 0xBE2896}, // magenta
	{0x0A5A6E, 0x46F0DC}, // teal
	{0x32A028, 0xC8E696}, // green
	{0x50148C, 0x8C78FA}, // violet
	{0x505000, 0xB4B496}, // olive
	{0xAA7864, 0xA0641E}, // brown
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
}

// choiceSlots are the colours that a person can choose, by the names in the gateway. Two names
// share a slot: red is the colour of errors.
var choiceSlots = map[string]int{"blue": 0, "pink": 1, "red": 1, "teal": 2, "green": 3, "purple": 4, "yellow": 5, "orange": 6, "grey": 7}

// Choices are the names of the colours that a person can choose for a machine, all different.
var Choices = []string{"blue", "pink", "teal", "green", "purple", "yellow", "orange", "grey"}

// ChoiceColor returns the colour for a name of [Choices].
func ChoiceColor(name string) fyne.ThemeColorName { return machineColor(choiceSlots[name]) }

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

// SetColor sets a machine's colour to one of [Choices]; empty restores the automatic colour.
func (m *Machines) SetColor(id, name string) {
	slot, ok := choiceSlots[name]
	if !ok {
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
