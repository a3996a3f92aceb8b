package xmpp

import (
	"cmp"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // SCRAM-SHA-1 is what many servers offer, and is sound for it
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
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
	first := "n,," + sc.first
	if kind == "PLAIN" {
		first, sc = "\x00"+l.local+"\x00"+l.password, nil
	}
	if err := s.send("<auth xmlns='" + nsSASL + "' mechanism='" + kind + "'>" + base64.StdEncoding.EncodeToString([]byte(first)) + "</auth>"); err != nil {
		return err
	}
	answered := false
	for {
		var e saslEnd
		start, err := s.read(&e)
		if err != nil {
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
	var r iq
	if _, err := s.read(&r); err != nil {
		return err
	}
	if r.Type != "result" || r.JID == "" {
		return fmt.Errorf("the server assigned no address: %s", r.Error)
	}
	s.jid = r.JID
	return nil
}

// maxRounds limits the rounds that a server may request, to protect this computer's processor.
const maxRounds = 1_000_000

// scram is the client side of RFC 5802 and RFC 7677, without channel binding.
type scram struct {
	hash            func() hash.Hash
	user, password  string
	nonce           string
	first           string
	serverSignature []byte
}

// newScram begins a login; kind is the name of a SASL mechanism.
func newScram(kind, user, password string) *scram {
	s := &scram{hash: sha256.New, user: user, password: password, nonce: rand.Text()}
	if kind == "SCRAM-SHA-1" {
		s.hash = sha1.New
	}
	s.first = "n=" + strings.NewReplacer("=", "=3D", ",", "=2C").Replace(user) + ",r=" + s.nonce
	return s
}

// answer returns the second message, in response to the server's first.
func (s *scram) answer(challenge string) (string, error) {
	f := attributes(challenge)
	rounds, err := strconv.Atoi(f["i"])
	salt, saltErr := base64.StdEncoding.DecodeString(f["s"])
	switch {
	case f["m"] != "":
		return "", errors.New("the server wants an extension of SCRAM that is not known")
	case !strings.HasPrefix(f["r"], s.nonce) || len(f["r"]) <= len(s.nonce):
		return "", errors.New("the server's nonce does not continue ours")
	case err != nil || rounds < 1 || rounds > maxRounds:
		return "", fmt.Errorf("the server asks for %q rounds", f["i"])
	case saltErr != nil || len(salt) == 0:
		return "", errors.New("the server's salt cannot be read")
	}
	salted, err := pbkdf2.Key(s.hash, s.password, salt, rounds, s.hash().Size())
	if err != nil {
		return "", err
	}
	clientKey := s.mac(salted, "Client Key")
	h := s.hash()
	h.Write(clientKey)
	bare := "c=biws,r=" + f["r"]
	auth := s.first + "," + challenge + "," + bare
	proof := s.mac(h.Sum(nil), auth)
	for i := range proof {
		proof[i] ^= clientKey[i]
	}
	s.serverSignature = s.mac(s.mac(salted, "Server Key"), auth)
	return bare + ",p=" + base64.StdEncoding.EncodeToString(proof), nil
}

// check verifies that the server knows the password too.
func (s *scram) check(final string) error {
	got, err := base64.StdEncoding.DecodeString(attributes(final)["v"])
	if err != nil || s.serverSignature == nil || !hmac.Equal(got, s.serverSignature) {
		return errors.New("the server did not prove that it knows the password")
	}
	return nil
}

func (s *scram) mac(key []byte, text string) []byte {
	m := hmac.New(s.hash, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func attributes(s string) map[string]string {
	f := make(map[string]string)
	for _, part := range strings.Split(s, ",") {
		if name, value, ok := strings.Cut(part, "="); ok {
			if _, twice := f[name]; !twice {
				f[name] = value
			}
		}
	}
	return f
}
