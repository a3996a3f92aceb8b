package pake

import (
	"encoding/json"
	"fmt"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

// Device is the device's side of a pairing.
type Device struct {
	Key       identity.Key
	Applicant Applicant    // without its key
	Pin       identity.Pin // of the certificate that the gateway showed
	Link      *Link        // Link, Code or neither; with neither, the person at the gateway compares words
	Code      *Code
	Renew     bool
	End       bool
	// OnWaiting is called with the words to show and the seconds that the person at the gateway has
	// to answer.
	OnWaiting func(words []string, seconds int)
}

// Run carries out the conversation and returns the gateway's result. Without link and code nothing
// proves the gateway's identity: the caller must have the person at the device compare the words
// before it stores anything. A refusal is the gateway's *protocol.Error; [ErrWrongSecret] means
// that the gateway does not know the secret.
func (d Device) Run(t Transport) (identity.Pairing, error) {
	nonce := random(nonceSize)
	hello, secret, ex, err := d.hello(nonce)
	if err != nil {
		return identity.Pairing{}, err
	}
	raw, err := json.Marshal(hello)
	if err != nil {
		return identity.Pairing{}, fmt.Errorf("encode the request: %w", err)
	}
	m, err := request(t, Message{Hello: raw})
	if err != nil {
		return identity.Pairing{}, err
	}
	if m.Challenge == nil || len(m.Challenge.Nonce) != nonceSize {
		return identity.Pairing{}, errVersion
	}
	if ex != nil {
		if secret, err = ex.key(m.Challenge.Pake, true); err != nil {
			return identity.Pairing{}, err
		}
	}
	transcript := newTranscript(d.Pin, raw, *m.Challenge, nonce)
	m, err = request(t, Message{Proof: &Proof{Nonce: nonce, MAC: transcript.mac(secret, "device"), Signature: d.Key.Sign(identity.ForPairing, transcript[:])}})
	if err != nil {
		return identity.Pairing{}, err
	}
	if m.Waiting != nil {
		if secret != nil && !same(m.Waiting.MAC, transcript.mac(secret, "gateway")) {
			return identity.Pairing{}, ErrWrongSecret
		}
		if d.OnWaiting != nil {
			d.OnWaiting(transcript.words(), m.Waiting.Seconds)
		}
		if m, err = receive(t); err != nil {
			return identity.Pairing{}, err
		}
	} else if !d.Renew && !d.End {
		return identity.Pairing{}, errVersion
	}
	if m.Done == nil || m.Done.Token == "" && !d.End {
		return identity.Pairing{}, errVersion
	}
	m.Done.Gateway.Pin = d.Pin // the verified pin, not the one that the gateway sent
	return *m.Done, nil
}

// hello returns the first message. With a link, secret is what both ends know; with a code, ex finds it
// out.
func (d Device) hello(nonce []byte) (hello Hello, secret []byte, ex *exchange, err error) {
	hello = Hello{Version: version, Method: protocol.PairedByRequest, Applicant: d.Applicant}
	hello.Key = d.Key.Public()
	hello.Commit = commitment(nonce, hello.Key)
	switch {
	case d.Renew:
		hello.Method = methodRenew
	case d.End:
		hello.Method = methodEnd
	case d.Link != nil:
		if d.Pin != d.Link.Pin {
			return hello, nil, nil, identity.ErrWrongPin
		}
		hello.Method, hello.Invite, secret = protocol.PairedByLink, d.Link.Invite, d.Link.Secret
	case d.Code != nil:
		hello.Method, hello.Number = protocol.PairedByCode, d.Code.Number
		ex = newExchange(d.Code.secret(), channel, sid(hello.Number, hello.Commit))
		hello.Pake = ex.message()
	}
	return hello, secret, ex, nil
}

func request(t Transport, m Message) (Message, error) {
	if err := t.Send(m); err != nil {
		return Message{}, err
	}
	return receive(t)
}

func receive(t Transport) (Message, error) {
	m, err := t.Receive()
	if err == nil && m.Error != nil {
		err = m.Error
	}
	return m, err
}
