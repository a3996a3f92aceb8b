package main

import "testing"

func TestPathOfASettingCoversItsFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field, path string
		want        bool
	}{
		{"network.listen", "network.listen", true},
		{"network.listen", "network", true},
		{"network.listen", "network.enabled", false},
		{"channels.*.owners", "channels.xmpp.owners", true},
		{"channels.*.owners", "channels.xmpp", true},
		{"channels.*.owners", "skills.xmpp", false},
		{"agents.list", "agents.list.0.id", true},
	} {
		t.Run(c.field+" by "+c.path, func(t *testing.T) {
			t.Parallel()
			if got := overlaps(c.field, c.path); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
