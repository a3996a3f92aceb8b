package display

import (
	"testing"
	"time"
)

func TestRuleEndsAreCountedByThePersonsDays(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("here", -5*3600)
	now := time.Date(2026, 12, 31, 23, 30, 0, 0, zone)
	for key, want := range map[string]string{"1h": "2027-01-01T00:30", "today": "2027-01-01T00:00", "30d": "2027-01-30T23:30"} {
		t.Run(key, func(t *testing.T) {
			e, ok := RuleEndByKey(key)
			if got := time.UnixMilli(e.At(now)).In(zone).Format("2006-01-02T15:04"); !ok || got != want {
				t.Errorf("%s ends %s, want %s", key, got, want)
			}
		})
	}
	if e, ok := RuleEndByKey("never"); !ok || e.At(now) != 0 {
		t.Error("a rule without an end has one")
	}
	if _, ok := RuleEndByKey("tomorrow"); ok {
		t.Error("tomorrow is taken")
	}
}
