package widgets

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
)

func TestScreenReadersGetNamesAndStates(t *testing.T) {
	widgettest.Window(t, NewText("", "", "text"), 100, 100)
	name, secret, choice, check := NewEntry(), NewPasswordEntry(), NewSelect([]string{"Daily", "Weekly"}, nil), NewCheckBox("Wrap lines", nil)
	name.SetText("Anna")
	secret.SetText("hush")
	choice.SetSelected("Weekly")
	NewField("Name", name)
	NewField("Key", secret)
	NewField("Repeats", Row(0, 0, choice))
	check.SetChecked(true)
	brief := NewHoverText()
	brief.Set("9:05", "Saturday, 9:05", style.ColorMuted)
	hidden := NewText("hidden", "", "text")
	hidden.Hide()
	card := NewClickable(Row(0, 0, NewHeading("Backup", "text"), brief, hidden), nil)
	list := NewItemList(nil)
	list.Set([]ListItem{{Title: "Backup", Detail: "daily"}})
	for want, o := range map[string]fyne.Accessible{
		"Delete": NewIconButton("trash", "Delete", nil), "Save": NewButton("Save", "check", nil),
		"Name, Anna": name, "Key": secret, "Repeats, Weekly": choice, "Wrap lines, checked": check,
		"Backup, Saturday, 9:05": card, "Read all of it, not checked": NewCheck("Read all of it", nil).Box,
		"Ann, 3, unread": NewSidebarRow(SidebarItem{Title: "Ann", Count: 3, Unread: true}, nil), "List of 1, Backup, daily": list,
	} {
		if got := o.AccessibilityLabel(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, o := range []fyne.Accessible{card, choice, check, NewSidebarRow(SidebarItem{}, nil)} {
		if got := o.AccessibilityRole(); got != fyne.AccessibleRoleButton {
			t.Errorf("%T: got the role %s, want %s", o, got, fyne.AccessibleRoleButton)
		}
	}
}

func TestKeyIsShownByButton(t *testing.T) {
	key := NewPasswordEntry()
	widgettest.Window(t, key, 200, 40)
	show := widgettest.Find(key, func(b *Button) bool { return b.Icon == "eye" })
	show.Tapped(nil)
	if key.Password {
		t.Error("the text is still hidden")
	}
}
