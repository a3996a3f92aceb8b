package trust

import (
	"encoding/json"
	"fmt"

	"fairlead/gateway/protocol"
)

// Taker is the device's side of a pairing conversation.
type Taker struct {
	Identity  Identity
	Applicant Applicant // without its key
	Pin       Pin       // of the certificate that the gateway showed
	Link      *Link     // Link, Code or neither; with neither, the person at the gateway compares words
	Code      *Code
	Renew     bool
	Leave     bool
	// OnWaiting is called with the words to show and the seconds that the person at the gateway has
	// to answer.
	OnWaiting func(words []string, seconds int)
}

// Run carries out the conversation and returns the gateway's result. Without link and code nothing
// proves the gateway's identity: the caller must have the person at the device compare the words
// before it stores anything. A refusal is the gateway's *protocol.Error; [ErrGuess] means that the
// gateway does not know the secret.
func (t Taker) Run(w Wire) (Done, error) {
	hello := Hello{Version: version, Door: protocol.DoorAsk, Applicant: t.Applicant}
	hello.Key = t.Identity.Public()
	nonce := newNonce()
	hello.Commit = commitment(nonce, hello.Key)
	var ex *exchange
	var secret []byte
	switch {
	case t.Renew:
		hello.Door = doorRenew
	case t.Leave:
		hello.Door = doorLeave
	case t.Link != nil:
		hello.Door, hello.Invite, secret = protocol.DoorLink, t.Link.Invite, t.Link.Secret
		if t.Pin != t.Link.Pin {
			return Done{}, ErrPin
		}
	case t.Code != nil:
		hello.Door, hello.Number = protocol.DoorCode, t.Code.Number
		ex = newExchange(t.Code.secret(), channel, sid(hello.Number, hello.Commit))
		hello.Pake = ex.message()
	}
	raw, err := json.Marshal(hello)
	if err != nil {
		return Done{}, fmt.Errorf("encode the request: %w", err)
	}
	m, err := ask(w, Message{Hello: raw})
	if err != nil {
		return Done{}, err
	}
	if m.Challenge == nil || len(m.Challenge.Nonce) != nonceSize {
		return Done{}, errTalk
	}
	if ex != nil {
		if secret, err = ex.key(m.Challenge.Pake, true); err != nil {
			return Done{}, err
		}
	}
	talk := newTranscript(t.Pin, raw, *m.Challenge, nonce)
	m, err = ask(w, Message{Proof: &Proof{Nonce: nonce, MAC: talk.mac(secret, "device"), Signature: t.Identity.Sign(ForPairing, talk[:])}})
	if err != nil {
		return Done{}, err
	}
	if m.Waiting != nil {
		if secret != nil && !same(m.Waiting.MAC, talk.mac(secret, "gateway")) {
			return Done{}, ErrGuess
		}
		if t.OnWaiting != nil {
			t.OnWaiting(talk.words(), m.Waiting.Seconds)
		}
		if m, err = receive(w); err != nil {
			return Done{}, err
		}
	} else if !t.Renew && !t.Leave {
		return Done{}, errTalk
	}
	if m.Done == nil || m.Done.Token == "" && !t.Leave {
		return Done{}, errTalk
	}
	m.Done.Gateway.Pin = t.Pin // the verified pin, not the one that the gateway sent
	return *m.Done, nil
}

func ask(w Wire, m Message) (Message, error) {
	if err := w.Send(m); err != nil {
		return Message{}, err
	}
	return receive(w)
}

func receive(w Wire) (Message, error) {
	m, err := w.Receive()
	if err == nil && m.Error != nil {
		err = m.Error
	}
	return m, err
}
