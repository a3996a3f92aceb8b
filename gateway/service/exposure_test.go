package service

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestExposureNamesEveryoneWhoGetsIn(t *testing.T) {
	for _, c := range []struct {
		signIn   bool
		visitors []string
		guests   int
		want     string
	}{
		{false, nil, 0, "Everyone who reaches the address, without a sign-in"},
		{true, nil, 0, "You alone"},
		{true, []string{"ann@example.com"}, 0, "You and 1 address or pattern on its list"},
		{true, []string{"ann@example.com", "*@example.org"}, 0, "You and 2 addresses or patterns on its list"},
		{true, nil, 1, "You and 1 visitor for some time"},
		{true, []string{"ann@example.com"}, 2, "You, 1 address or pattern on its list and 2 visitors for some time"},
	} {
		if got := visitorsText(protocol.Service{SignIn: c.signIn, Visitors: c.visitors}, c.guests); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
