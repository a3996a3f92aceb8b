package xmpp

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

// The examples of RFC 5802, 5, and RFC 7677, 3.
func TestScramAgreesWithTheStandards(t *testing.T) {
	for _, tc := range []struct{ kind, nonce, challenge, answer, final string }{
		{
			"SCRAM-SHA-1", "fyko+d2lbbFgONRv9qkxdawL", "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
			"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=", "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
		},
		{
			"SCRAM-SHA-256", "rOprNGfwEbeRWgbNEkqO", "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
			"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
		},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			s := newScram(tc.kind, "user", "pencil")
			s.nonce, s.first = tc.nonce, "n=user,r="+tc.nonce
			answer, err := s.answer(tc.challenge)
			if err != nil || answer != tc.answer {
				t.Errorf("%s: got %s, error %v, want %s", tc.kind, answer, err, tc.answer)
			}
			if err := s.check(tc.final); err != nil {
				t.Errorf("%s: %v", tc.kind, err)
			}
			if s.check("v=AAAA") == nil || s.check("e=other-error") == nil {
				t.Errorf("%s: got no error for a server without the password, want one", tc.kind)
			}
			for _, bad := range []string{
				"", "r=other,s=QSXCR+Q6sek8bf92,i=4096", strings.Replace(tc.challenge, "i=4096", "i=0", 1), strings.Replace(tc.challenge, "i=4096", "i=99999999", 1),
				"m=x," + tc.challenge, "r=" + tc.nonce + ",s=QSXCR+Q6sek8bf92,i=4096",
			} {
				if _, err := s.answer(bad); err == nil {
					t.Errorf("%s: %q: got an answer, want an error", tc.kind, bad)
				}
			}
		})
	}
	if h := newScram("SCRAM-SHA-256", "a,b=c", "").first; !strings.HasPrefix(h, "n=a=2Cb=3Dc,r=") {
		t.Errorf("got %s, want the name with escapes", h)
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"Fairlead: hi": true, "hi, fairlead!": true, "fairlead": true, "fairleader": false, "unfairlead": false, "fairlead_2 and @fairlead": true, "fairlead_": false, "": false, "fairléad": false,
	} {
		if mentions(text, "fairlead") != want {
			t.Errorf("%q: got mentioned %v, want %v", text, !want, want)
		}
	}
	if mentions("anything", "") {
		t.Error("nobody's name was found")
	}
}

func TestParts(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("ü", 100), strings.Repeat("line of text\n", 50), strings.Repeat("x", 61)} {
		list := parts(s, 61)
		if got := strings.Join(list, ""); strings.ReplaceAll(got, "\n", "") != strings.ReplaceAll(s, "\n", "") {
			t.Errorf("%q: got %q, want the same text", s, list)
		}
		for _, p := range list {
			if len(p) > 61 || !utf8.ValidString(p) {
				t.Errorf("got %q, want at most 61 bytes of UTF-8", p)
			}
		}
	}
}

func TestSettings(t *testing.T) {
	for _, tc := range []struct {
		cfg  string
		want string
	}{
		{`{"jid":"a@b.c","password":" x "}`, ""},
		{`{"jid":"a@b.c","password":"x","rooms":["r@m.c"," s@m.c "],"server":"h:5222"}`, ""},
		{`{"jid":"a@b.c","password":"x","rooms":"r@m.c, s@m.c"}`, ""},
		{`{"jid":"b.c","password":"x"}`, "(jid) must look like"},
		{`{"jid":"a@b@c","password":"x"}`, "(jid) must look like"},
		{`{"jid":"a'@b","password":"x"}`, "(jid) must look like"},
		{`{"jid":"a@b.c"}`, "password must be"},
		{`{"jid":"a@b.c","password":"x","rooms":"nowhere"}`, "a room is an address"},
		{`{"jid":"a@b.c","password":"x","server":"h"}`, "host:port"},
		{`{"jid":"a@b.c","password":"x","certificate":"y"}`, "PEM"},
	} {
		t.Run(tc.cfg, func(t *testing.T) {
			var cfg channel.Config
			if err := json.Unmarshal([]byte(tc.cfg), &cfg); err != nil {
				t.Fatal(err)
			}
			err := Driver{}.Check(cfg)
			if (tc.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf(`%s: got %v; want an error with %q, or none if that is empty`, tc.cfg, err, tc.want)
			}
		})
	}
}

// FuzzMessage parses stanzas from outside: no panic, no messages of the agent itself or private
// messages in rooms, and the sender is the one that the server named.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		`<message from='ann@town.test/x' type='chat' id='12345678'><body>hi</body><delay xmlns='urn:xmpp:delay' stamp='2026-01-02T03:04:05Z'/></message>`,
		`<message from='square@rooms.test/ann' type='groupchat'><body>agent: hi</body><stanza-id xmlns='urn:xmpp:sid:0' by='square@rooms.test' id='s1'/></message>`,
		`<message from='square@rooms.test/agent' type='groupchat'><body>own</body></message>`, `<message from='square@rooms.test/ann' type='chat'><body>psst</body></message>`,
		`<message from='ann@town.test'><body>geo:52.1,13.2;u=9</body><x xmlns='jabber:x:oob'><url>http://[::1]/a.ogg</url></x></message>`,
		`<message from='ann@town.test'><body>> a
> b
c</body><reply xmlns='urn:xmpp:reply:0' id='9' to='agent@town.test'/></message>`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var m message
		if xml.Unmarshal([]byte(s), &m) != nil {
			return
		}
		m.Request, m.Encrypted, m.OMEMO, m.PGP = nil, nil, nil, nil // these are answered over the connection
		c := newClient(&stream{jid: "agent@town.test/r"}, settings{login: login{local: "agent", domain: "town.test"}, nick: "agent", rooms: []string{"square@rooms.test"}}, nil)
		in, ok := c.inbound(m)
		if !ok {
			return
		}
		switch in.Peer.Kind {
		case protocol.PeerGroup:
			if in.Peer.ID != "square@rooms.test" || resource(m.From) == "agent" || in.WasMentioned == nil || m.Delay != nil {
				t.Errorf("%q: got %+v, want a message of the room", s, in)
			}
		case protocol.PeerDM:
			if in.Sender.ID != bare(m.From) || in.Peer.ID != bare(m.From) || in.Peer.ID == "square@rooms.test" || in.Peer.ID == "agent@town.test" {
				t.Errorf("%q: got %+v, want a message of its sender", s, in)
			}
		default:
			t.Errorf("%q: got %+v, want a room or a person", s, in)
		}
		if l := in.Message.Location; l != nil && !isPosition(l.Lat, l.Lon) {
			t.Errorf("%q: got %+v, want a position", s, l)
		}
	})
}
