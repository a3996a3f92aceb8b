package session

import (
	"strings"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

func scope(s string) config.SessionConfig { return config.SessionConfig{DMScope: s, MainKey: "main"} }

func TestCanonicalFollowsTheTableOfKeys(t *testing.T) {
	cfg := scope("main")
	for key, want := range map[protocol.SessionKey]protocol.SessionKey{
		"": chat, "main": chat, " MAIN ": chat, "agent:main:main": chat, "agent:Main:MAIN": chat, "agent::main": chat,
		// Direct conversations, in the spelling of every scope.
		"agent:main:dm:ann":                   chat,
		"agent:main:cli:dm:main":              chat,
		"agent:main:whatsapp:default:dm:+491": chat,
		"agent:main:whatsapp:dm:a:b":          chat,
		"agent:Work:cli:dm:main":              "agent:work:main",
		// Other kinds.
		"agent:main:whatsapp:group:1":          "agent:main:whatsapp:group:1",
		"agent:main:WhatsApp:Group:Ü 1":        protocol.SessionKey("agent:main:whatsapp:group:" + withHash("__1", "ü 1")),
		"agent:main:cron:job":                  "agent:main:cron:job",
		"agent:main:heartbeat:system:internal": "agent:main:heartbeat:system:internal",
		"agent:main:app:chat:0190-ab":          "agent:main:app:chat:0190-ab",
		"agent:main:irc:channel:x:thread:dm":   protocol.SessionKey("agent:main:irc:channel:" + withHash("x_thread_dm", "x:thread:dm")),
		"my-notes":                             "my-notes",
		"My:Notes":                             "My:Notes",
		"agent:main":                           "agent:main",
	} {
		if got := canonical(cfg, key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
		if again := canonical(cfg, want); again != want {
			t.Errorf("got %q, want %q again", again, want)
		}
	}
	if k := newKey("main"); canonical(cfg, k) != k {
		t.Errorf("got %q, want %q again", canonical(cfg, k), k)
	}
}

func TestEachScopeHasItsOwnDirectConversations(t *testing.T) {
	for _, c := range []struct {
		scope     string
		key, want protocol.SessionKey
	}{
		{"per-peer", "agent:main:cli:dm:main", "agent:main:dm:main"},
		{"per-peer", "agent:main:whatsapp:acc:dm:+49 1", protocol.SessionKey("agent:main:dm:" + withHash("+49_1", "+49 1"))},
		{"per-channel-peer", "agent:main:cli:dm:main", "agent:main:cli:dm:main"},
		{"per-channel-peer", "agent:main:whatsapp:acc:dm:+491", "agent:main:whatsapp:dm:+491"},
		{"per-channel-peer", "agent:main:dm:+491", "agent:main:dm:+491"},
		{"per-account-channel-peer", "agent:main:whatsapp:Acc One:dm:A:B", protocol.SessionKey("agent:main:whatsapp:acc-one:dm:" + withHash("a_b", "a:b"))},
		{"per-account-channel-peer", "agent:main:whatsapp:dm:+491", "agent:main:whatsapp:default:dm:+491"},
		{"per-account-channel-peer", "main", "agent:main:main"},
		{"per-account-channel-peer", "agent:main:whatsapp:group:1", "agent:main:whatsapp:group:1"},
	} {
		got := canonical(scope(c.scope), c.key)
		if got != c.want || canonical(scope(c.scope), got) != got {
			t.Errorf("%s: %q: %q, want %q", c.scope, c.key, got, c.want)
		}
	}
	primary := config.SessionConfig{DMScope: "main", MainKey: " Primary "}
	for _, key := range []protocol.SessionKey{"", "main", "primary", "agent:main:main", "agent:main:primary", "agent:main:cli:dm:main"} {
		if got := canonical(primary, key); got != "agent:main:primary" {
			t.Errorf("%q: got %q, want agent:main:primary", key, got)
		}
	}
}

func FuzzCanonicalIsStable(f *testing.F) {
	for _, s := range []string{"agent:a:b:dm:c", "agent:::dm:", "main", "agent:é:dm:x:y"} {
		for _, scope := range []string{"main", "per-peer", "per-channel-peer", "per-account-channel-peer"} {
			f.Add(s, scope)
		}
	}
	f.Fuzz(func(t *testing.T, key, dm string) {
		once := canonical(scope(dm), protocol.SessionKey(key))
		if twice := canonical(scope(dm), once); once != twice || once == "" {
			t.Errorf("%q: got %q, then %q, want the same", key, once, twice)
		}
	})
}

func TestRouteFollowsBindingsAndLinks(t *testing.T) {
	cfg := config.Default()
	cfg.Session.DMScope = "per-channel-peer"
	cfg.Agents.List = []config.AgentEntry{{ID: "home", Default: true}, {ID: "work"}}
	cfg.Agents.Bindings = []config.AgentBinding{
		{AgentID: "work", Match: config.AgentMatch{Channel: "slack"}},
		{AgentID: "Night Watch", Match: config.AgentMatch{Channel: "irc", AccountID: "ops", Peer: &config.PeerInfo{Kind: "channel", ID: "#ops"}}},
	}
	cfg.Session.IdentityLinks = map[string][]string{
		"ann": {"whatsapp:+49 (170) 123-4567", "Ann#1", "matrix:@ann:example.org"},
		"bob": {"discord:bob", "xmpp:10020@example.org", "tel:", "  "}, "cid": {"10030@example.org", "20040"},
	}
	for _, c := range []struct {
		in    Peer
		agent protocol.AgentID
		key   protocol.SessionKey
	}{
		{Peer{Channel: "slack", Kind: "dm", ID: "U1"}, "work", "agent:work:slack:dm:u1"},
		{Peer{Channel: "irc", Account: "ops", Kind: "channel", ID: "#ops"}, "night-watch", protocol.SessionKey("agent:night-watch:irc:channel:" + withHash("_ops", "#ops"))},
		{Peer{Channel: "irc", Account: "other", Kind: "channel", ID: "#ops"}, "home", protocol.SessionKey("agent:home:irc:channel:" + withHash("_ops", "#ops"))},
		{Peer{Channel: "whatsapp", ID: "491701234567@s.whatsapp.net"}, "home", "agent:home:whatsapp:dm:ann"},
		{Peer{Channel: "signal", ID: "+491701234567"}, "home", "agent:home:signal:dm:+491701234567"},
		{Peer{Channel: "discord", ID: "ann#1"}, "home", "agent:home:discord:dm:ann"},
		{Peer{Channel: "matrix", ID: "@ann:example.org"}, "home", "agent:home:matrix:dm:ann"},
		{Peer{Channel: "discord", ID: "BOB"}, "home", "agent:home:discord:dm:bob"},
		{Peer{Channel: "discord", ID: "eve"}, "home", "agent:home:discord:dm:eve"}, // not a number, and not bob
		{Peer{Channel: "xmpp", ID: "10020@example.org"}, "home", "agent:home:xmpp:dm:bob"},
		{Peer{Channel: "xmpp", ID: "10020@evil.example"}, "home", "agent:home:xmpp:dm:10020@evil.example"}, // a name, not bob's number
		{Peer{Channel: "xmpp", ID: "10030@example.org"}, "home", "agent:home:xmpp:dm:cid"},
		{Peer{Channel: "xmpp", ID: "+10030@evil.example"}, "home", "agent:home:xmpp:dm:+10030@evil.example"},
		{Peer{Channel: "xmpp", ID: "20040@evil.example"}, "home", "agent:home:xmpp:dm:20040@evil.example"},
		{Peer{Channel: "xmpp", ID: "+491701234567@evil.example"}, "home", "agent:home:xmpp:dm:+491701234567@evil.example"},
		{Peer{Channel: "telegram", ID: "2004-0"}, "home", "agent:home:telegram:dm:2004-0"},
		{Peer{Channel: "discord", ID: ""}, "home", "agent:home:discord:dm:unknown"},
		{Peer{Channel: "whatsapp", Kind: "group", ID: "491701234567"}, "home", "agent:home:whatsapp:group:491701234567"},
	} {
		agent, key := route(cfg, c.in)
		if agent != c.agent || key != c.key || canonical(cfg.Session, key) != key {
			t.Errorf("%+v: %s %s, want %s %s", c.in, agent, key, c.agent, c.key)
		}
	}
}

func TestNoTwoPeersShareAChat(t *testing.T) {
	for _, scope := range []string{"per-peer", "per-channel-peer", "per-account-channel-peer"} {
		t.Run(scope, func(t *testing.T) {
			cfg := config.Default()
			cfg.Session.DMScope = scope
			cfg.Session.IdentityLinks = map[string][]string{"ann": {"xmpp:ann@b.example"}, "Bob B": {"xmpp:bob@b.example"}}
			for _, kind := range []string{protocol.PeerDM, protocol.PeerGroup} {
				seen := map[protocol.SessionKey]string{}
				for _, id := range []string{
					"j_rg@b.example", "jürg@b.example", "jörg@b.example", "j rg@b.example", "j/rg@b.example", "j:rg@b.example", "j~rg@b.example", "room@b.example/one two",
					"room@b.example/one_two", "#ops", "&ops", "_ops", "ann", "ann@b.example", "bob b", "bob_b", "bob@b.example", "___", "日本語", "中国人", "unknown",
					withHash("j_rg@b.example", "jürg@b.example"), withHash("_ops", "#ops"), strings.ToUpper(withHash("_ops", "&ops")),
				} {
					_, key := route(cfg, Peer{Channel: "xmpp", Account: "a", Kind: kind, ID: id})
					if other, ok := seen[key]; ok {
						t.Errorf("%s, %s: got %s for %q and %q, want two keys", scope, kind, key, other, id)
					}
					seen[key] = id
					if again := canonical(cfg.Session, key); again != key {
						t.Errorf("%s: %q: got %s, want %s again", scope, id, again, key)
					}
				}
				for _, same := range [][2]string{{"Eve@B.example", " eve@b.example "}, {"JÜRG@b.example", "jürg@b.example"}} {
					_, a := route(cfg, Peer{Channel: "xmpp", Account: "a", Kind: kind, ID: same[0]})
					if _, b := route(cfg, Peer{Channel: "xmpp", Account: "a", Kind: kind, ID: same[1]}); a != b {
						t.Errorf("%q: got %s, %q: %s, want the same", same[0], a, same[1], b)
					}
				}
			}
		})
	}
}

func TestOnlyThePersonsOwnChatsArePrivate(t *testing.T) {
	for key, want := range map[protocol.SessionKey]bool{
		chat: true, "agent:work:main": true, newKey("main"): true, "agent:main:cron:job": false, "agent:main:heartbeat:system:internal": false,
		"agent:main:whatsapp:group:1": false, "agent:main:dm:eve": false, "agent:main:irc:app:chat:x": false, "notes": false,
	} {
		if got := isPrivate(scope("main"), key); got != want {
			t.Errorf("%s: got private %v, want %v", key, got, want)
		}
	}
}

func TestChatsWithOthersAreShared(t *testing.T) {
	for key, want := range map[protocol.SessionKey]bool{
		"": false, chat: false, "agent:work:main": false, newKey("main"): false, "agent:main:cron:job": false, "agent:main:heartbeat:system:internal": false, "notes": false,
	} {
		if got := key.IsShared(); got != want {
			t.Errorf("%s: got shared %v, want %v", key, got, want)
		}
	}
	for _, scope := range []string{"per-peer", "per-channel-peer", "per-account-channel-peer"} {
		t.Run(scope, func(t *testing.T) {
			cfg := config.Default()
			cfg.Session.DMScope = scope
			for _, kind := range []string{protocol.PeerDM, protocol.PeerGroup, protocol.PeerChannel, protocol.PeerThread} {
				if _, key := route(cfg, Peer{Channel: "xmpp", Account: "a", Kind: kind, ID: "eve:1"}); !key.IsShared() {
					t.Errorf("%s: got a private chat, want a shared one", key)
				}
			}
		})
	}
}

func TestMainChatsAreMarkedAndNewOnesAreTheDefaultAgents(t *testing.T) {
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	g.cfg.Session.MainKey = "Team"
	g.cfg.Agents.List = []config.AgentEntry{{ID: "Helper"}, {ID: "Work", Default: true}}
	g.open()
	if got := g.cfg.MainSession(); got != "agent:work:team" {
		t.Errorf("got %s, want agent:work:team", got)
	}
	for key, main := range map[protocol.SessionKey]bool{"": false, "main": true, "agent:work:main": true, "agent:main:notes": false} {
		e, err := g.Create(t.Context(), protocol.SessionCreateParams{SessionKey: key})
		if err != nil || e.Main != main {
			t.Errorf("%q: got %+v, error %v, want main %v", key, e, err, main)
		}
		if key == "" && !strings.HasPrefix(string(e.SessionKey), "agent:work:app:chat:") {
			t.Errorf("a new chat: got %q, want one of work", e.SessionKey)
		}
	}
}
