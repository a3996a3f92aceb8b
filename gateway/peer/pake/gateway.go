package pake

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

// Gateway is the gateway's side of a pairing: NewGateway, Challenge, Check, then Waiting or
// an error.
type Gateway struct {
	Hello Hello

	pin        identity.Pin
	raw        []byte
	exchange   *exchange
	challenge  Challenge
	secret     []byte
	transcript transcript
}

var errVersion = protocol.ErrBadRequest.With("the two machines use different versions of pairing: update Fairlead on both")

// NewGateway handles the device's first message. pin belongs to the certificate that this gateway
// showed.
func NewGateway(pin identity.Pin, m Message) (*Gateway, error) {
	g := &Gateway{pin: pin, raw: m.Hello}
	if err := json.Unmarshal(m.Hello, &g.Hello); err != nil || g.Hello.Version != version || len(g.Hello.Key) != ed25519.PublicKeySize || len(g.Hello.Commit) != sha256.Size {
		return nil, errVersion
	}
	return g, nil
}

// IsRenewal reports whether a paired device requests a new token.
func (g *Gateway) IsRenewal() bool { return g.Hello.Method == methodRenew }

// IsEnd reports whether a paired device ends its pairing.
func (g *Gateway) IsEnd() bool { return g.Hello.Method == methodEnd }

// Challenge returns the gateway's answer. The caller passes the link's secret or the code,
// whichever the device's hello names.
func (g *Gateway) Challenge(secret []byte, code *Code) (Message, error) {
	g.secret, g.challenge.Nonce = secret, random(nonceSize)
	if code != nil {
		g.exchange = newExchange(code.secret(), channel, sid(g.Hello.Number, g.Hello.Commit))
		g.challenge.Pake = g.exchange.message()
		key, err := g.exchange.key(g.Hello.Pake, false)
		if err != nil {
			return Message{}, protocol.ErrBadRequest.With(err.Error())
		}
		g.secret = key
	}
	return Message{Challenge: &g.challenge}, nil
}

// Check verifies the device's proof. Words is valid after it.
func (g *Gateway) Check(m Message) error {
	p := m.Proof
	if p == nil || len(p.Nonce) != nonceSize {
		return errVersion
	}
	if !same(commitment(p.Nonce, g.Hello.Key), g.Hello.Commit) {
		return errProof
	}
	g.transcript = newTranscript(g.pin, g.raw, g.challenge, p.Nonce)
	if g.secret != nil && !same(p.MAC, g.transcript.mac(g.secret, "device")) {
		return ErrWrongSecret
	}
	if !identity.Verify(g.Hello.Key, identity.ForPairing, g.transcript[:], p.Signature) {
		return errProof
	}
	return nil
}

// Words returns the words that the person compares.
func (g *Gateway) Words() []string { return g.transcript.words() }

// Waiting returns the message that tells the device to wait for the person, for that many seconds.
func (g *Gateway) Waiting(seconds int) Message {
	return Message{Waiting: &Waiting{MAC: g.transcript.mac(g.secret, "gateway"), Seconds: seconds}}
}
