package style

import (
	"fmt"
	"hash/fnv"
	"slices"

	"fyne.io/fyne/v2"
)

// The machines' colours: each at least 3:1 from the window's grounds, and apart from each other and from the colour of *needs
// you* for normal, red-blind, green-blind and blue-blind eyes (a test computes it). They were searched for with these rules.
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

// Machines gives each machine a colour of its own, the same in every window and after a restart as long as the same machines
// are known. The zero value is ready; it belongs to the GUI thread.
type Machines struct {
	slots  map[string]int
	chosen map[string]int // by the person
	names  map[string]string
}

// chosenSlots are the colours that a person can choose, by the names that the gateway keeps. Two names share a slot: red is the colour of errors.
var chosenSlots = map[string]int{"blue": 0, "pink": 1, "red": 1, "teal": 2, "green": 3, "purple": 4, "yellow": 5, "orange": 6, "grey": 7}

// Choices are the names of the colours that a person can choose for a machine, each of another colour.
var Choices = []string{"blue", "pink", "teal", "green", "purple", "yellow", "orange", "grey"}

// ChoiceColor is the colour of a name of [Choices].
func ChoiceColor(name string) fyne.ThemeColorName { return machineColor(chosenSlots[name]) }

// Call gives a machine a name to be shown by; empty is its id again.
func (m *Machines) Call(id, name string) {
	if m.names == nil {
		m.names = map[string]string{}
	}
	m.names[id] = name
}

// Name is what a machine is shown by: its id where it has no other name.
func (m *Machines) Name(id string) string {
	if m != nil && m.names[id] != "" {
		return m.names[id]
	}
	return id
}

// Choose gives a machine the colour of a name of [Choices]; empty is one of ours again.
func (m *Machines) Choose(id, name string) {
	slot, ok := chosenSlots[name]
	if !ok {
		delete(m.chosen, id)
		return
	}
	if m.chosen == nil {
		m.chosen = map[string]int{}
	}
	m.chosen[id] = slot
}

// Know tells which machines there are. Colours of machines that stay known do not change.
func (m *Machines) Know(ids []string) {
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
		for i := range machinePairs { // the first free colour from the machine's own on, else the least used
			c := (slot + i) % len(machinePairs)
			if best < 0 || taken[c] < taken[best] {
				best = c
			}
		}
		m.slots[id] = best
		taken[best]++
	}
}

// Color is the colour of a machine. One that is not known gets the colour that its name stands for.
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
