package trust

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"

	"fairlead/gateway/protocol"
)

// Giver is the gateway's side of a pairing conversation: Receive, Challenge, Check, then Waiting or
// an error.
type Giver struct {
	Hello Hello

	pin       Pin
	raw       []byte
	exchange  *exchange
	challenge Challenge
	secret    []byte
	talk      transcript
}

var errTalk = protocol.ErrBadRequest.With("the other end does not speak this version of pairing: bring both to the same version of Fairlead")

// Receive handles the device's first message. pin belongs to the certificate that this gateway
// showed.
func Receive(pin Pin, m Message) (*Giver, error) {
	g := &Giver{pin: pin, raw: m.Hello}
	if err := json.Unmarshal(m.Hello, &g.Hello); err != nil || g.Hello.Version != version || len(g.Hello.Key) != ed25519.PublicKeySize || len(g.Hello.Commit) != sha256.Size {
		return nil, errTalk
	}
	return g, nil
}

// Renews reports whether a paired device requests a new token.
func (g *Giver) Renews() bool { return g.Hello.Door == doorRenew }

// Leaves reports whether a paired device ends its pairing.
func (g *Giver) Leaves() bool { return g.Hello.Door == doorLeave }

// Challenge returns the gateway's answer. The caller passes the link's secret or the code,
// whichever the device's hello names.
func (g *Giver) Challenge(secret []byte, code *Code) (Message, error) {
	g.secret, g.challenge.Nonce = secret, newNonce()
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
func (g *Giver) Check(m Message) error {
	p := m.Proof
	if p == nil || len(p.Nonce) != nonceSize {
		return errTalk
	}
	if !same(commitment(p.Nonce, g.Hello.Key), g.Hello.Commit) {
		return errProof
	}
	g.talk = newTranscript(g.pin, g.raw, g.challenge, p.Nonce)
	if g.secret != nil && !same(p.MAC, g.talk.mac(g.secret, "device")) {
		return ErrGuess
	}
	if !Verify(g.Hello.Key, ForPairing, g.talk[:], p.Signature) {
		return errProof
	}
	return nil
}

// Words returns the words that the person compares.
func (g *Giver) Words() []string { return g.talk.words() }

// Waiting returns the message that tells the device to wait for the person, for that many seconds.
func (g *Giver) Waiting(seconds int) Message {
	return Message{Waiting: &Waiting{MAC: g.talk.mac(g.secret, "gateway"), Seconds: seconds}}
}
