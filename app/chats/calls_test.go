package chats

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestWholeOutputOfACallComesFromTheJournal(t *testing.T) {
	for name, tc := range map[string]struct{ output, want string }{
		"a command": {`{"status":"completed","exitCode":0,"output":"all\nof it\n","tail":"of it\n"}`, "all\nof it"},
		"a text":    {`"just text"`, "just text"},
		"cut":       {`{"truncated":true,"bytes":9000000,"preview":"{\"output\":\"begin\\n\n[… 8000000 bytes left out; ask for a part of it …]\nend\\n\"}"}`, "begin\n\n⋯ 8.0 MB not shown\nend\n"},
	} {
		t.Run(name, func(t *testing.T) {
			feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
				feedtest.On(f, protocol.JournalList, func(p protocol.JournalListParams) (protocol.JournalListResult, error) {
					if p.CallID != "c" {
						t.Errorf("asked for %+v", p)
					}
					return protocol.JournalListResult{Calls: []protocol.JournalEntry{{CallID: "c", Output: json.RawMessage(tc.output)}}}, nil
				})
			}, func(t *testing.T, a *feed.Feed, _ *feedtest.Gateway) {
				got, err := LoadOutput(t.Context(), a, "c")
				if err != nil || got != tc.want {
					t.Errorf("%q, %v, want %q", got, err, tc.want)
				}
			})
		})
	}
}

func TestAnImpossibleUndoSaysWhy(t *testing.T) {
	state := protocol.ChangeAltered
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.FilesRevert, func(protocol.FilesChangeParams) (protocol.FilesDone, error) {
			return protocol.FilesDone{}, protocol.ErrInternal.With("cannot revert")
		})
		feedtest.On(f, protocol.FilesDiff, func(protocol.FilesChangeParams) (protocol.FilesDiffResult, error) {
			return protocol.FilesDiffResult{State: state}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		call := protocol.CallInfo{CallID: "c", Node: "server", Preview: &protocol.CallPreview{Path: "/a"}}
		if err := UndoCall(t.Context(), a, call, false); err == nil || !strings.Contains(err.Error(), "changed again") {
			t.Errorf(`got %v; want an error with "changed again"`, err)
		}
		state = protocol.ChangeReverted
		if err := UndoCall(t.Context(), a, call, false); !errors.Is(err, ErrAlreadyUndone) {
			t.Errorf("already undone: got %v, want %v", err, ErrAlreadyUndone)
		}
		state = protocol.ChangeStands
		if err := UndoCall(t.Context(), a, call, false); err == nil || !strings.Contains(err.Error(), "cannot revert") {
			t.Errorf(`got %v; want an error with "cannot revert"`, err)
		}
		if sent := string(f.Called("files.revert")[0]); !strings.Contains(sent, `"callId":"c"`) || !strings.Contains(sent, `"path":"/a"`) {
			t.Errorf("sent: got %s; want `\"callId\":\"c\"` in it and `\"path\":\"/a\"` in it", sent)
		}
	})
}
