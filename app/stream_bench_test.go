package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// BenchmarkStreamedPiece draws what a piece of an answer changes, with 300 chats in the sidebar.
// "everything" draws all parts, as each change did before each part watched its own facts.
func BenchmarkStreamedPiece(b *testing.B) {
	a := pagetest.App(b)
	a.Settings().SetTheme(style.New(style.Light, 1))
	back := newTestBackend(b, "")
	back.Prefs.Update(func(r *preferences.Preferences) { r.FirstRunDone = true })
	u := newUI(b.Context(), a, back, testPlatform())
	b.Cleanup(back.Feed.Close)
	var chats []protocol.SessionEntry
	for i := range 300 {
		chats = append(chats, protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprint("agent:main:", i)), Title: fmt.Sprint("Chat ", i), MessageCount: 3})
	}
	f := back.Feed
	f.ApplySnapshot(protocol.FeedSnapshot{Sessions: chats, Runs: []protocol.RunInfo{{RunID: "r", SessionKey: protocol.MainSession, State: protocol.RunStreaming, Step: 1}}})
	for _, all := range []bool{true, false} {
		b.Run(map[bool]string{true: "everything", false: "readers"}[all], func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				text := strings.Repeat("word ", n%800)
				f.Texts.Update(func(t *feed.Texts) { *t = feed.Texts{"r": {Step: 1, Text: text}} })
				for _, p := range u.parts.all() {
					if all || readsTexts(p, f) {
						p.show(f.View())
					}
				}
			}
		})
	}
}

func readsTexts(p part, f *feed.Feed) bool { return slices.Contains(p.facts, feed.Fact(f.Texts)) }
