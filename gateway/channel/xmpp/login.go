package xmpp

import (
	"cmp"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/channel"
)

// login contains the parameters of a login.
type login struct {
	local, domain, password string
	server                  string // host:port; empty means a DNS lookup
	roots                   *x509.CertPool
}

// authenticate logs in with the best mechanism that both sides support.
func (s *stream) authenticate(offered []string, l login) error {
	known := []string{"SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"}
	i := slices.IndexFunc(known, func(k string) bool { return slices.Contains(offered, k) })
	if i < 0 {
		return channel.Login("the server supports only login methods that Fairlead does not: %s", strings.Join(offered, ", "))
	}
	kind, sc := known[i], newScram(known[i], l.local, l.password)
	first := sc.hello()
	if kind == "PLAIN" {
		first, sc = "\x00"+l.local+"\x00"+l.password, nil
	}
	if err := s.send("<auth xmlns='" + nsSASL + "' mechanism='" + kind + "'>" + base64.StdEncoding.EncodeToString([]byte(first)) + "</auth>"); err != nil {
		return err
	}
	answered := false
	for {
		start, err := s.next()
		if err != nil {
			return err
		}
		var e saslEnd
		if err := s.dec.DecodeElement(&e, &start); err != nil {
			return err
		}
		data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(e.Data))
		if err != nil && e.XMLName.Local != "failure" {
			return errors.New("the server's login message cannot be parsed")
		}
		switch {
		case start.Name.Space != nsSASL:
			return fmt.Errorf("the server sent <%s> during the login", start.Name.Local)
		case e.XMLName.Local == "challenge" && sc != nil && !answered:
			answer, err := sc.answer(string(data))
			if err != nil {
				return err
			}
			answered = true
			if err := s.send("<response xmlns='" + nsSASL + "'>" + base64.StdEncoding.EncodeToString([]byte(answer)) + "</response>"); err != nil {
				return err
			}
		case e.XMLName.Local == "success":
			if sc != nil {
				return sc.check(string(data))
			}
			return nil
		case e.XMLName.Local == "failure":
			return failure(e)
		default:
			return fmt.Errorf("the server sent <%s> during the login", e.XMLName.Local)
		}
	}
}

// failure converts a refused login to an error: permanent or temporary.
func failure(e saslEnd) error {
	why := ""
	for _, x := range e.Inner {
		if x.XMLName.Local != "text" {
			why = x.XMLName.Local
		}
	}
	text := cmp.Or(strings.TrimSpace(e.Text), strings.ReplaceAll(why, "-", " "))
	switch why {
	case "temporary-auth-failure":
		return fmt.Errorf("the server cannot accept logins now: %s", text)
	case "not-authorized": // the server's text only describes its own calculation
		return channel.Login("the server refused the address or the password")
	}
	return channel.Login("the server refused the address or the password: %s", text)
}

// bind requests the full address.
func (s *stream) bind() error {
	if err := s.send("<iq type='set' id='bind'><bind xmlns='" + nsBind + "'/></iq>"); err != nil {
		return err
	}
	start, err := s.next()
	if err != nil {
		return err
	}
	var r iq
	if err := s.dec.DecodeElement(&r, &start); err != nil {
		return err
	}
	if r.Type != "result" || r.JID == "" {
		return fmt.Errorf("the server assigned no address: %s", r.Error)
	}
	s.jid = r.JID
	return nil
}
