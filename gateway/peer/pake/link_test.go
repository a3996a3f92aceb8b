package pake

import (
	"reflect"
	"testing"

	"fairlead/gateway/protocol"
)

func TestLinkRoundTrips(t *testing.T) {
	l := Link{Addresses: []string{"192.168.1.7:8788", "[fd00::1]:8788"}, Pin: pinOf("x"), Invite: "i", Secret: NewSecret(), Role: protocol.RoleClient}
	got, err := ParseLink(" " + l.String()[:40] + "\n" + l.String()[40:] + "\n")
	if err != nil || !reflect.DeepEqual(got, l) {
		t.Errorf("%+v, %v; want %+v", got, err, l)
	}
	for _, odd := range []string{
		"", "fairlead://pair", "fairlead://pair?a=x", "http://pair?a=1.2.3.4:1&p=x&i=i&s=x", l.String()[:len(l.String())-4],
		"fairlead://pair?" + "a=evil.example%2Fx:80&" + l.String()[16:],
	} {
		if _, err := ParseLink(odd); err == nil {
			t.Errorf("%q is a link", odd)
		}
	}
}

func TestCodeIsReadAsPeopleTypeIt(t *testing.T) {
	want := Code{7, []string{"maple", "otter", "tulip"}}
	for _, text := range []string{want.String(), "7 maple otter tulip", " 7-Maple OTTER, tulip.\n"} {
		if got, err := ParseCode(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v; want no error and %v", text, got, err, want)
		}
	}
	for _, odd := range []string{"", "7", "maple-otter-tulip", "0-maple-otter-tulip", "7-maple-otter-tulips", "7-maple-otter-tulip-tulip", "-7-maple-otter-tulip-x"} {
		if _, err := ParseCode(odd); err == nil {
			t.Errorf("%q is a code", odd)
		}
	}
}

func FuzzLinkAndCode(f *testing.F) {
	f.Add(Link{Addresses: []string{"h:1"}, Pin: pinOf("x"), Invite: "i", Secret: NewSecret()}.String())
	f.Add("7-maple-otter-tulip")
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := ParseLink(text); err == nil {
			if again, err := ParseLink(l.String()); err != nil || !reflect.DeepEqual(l, again) {
				t.Errorf("%q: %+v became %+v, %v; want no error and %v", text, l, again, err, again)
			}
		}
		if c, err := ParseCode(text); err == nil {
			if again, err := ParseCode(c.String()); err != nil || !reflect.DeepEqual(c, again) {
				t.Errorf("%q: %+v became %+v, %v; want no error and %v", text, c, again, err, again)
			}
		}
	})
}
