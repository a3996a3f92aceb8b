package xmpp

import (
	"strings"
	"testing"

	"fairlead/gateway/peer/polltest"
)

// TestSlowMessageDelaysOnlyItsChat: a message that takes long, such as one with a recording,
// delays only its own chat.
func TestSlowMessageDelaysOnlyItsChat(t *testing.T) {
	p := startServer(t)
	ann, bob := p.person(t, "ann"), p.person(t, "bob")
	b := p.agent(t, `{"dmPolicy":"open"}`)
	texts := func() (list []string) {
		for _, m := range b.Sent() {
			_, text, _ := strings.Cut(m.Message, "] ")
			list = append(list, text)
		}
		return list
	}
	ann.do(t, "<message to='agent@town.test' type='chat' id='first-message'><body>this goes slowly</body></message>")
	<-b.Slow
	ann.do(t, "<message to='agent@town.test' type='chat' id='second-message'><body>and then this</body></message>")
	bob.do(t, "<message to='agent@town.test' type='chat' id='third-message'><body>meanwhile</body></message>")
	polltest.Until(t, "the message of another chat", func() bool { return len(texts()) > 0 })
	if got := strings.Join(texts(), ", "); got != "meanwhile" {
		t.Errorf("during the first message: got %s, want meanwhile", got)
	}
	<-b.Slow
	polltest.Until(t, "the messages of the slow chat", func() bool { return len(texts()) == 3 })
	if got := strings.Join(texts(), ", "); got != "meanwhile, this goes slowly, and then this" {
		t.Errorf("in the end: got %s, want all three in order", got)
	}
}
