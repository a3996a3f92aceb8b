package protocol

import "time"

// RuleEnd is a choice for the lifetime of a rule that an answer saves. Key is what a person types
// to choose it.
type RuleEnd struct {
	Key, Words string
	at         func(now time.Time) time.Time // nil: never expires
}

// RuleEnds are the choices; the first is the default.
var RuleEnds = []RuleEnd{
	{"never", "no end", nil},
	{"1h", "1 hour", func(now time.Time) time.Time { return now.Add(time.Hour) }},
	{"today", "today", func(now time.Time) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
	}},
	{"30d", "30 days", func(now time.Time) time.Time { return now.AddDate(0, 0, 30) }},
}

// At returns the expiry, in Unix milliseconds, of a rule that is saved now, by the calendar of
// now's location; 0 is never.
func (e RuleEnd) At(now time.Time) int64 {
	if e.at == nil {
		return 0
	}
	return e.at(now).UnixMilli()
}

// RuleEndByKey finds a choice by its key.
func RuleEndByKey(key string) (RuleEnd, bool) {
	for _, e := range RuleEnds {
		if e.Key == key {
			return e, true
		}
	}
	return RuleEnd{}, false
}
