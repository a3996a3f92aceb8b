package pake

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

// pipe is a Transport between two goroutines; spoil, when set, can modify the messages that the
// gateway receives and sends.
type pipe struct {
	in, out chan Message
	spoil   func(*Message)
}

func pipes() (device, gateway *pipe) {
	a, b := make(chan Message, 4), make(chan Message, 4)
	return &pipe{in: a, out: b}, &pipe{in: b, out: a}
}

func (p *pipe) Send(m Message) error {
	if p.spoil != nil {
		p.spoil(&m)
	}
	p.out <- m
	return nil
}

func (p *pipe) Receive() (Message, error) {
	m, ok := <-p.in
	if !ok {
		return m, errors.New("gone")
	}
	if p.spoil != nil {
		p.spoil(&m)
	}
	return m, nil
}

func pinOf(name string) identity.Pin {
	sum := sha256.Sum256([]byte(name))
	return identity.Pin(base64.StdEncoding.EncodeToString(sum[:]))
}

// answerWords acts as a gateway that approves, and returns its words.
func answerWords(w *pipe, pin identity.Pin, secret []byte, code *Code) (words []string, err error) {
	defer close(w.out)
	first, err := w.Receive()
	if err != nil {
		return nil, err
	}
	g, err := NewGateway(pin, first)
	if err != nil {
		return nil, err
	}
	challenge, err := g.Challenge(secret, code)
	if err != nil {
		return nil, err
	}
	w.Send(challenge)
	proof, err := w.Receive()
	if err != nil {
		return nil, err
	}
	if err := g.Check(proof); err != nil {
		w.Send(Message{Error: protocol.AsError(err)})
		return nil, err
	}
	w.Send(g.Waiting(60))
	w.Send(Message{Done: &identity.Pairing{Device: protocol.Device{ID: identity.DeviceID(g.Hello.Key)}, Token: "fd_x", Gateway: identity.Gateway{Name: "tower", Pin: "a lie"}}})
	return g.Words(), nil
}

type pairingOutcome struct {
	done               identity.Pairing
	runErr, approveErr error
	shown, words       []string
}

// talk runs a pairing between a device and a gateway, whose messages spoil can modify.
func talk(applicant Device, pin identity.Pin, secret []byte, code *Code, spoil func(*Message)) (r pairingOutcome) {
	device, gateway := pipes()
	gateway.spoil = spoil
	applicant.Key = identity.NewKey()
	applicant.OnWaiting = func(words []string, _ int) { r.shown = words }
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.words, r.approveErr = answerWords(gateway, pin, secret, code)
	}()
	r.done, r.runErr = applicant.Run(device)
	close(device.out)
	<-over
	return r
}

func TestBothEndsOfAPairingShowTheSameWords(t *testing.T) {
	pin, secret, code := pinOf("tower"), NewSecret(), NewCode(7)
	for name, applicant := range map[string]Device{
		"link": {Pin: pin, Link: &Link{Pin: pin, Invite: "i", Secret: secret}},
		"code": {Pin: pin, Code: &code},
		"ask":  {Pin: pin},
	} {
		t.Run(name, func(t *testing.T) {
			var s []byte
			var c *Code
			if applicant.Link != nil {
				s = secret
			}
			if applicant.Code != nil {
				c = &code
			}
			r := talk(applicant, pin, s, c, nil)
			if r.runErr != nil || r.approveErr != nil {
				t.Errorf("%s: got %v, %v; want no runErr and no approveErr", name, r.runErr, r.approveErr)
				return
			}
			if len(r.words) != 4 || !slices.Equal(r.words, r.shown) || r.done.Token != "fd_x" || r.done.Gateway.Pin != pin {
				t.Errorf(`%s: got %+v; want words of length 4, words %v, done.Token "fd_x" and done.Gateway.Pin %v`, name, r, r.shown, pin)
			}
		})
	}
}

func TestAWrongCodeIsOneGuess(t *testing.T) {
	pin, right := pinOf("tower"), NewCode(7)
	wrong := Code{7, []string{right.Words[0], right.Words[1], "zebra"}}
	if wrong.String() == right.String() {
		wrong.Words[2] = "acorn"
	}
	if r := talk(Device{Pin: pin, Code: &wrong}, pin, nil, &right, nil); !errors.Is(r.approveErr, ErrWrongSecret) || r.runErr == nil || r.done.Token != "" {
		t.Errorf("got %+v; want error ErrWrongSecret, a runErr and an empty done.Token", r)
	}
	if r := talk(Device{Pin: pin, Link: &Link{Pin: pin, Invite: "i", Secret: NewSecret()}}, pin, NewSecret(), nil, nil); !errors.Is(r.approveErr, ErrWrongSecret) || r.done.Token != "" {
		t.Errorf("got %+v; want error ErrWrongSecret and an empty done.Token", r)
	}
}

// TestAManInTheMiddleIsNoticed: the attacker has his own certificate and forwards everything. The
// two sides see different keys.
func TestAManInTheMiddleIsNoticed(t *testing.T) {
	real, his, secret, code := pinOf("tower"), pinOf("mallory"), NewSecret(), NewCode(3)
	if r := talk(Device{Pin: his, Link: &Link{Pin: real, Invite: "i", Secret: secret}}, real, secret, nil, nil); !errors.Is(r.runErr, identity.ErrWrongPin) {
		t.Errorf("link: got %+v, want error ErrWrongPin", r)
	}
	if r := talk(Device{Pin: his, Code: &code}, real, nil, &code, nil); !errors.Is(r.approveErr, ErrWrongSecret) || r.runErr == nil {
		t.Errorf("code: got %+v; want error ErrWrongSecret and runErr set", r)
	}
	// Without a secret, the pairing continues to the words, which differ.
	if r := talk(Device{Pin: his}, real, nil, nil, nil); r.approveErr == nil && slices.Equal(r.words, r.shown) {
		t.Errorf("ask: both ends show %v, want them to differ", r.words)
	}
}

func TestAGatewayThatDoesNotKnowTheSecretIsRefused(t *testing.T) {
	pin, code := pinOf("mallory"), NewCode(3)
	forged := func(m *Message) { // claims to have checked the proof
		if m.Error != nil {
			*m = Message{Waiting: &Waiting{MAC: make([]byte, 32), Seconds: 60}}
		}
	}
	guess := Code{3, []string{"acorn", "acorn", "acorn"}}
	if r := talk(Device{Pin: pin, Code: &code}, pin, nil, &guess, forged); !errors.Is(r.runErr, ErrWrongSecret) {
		t.Errorf("got %+v; want error ErrWrongSecret", r)
	}
	early := func(m *Message) { // or sends a token at once
		if m.Challenge == nil && m.Hello == nil && m.Proof == nil {
			*m = Message{Done: &identity.Pairing{Token: "fd_x"}}
		}
	}
	for name, applicant := range map[string]Device{"code": {Pin: pin, Code: &code}, "ask": {Pin: pin}} {
		t.Run(name, func(t *testing.T) {
			var c *Code
			if applicant.Code != nil {
				c = &guess
			}
			if r := talk(applicant, pin, nil, c, early); r.runErr == nil {
				t.Errorf("%s: paired with a stranger: got %+v, want an error", name, r)
			}
		})
	}
}

// TestASwappedDeviceIsNoticed: an attacker puts his own key, name or nonce into the device's
// messages.
func TestASwappedDeviceIsNoticed(t *testing.T) {
	pin, secret := pinOf("tower"), NewSecret()
	mallory := identity.NewKey()
	edit := func(f func(*Hello)) func(*Message) {
		return func(m *Message) {
			if m.Hello == nil {
				return
			}
			var h Hello
			json.Unmarshal(m.Hello, &h)
			f(&h)
			m.Hello, _ = json.Marshal(h)
		}
	}
	for name, spoil := range map[string]func(*Message){
		"key":    edit(func(h *Hello) { h.Key = mallory.Public() }),
		"name":   edit(func(h *Hello) { h.Name = "Anna's laptop" }),
		"reach":  edit(func(h *Hello) { h.Reach = &protocol.Reach{Disk: true} }),
		"commit": edit(func(h *Hello) { h.Commit = make([]byte, 32) }),
		"nonce": func(m *Message) {
			if m.Proof != nil {
				m.Proof.Nonce = random(nonceSize)
			}
		},
		"challenge": func(m *Message) {
			if m.Challenge != nil {
				m.Challenge = &Challenge{Nonce: random(nonceSize)}
			}
		},
		"signature": func(m *Message) {
			if m.Proof != nil {
				m.Proof.Signature = mallory.Sign(identity.ForPairing, []byte("x"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			applicant := Device{Pin: pin, Link: &Link{Pin: pin, Invite: "i", Secret: secret}}
			if r := talk(applicant, pin, secret, nil, spoil); r.approveErr == nil {
				t.Errorf("%s: the gateway let it in: %+v", name, r)
			}
		})
	}
}

func TestKeyExchangeAgreesOnlyOnTheSameWords(t *testing.T) {
	for _, same := range []bool{true, false} {
		a, b := newExchange([]byte("maple"), channel, []byte("1")), newExchange([]byte("maple"), channel, []byte("1"))
		if !same {
			b = newExchange([]byte("mango"), channel, []byte("1"))
		}
		ka, err := a.key(b.message(), true)
		if err != nil {
			t.Fatal(err)
		}
		kb, err := b.key(a.message(), false)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(ka, kb) != same {
			t.Errorf("keys are equal: %v, want %v", !same, same)
		}
	}
	a := newExchange([]byte("maple"), channel, nil)
	for _, odd := range [][]byte{nil, {1}, make([]byte, 32), bytes.Repeat([]byte{0xff}, 32)} {
		if _, err := a.key(odd, true); err == nil {
			t.Errorf("%x was taken for a key", odd)
		}
	}
}

// FuzzReceive: a gateway survives any input, and admits nobody without the secret.
func FuzzReceive(f *testing.F) {
	hello, _ := json.Marshal(Hello{Version: 1, Method: "code", Number: 1, Pake: make([]byte, 32), Commit: make([]byte, 32), Applicant: Applicant{Key: make([]byte, 32)}})
	first, _ := json.Marshal(Message{Hello: hello})
	proof, _ := json.Marshal(Message{Proof: &Proof{Nonce: make([]byte, nonceSize)}})
	f.Add(first, proof)
	code := Code{1, []string{"maple", "otter", "tulip"}}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		m, err := DecodeMessage(first)
		if err != nil {
			return
		}
		g, err := NewGateway(pinOf("tower"), m)
		if err != nil {
			return
		}
		if _, err := g.Challenge(nil, &code); err != nil {
			return
		}
		if m, err := DecodeMessage(second); err == nil && g.Check(m) == nil {
			t.Error("let in without the code")
		}
	})
}
