package protocol

import "time"

// RuleEnd is how long a rule that is made at a question holds. Key is what a person types for it.
type RuleEnd struct {
	Key, Words string
	at         func(now time.Time) time.Time // nil: for ever
}

// RuleEnds are the ends to choose from; the first is taken unless another one is chosen.
var RuleEnds = []RuleEnd{
	{"never", "no end", nil},
	{"1h", "1 hour", func(now time.Time) time.Time { return now.Add(time.Hour) }},
	{"today", "today", func(now time.Time) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
	}},
	{"30d", "30 days", func(now time.Time) time.Time { return now.AddDate(0, 0, 30) }},
}

// At is the end in Unix milliseconds for a rule made now, by the clock and the days of now's location; 0 is no end.
func (e RuleEnd) At(now time.Time) int64 {
	if e.at == nil {
		return 0
	}
	return e.at(now).UnixMilli()
}

// RuleEndByKey finds an end by what a person typed.
func RuleEndByKey(key string) (RuleEnd, bool) {
	for _, e := range RuleEnds {
		if e.Key == key {
			return e, true
		}
	}
	return RuleEnd{}, false
}
