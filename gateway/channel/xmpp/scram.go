package xmpp

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // SCRAM-SHA-1 is what many servers offer, and is sound for it
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

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

// hello returns the first message.
func (s *scram) hello() string { return "n,," + s.first }

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
