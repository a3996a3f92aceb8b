package channel

import (
	"testing"

	"fairlead/gateway/config"
)

func TestWhoMayWriteIsSaidInWords(t *testing.T) {
	for want, c := range map[string]config.Channel{
		"Everyone who knows the address may write to the agent.":           {DMPolicy: policyOpen},
		"Nobody may write to the agent.":                                   {DMPolicy: policyAllowlist},
		"Nobody may write to the agent before you allow it.":               {},
		"1 listed sender may write to the agent.":                          {DMPolicy: policyAllowlist, AllowFrom: []string{"ann"}, Owners: []string{"ann"}},
		"2 listed senders may write to the agent, and others may ask you.": {AllowFrom: []string{"ann", "bob"}},
	} {
		s := &Senders{config: func() config.Config { return config.Config{Channels: map[string]config.Channel{"pigeon": c}} }}
		if got, isPublic := s.reach("pigeon"); got != want || isPublic != (c.DMPolicy == policyOpen) {
			t.Errorf("%+v: got %q, public %v; want %q", c, got, isPublic, want)
		}
	}
	s := &Senders{config: func() config.Config {
		return config.Config{Channels: map[string]config.Channel{"pigeon": {DMPolicy: policyAllowlist, AllowFrom: []string{"*"}}}}
	}}
	if got, isPublic := s.reach("pigeon"); !isPublic {
		t.Errorf("a star on the list: got %q, want that everyone may write", got)
	}
}
