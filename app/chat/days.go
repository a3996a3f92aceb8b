package chat

import (
	"time"

	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// newDay adds a row with the date when a message is from another day than the previous one. A chat
// that began today needs none.
func (b *builder) newDay(items []transcript.Item, m protocol.Message, cur *cursor, now time.Time) []transcript.Item {
	if m.Timestamp == 0 {
		return items
	}
	text := dayName(time.UnixMilli(m.Timestamp).In(now.Location()), now)
	if text == cur.day || cur.day == "" && text == "Today" {
		cur.day = text
		return items
	}
	cur.day, cur.speaker = text, ""
	return b.item(items, "day/"+string(m.ID), kindDay, 44, dayData{text})
}

// dayName formats a day as a heading: "Today", "Yesterday", "Sunday, 3 May", "3 May 2025".
func dayName(t, now time.Time) string {
	day := func(t time.Time) int { return t.Year()*1000 + t.YearDay() }
	switch {
	case day(t) == day(now):
		return "Today"
	case day(t) == day(now.AddDate(0, 0, -1)):
		return "Yesterday"
	case t.Year() == now.Year():
		return t.Format("Monday, 2 January")
	}
	return t.Format("2 January 2006")
}
