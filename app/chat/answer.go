package chat

import (
	"fmt"
	"strings"
	"time"

	"fairlead/app/markdown"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// ending adds a row for a run that failed or was stopped. While the run itself is known, its own
// row says more. It can be retried while it is the latest run of the chat.
func (b *builder) ending(items []transcript.Item, key string, m protocol.Message, s State, newest bool) []transcript.Item {
	if m.ErrorMessage == "" {
		icon := "stop"
		if m.StopReason == protocol.StopBlind {
			icon = "info"
		}
		return b.item(items, key, kindNotice, 32, noticeData{icon: icon, text: m.Content.Text()})
	}
	if known(s, m.RunID) {
		return items
	}
	d := problemData{problem: widgets.Problem{What: sentence(m.ErrorMessage)}, run: m.RunID}
	if newest {
		d.problem.Button, d.act = "Try again", actRetry
	}
	return b.item(items, key, kindProblem, 60, d)
}

// pieceSize is the size in bytes from which a message is split into several rows.
const pieceSize = 2500

func (b *builder) text(items []transcript.Item, key string, d messageData) []transcript.Item {
	cut := markdown.SplitParts
	if d.plain {
		cut = markdown.SplitPlain
	}
	images := d.images
	parts := cut(d.text, pieceSize)
	for i, part := range parts {
		k := key
		if i > 0 {
			k = fmt.Sprintf("%s/%d", key, i)
			d.from, d.time, d.exact = "", "", ""
		}
		d.text, d.images = part, ""
		if i == len(parts)-1 {
			d.images = images
		}
		items = b.item(items, k, kindMessage, 40+float32(len(part))/3.5, d)
	}
	return items
}

// answer adds the agent's text, with its name above the first text of a run.
func (b *builder) answer(items []transcript.Item, key string, m protocol.Message, text string, cur *cursor, now time.Time) []transcript.Item {
	d := messageData{id: m.ID, run: m.RunID, text: text}
	if speaker := "Fairlead/" + string(m.RunID); cur.speaker != speaker {
		cur.speaker = speaker
		d.from, d.time, d.exact = "Fairlead", clock(m.Timestamp, now), exact(m.Timestamp, now)
	}
	return b.text(items, key, d)
}

// head adds the agent's name alone, above a card that comes first.
func (b *builder) head(items []transcript.Item, key string, m protocol.Message, cur *cursor, now time.Time) []transcript.Item {
	speaker := "Fairlead/" + string(m.RunID)
	if cur.speaker == speaker {
		return items
	}
	cur.speaker = speaker
	return b.item(items, key, kindMessage, 40, messageData{id: m.ID, run: m.RunID, from: "Fairlead", time: clock(m.Timestamp, now), exact: exact(m.Timestamp, now)})
}

func (b *builder) thought(items []transcript.Item, key, text string, hidden, live bool) []transcript.Item {
	title := "Thought"
	switch {
	case hidden:
		title, text = "Thinking, hidden by the provider", ""
	case strings.TrimSpace(text) == "":
		return items
	case live:
		title = "Thinking…"
	}
	return b.item(items, key, kindFold, 28, foldData{key, title, strings.TrimSpace(text)})
}
