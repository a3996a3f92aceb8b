package session

import (
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestASearchThatIsCutByTimeSaysHowFarItCame(t *testing.T) {
	g := start(t)
	g.store.Search.SetTimeLimit(1)
	const at = 1_700_000_000_000
	for i := range int64(3) {
		if _, err := g.store.Messages.Append(t.Context(), chat, protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("an answer")}, Timestamp: at + i}); err != nil {
			t.Fatal(err)
		}
	}
	page := int64(0)
	for i := int64(2); i >= 0; i-- {
		res, err := g.Search(t.Context(), protocol.SessionsSearchParams{Query: "answer", Page: page})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].Timestamp != at+i || res.Reached != at+i || res.Next == 0 {
			t.Fatalf("%+v %v, want what came after %d", res, err, at+i)
		}
		page = res.Next
	}
	if res, err := g.Search(t.Context(), protocol.SessionsSearchParams{Query: "answer", Page: page}); err != nil || len(res.Hits) != 0 || res.Reached != 0 || res.Next != 0 {
		t.Errorf("got %+v, error %v, want no matches", res, err)
	}
}

func TestSearchFindsMessagesBeforeAReset(t *testing.T) {
	g := start(t, llmtest.Say("The Answer is forty two."))
	g.end(g.send("What is the answer?").RunID)
	if _, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
		t.Fatal(err)
	}
	res, err := g.Search(t.Context(), protocol.SessionsSearchParams{Query: "answer", SessionKey: "main", Limit: 1})
	if err != nil || len(res.Hits) != 1 || res.Next == 0 {
		t.Fatalf("got %+v, error %v, want one match and a further page", res, err)
	}
	h := res.Hits[0]
	if h.SessionKey != chat || !h.Archived || h.Role != protocol.RoleAssistant || h.Seq != 2 || h.MessageID == "" || h.RunID == "" || len(h.Snippet) != 3 ||
		h.Snippet[1] != (protocol.Snippet{Text: "Answer", Mark: true}) || h.Snippet[2].Text != " is forty two." {
		t.Errorf("got %+v, want the archived answer with the word marked", h)
	}
	res, err = g.Search(t.Context(), protocol.SessionsSearchParams{Query: "answer", Limit: 1, Page: res.Next})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Role != protocol.RoleUser {
		t.Fatalf("got %+v, error %v, want the match of the person's message", res, err)
	}
	if res.Reached != 0 {
		t.Errorf("a full page: got reached %d, want 0", res.Reached)
	}
	for _, bad := range []protocol.SessionsSearchParams{{}, {Query: " % "}, {Query: strings.Repeat("a ", 20_000)}, {Query: "a", Limit: -1}, {Query: "a", Page: -1}, {Query: "a", After: -1}, {Query: "a", Before: -1}} {
		if _, err := g.Search(t.Context(), bad); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%+v: got %v; want the error protocol.ErrBadRequest", bad, err)
		}
	}
}

func TestChatsWithATextAreListedPageByPage(t *testing.T) {
	g := start(t, llmtest.Say("one"), llmtest.Say("two"))
	g.end(g.send("The parser fails").RunID)
	list, err := g.List(t.Context(), protocol.SessionsListParams{Query: "pars", Limit: 1})
	if err != nil || list.Count != 1 || list.Sessions[0].SessionKey != chat || list.Next == "" {
		t.Fatalf("got %+v, error %v, want the chat and a further page", list, err)
	}
	for pages := 0; list.Next != ""; pages++ {
		list, err = g.List(t.Context(), protocol.SessionsListParams{Query: "pars", Limit: 1, Page: list.Next})
		if err != nil || list.Count != 0 || list.Sessions == nil || pages > 3 {
			t.Fatalf("got %+v, error %v, want an empty last page", list, err)
		}
	}
	for _, bad := range []protocol.SessionsListParams{
		{Offset: -1}, {Limit: -1}, {Page: "n1"}, {Query: "a", Offset: 1}, {Query: "a", Page: "x"}, {Query: strings.Repeat("a ", 501)},
	} {
		if _, err := g.List(t.Context(), bad); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%+v: got %v; want the error protocol.ErrBadRequest", bad, err)
		}
	}
}
