package pagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead/app/notify"
)

// Notifier records which notifications are shown and removed.
type Notifier struct{ Did []string }

// Show implements notifications.Notifier.
func (n *Notifier) Show(m notify.Message) {
	n.Did = append(n.Did, fmt.Sprintf("show %s %q allow %v deny %v", m.ID, m.Title, m.Allow, m.Deny))
}

// Remove implements notifications.Notifier.
func (n *Notifier) Remove(id string) { n.Did = append(n.Did, "remove "+id) }

// Wants returns a function that checks the actions since its previous call, in any order.
func (n *Notifier) Wants(t *testing.T) func(did ...string) {
	return func(did ...string) {
		t.Helper()
		slices.Sort(n.Did)
		if got, want := strings.Join(n.Did, "; "), strings.Join(did, "; "); got != want {
			t.Errorf("did %s, want %s", got, want)
		}
		n.Did = nil
	}
}
