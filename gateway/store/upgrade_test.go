package store

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// writeVersion writes a database of an older version, with rows by statements, and returns its path.
func writeVersion(t *testing.T, version int, rows ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "old.db")
	old := must(connect(path, 1, "immediate"))(t)
	defer must(old.DB())(t).Close()
	for _, sql := range slices.Concat([]string{createTables}, upgrades[:version-firstVersion], []string{fmt.Sprint("PRAGMA user_version = ", version)}, rows) {
		if err := old.Exec(sql).Error; err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestUpgradePreservesData(t *testing.T) {
	for version := firstVersion; version <= schemaVersion; version++ {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			path := writeVersion(t, version, `INSERT INTO settings (key, value) VALUES ('a', '1')`)

			for i := range 2 { // an upgraded one is opened like a new one
				s := must(Open(t.Context(), path))(t)
				if all := must(s.Settings.All(t.Context()))(t); string(all["a"]) != "1" {
					t.Errorf("got settings %s, want a=1", all)
				}
				app := protocol.App{ID: "app_1", Name: "editor", Scopes: []protocol.Scope{protocol.ScopeFilesRead}}
				if err := s.Apps.Apply(t.Context(), AppChange{Put: []protocol.App{app}}); err != nil {
					t.Error(err)
				}
				if err := s.Servers.Put(t.Context(), "time", AcceptedTools{"now": {Hash: "h"}}); err != nil {
					t.Error(err)
				}
				if n := must(s.Networks.Put(t.Context(), protocol.Network{ID: "net_" + protocol.NetworkID(strconv.Itoa(i)), Name: strconv.Itoa(i)}))(t); n.Index != i+1 {
					t.Errorf("the index of a network: got %d, want %d", n.Index, i+1)
				}
				if list := must(s.Servers.List(t.Context()))(t); list["time"]["now"].Hash != "h" {
					t.Errorf("got servers %v, want the tool now of time", list)
				}
				s.Close()
			}
		})
	}
}

// TestApprovalsBecomeQuestions opens a database whose questions are in the table approvals.
func TestApprovalsBecomeQuestions(t *testing.T) {
	before := firstVersion + slices.Index(upgrades, renameApprovals)
	path := writeVersion(
		t, before,
		`INSERT INTO approvals (id, state, session_key, created_at, json) VALUES
			('call', 'pending', 'chat', 2, '{"id":"call","kind":"call","tool":"Bash","choices":["once","session"],"hash":"h","grant":{"ID":"g","Session":"chat","Tool":"Bash","Match":"ls","From":"call"}}'),
			('pair', 'pending', '', 1, '{"id":"pair","kind":"pair","choices":null,"hash":"h","pairing":{"device":{"name":"phone"}}}'),
			('old', 'denied', '', 1, '{"id":"old","kind":"app","choices":null,"hash":"h","answeredBy":"owner"}')`,
		`INSERT INTO grants (id, session_key, node, tool, match, words, created_at, from_approval) VALUES ('g0', 'chat', '', 'Bash', 'id', '', 1, 'earlier')`,
	)
	s := must(Open(t.Context(), path))(t)
	defer s.Close()
	var ids []protocol.QuestionID
	for _, q := range must(s.Questions.Pending(t.Context()))(t) {
		ids = append(ids, q.ID)
	}
	if want := []protocol.QuestionID{"pair", "call"}; !slices.Equal(ids, want) {
		t.Errorf("pending: got %v, want %v", ids, want)
	}
	if q := must(s.Questions.Get(t.Context(), "pair"))(t); q.Pairing.Device.Name != "phone" {
		t.Errorf("the device of the pairing: got %+v, want phone", q.Pairing)
	}
	if q := must(s.Questions.Get(t.Context(), "old"))(t); q.State != protocol.QuestionDenied || q.AnsweredBy != "owner" {
		t.Errorf("the answered question: got %s by %s, want %s by owner", q.State, q.AnsweredBy, protocol.QuestionDenied)
	}
	_, changed, err := s.Questions.Change(t.Context(), "call", func(q *protocol.Question) bool {
		q.State, q.Scope = protocol.QuestionAllowed, protocol.ScopeSession
		return true
	})
	if err != nil || !changed {
		t.Fatalf("got changed %v, error %v, want an answer", changed, err)
	}
	var from []protocol.QuestionID
	for _, g := range must(s.Grants.List(t.Context(), "chat"))(t) {
		from = append(from, g.From)
	}
	if want := []protocol.QuestionID{"call", "earlier"}; !slices.Equal(from, want) {
		t.Errorf("the permissions are from %v, want %v", from, want)
	}
}

// TestUnknownSendersBecomeQuestions opens a database whose unknown senders are in a table of their own.
func TestUnknownSendersBecomeQuestions(t *testing.T) {
	before := firstVersion + slices.Index(upgrades, askAboutSenders)
	path := writeVersion(t, before, `INSERT INTO channel_pairs (channel, sender, requested_at, json) VALUES
		('xmpp', 'ann@town.test', 1000, '{"channel":"xmpp","senderId":"ann@town.test","senderName":"Ann","requestedAt":1000,"firstMessage":"hello","accountId":"me","peer":{"kind":"dm","id":"ann@town.test"}}'),
		('xmpp', 'bob@town.test', 2000, '{"channel":"xmpp","senderId":"bob@town.test","requestedAt":2000,"firstMessage":"hi","peer":{"kind":"dm","id":"bob@town.test"}}')`)
	s := must(Open(t.Context(), path))(t)
	defer s.Close()
	list := must(s.Questions.Pending(t.Context()))(t)
	if len(list) != 2 || list[0].ID == list[1].ID {
		t.Fatalf("pending: got %+v, want two questions", list)
	}
	q := list[0]
	want := protocol.SenderSubject{
		PendingPair: protocol.PendingPair{Channel: "xmpp", SenderID: "ann@town.test", SenderName: "Ann", RequestedAt: 1000, FirstMessage: "hello", AccountID: "me"},
		Peer:        protocol.Peer{Kind: protocol.PeerDM, ID: "ann@town.test"},
	}
	if q.Kind != protocol.AskSender || q.CreatedAt != 1000 || q.ExpiresAt != 1000+7*24*60*60*1000 || q.Sender == nil || !reflect.DeepEqual(*q.Sender, want) {
		t.Errorf("question: got %+v about %+v, want it about %+v", q, q.Sender, want)
	}
}

// TestFormerVersionRefusesNewerDatabase sets the version of this program back by one.
func TestFormerVersionRefusesNewerDatabase(t *testing.T) {
	path := writeVersion(t, schemaVersion)
	schemaVersion--
	defer func() { schemaVersion++ }()
	_, err := Open(t.Context(), path)
	want := fmt.Sprintf("written by a newer version of Fairlead (format %d, this version reads %d): start the newer version", schemaVersion+1, schemaVersion)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
