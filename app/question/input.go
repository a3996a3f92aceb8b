package question

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// InputWords are the words about what an MCP server wants to know.
func InputWords(q protocol.Question, _ feed.View, _ time.Time) Words {
	name, _ := wording.Reveal(string(q.Input.Server))
	text, _ := wording.Reveal(format.Line(q.Input.Message, 160))
	asks := " asks you a question"
	if q.Input.URL != "" {
		asks = " asks you to open a page"
	}
	return Words{Title: "“" + format.Clip(name, 40) + "”" + asks, Body: text}
}

// InputSource says who asks, and during which call.
func InputSource(v feed.View, q protocol.Question) string {
	name, _ := wording.Reveal(string(q.Input.Server))
	who := "“" + name + "” needs an answer"
	call, ok := lists.Find(v.Calls, func(c protocol.CallInfo) bool { return c.CallID == q.CallID })
	if !ok || q.CallID == "" {
		return who + "."
	}
	_, tool, _ := strings.Cut(call.Tool, "__")
	who += " for “" + cmp.Or(tool, call.Tool) + "”"
	if chat, ok := v.Session(call.SessionKey); ok {
		who += " (chat “" + format.Clip(feed.TitleOf(chat), 60) + "”)"
	}
	return who + "."
}

// HostOf returns the host of a web address, or the address if it has none.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return cmp.Or(u.Host, address)
}

// NoAnswer is the choice of leaving out a field.
const NoAnswer = "No answer"

// ChoiceTitles returns the titles of a field's choices. They differ.
func ChoiceTitles(f protocol.Field) []string {
	titles := []string{NoAnswer}
	for _, c := range f.Choices {
		title, _ := wording.Reveal(cmp.Or(c.Title, c.Value))
		for base, n := title, 2; slices.Contains(titles, title); n++ {
			title = fmt.Sprintf("%s (%d)", base, n)
		}
		titles = append(titles, title)
	}
	return titles[1:]
}

// IsDefault reports whether a choice of a field is chosen at first.
func IsDefault(f protocol.Field, c protocol.Choice) bool {
	if list, ok := f.Default.([]any); ok {
		return slices.Contains(list, any(c.Value))
	}
	return f.Default == c.Value
}
