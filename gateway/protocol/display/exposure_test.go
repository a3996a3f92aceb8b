package display

import (
	"fmt"
	"testing"

	"fairlead/gateway/protocol"
)

func TestExposuresHaveWords(t *testing.T) {
	for _, kind := range protocol.ExposureKinds {
		if ExposureGroup(kind) == kind {
			t.Errorf("the kind %s: got no words, want some", kind)
		}
	}
	for _, w := range protocol.ExposureWarnings {
		if ExposureWarning(w) == w {
			t.Errorf("the warning %s: got no words, want some", w)
		}
	}
	at := func(at int64) string { return fmt.Sprint("at ", at) }
	for want, e := range map[string]protocol.Exposure{
		"never used":             {},
		"in use now":             {IsInUse: true, LastUsedAt: 1},
		"used at 1":              {LastUsedAt: 1},
		"never used, until at 2": {ExpiresAt: 2},
	} {
		if got := ExposureTimes(e, at, at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPublicExposuresAreCounted(t *testing.T) {
	app, channel := protocol.Exposure{Kind: protocol.ExposureService, IsPublic: true}, protocol.Exposure{Kind: protocol.ExposureChannel, IsPublic: true}
	for want, list := range map[string][]protocol.Exposure{
		"":                                  {{Kind: protocol.ExposureService}},
		"1 app is public without sign-in":   {app, {Kind: protocol.ExposureToken}},
		"2 apps are public without sign-in": {app, app},
		"1 channel is open to everyone":     {channel},
		"2 apps and 1 channel are open to everyone": {app, channel, app},
	} {
		if got := PublicExposures(list); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
