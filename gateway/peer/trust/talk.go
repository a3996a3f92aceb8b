package trust

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"fairlead/gateway/protocol"
)

// Path is where a gateway's network listener takes pairings: a WebSocket on which both ends send [Message] as JSON text, in turn.
const Path = "/pair"

// MaxMessage is how many bytes a message may have.
const MaxMessage = 64 << 10

// version of the conversation.
const version = 1

// Doors that only the conversation knows. The others are in protocol.
const (
	doorRenew = "renew" // a paired device fetches a new token with its key
	doorLeave = "leave" // a paired device ends its pairing
)

// Message is one step. Exactly one field is set. The steps are Hello (device), Challenge (gateway), Proof (device), Waiting (gateway, while the
// person decides), Done (gateway); Error ends it at any time.
type Message struct {
	Hello     []byte          `json:"hello,omitempty"` // a Hello as JSON, as it goes into the transcript
	Challenge *Challenge      `json:"challenge,omitempty"`
	Proof     *Proof          `json:"proof,omitempty"`
	Waiting   *Waiting        `json:"waiting,omitempty"`
	Done      *Done           `json:"done,omitempty"`
	Error     *protocol.Error `json:"error,omitempty"`
}

// Wire carries a conversation. Both methods block until the connection ends or the carrier's limit is over.
type Wire interface {
	Send(Message) error
	Receive() (Message, error)
}

// Hello is who wants in, and by which door. Its nonce is hidden in Commit until the gateway has named its own, so that nobody can look for a
// key that gives the same words.
type Hello struct {
	Version int    `json:"version"`
	Door    string `json:"door"`
	Invite  string `json:"invite,omitempty"` // of a link
	Number  int    `json:"number,omitempty"` // of a code
	Pake    []byte `json:"pake,omitempty"`   // of a code
	Commit  []byte `json:"commit"`
	Applicant
}

// Applicant is how a device describes itself. Nothing of it is proved but Key.
type Applicant struct {
	Key      []byte          `json:"key"`
	Role     string          `json:"role"`
	NodeID   protocol.NodeID `json:"nodeId,omitempty"`
	Name     string          `json:"name,omitempty"`
	OS       string          `json:"os,omitempty"`
	Hostname string          `json:"hostname,omitempty"`
	Platform string          `json:"platform,omitempty"`
	Version  string          `json:"programVersion,omitempty"`
	Reach    *protocol.Reach `json:"reach,omitempty"` // of a node
}

// Challenge is the gateway's nonce, and its half of the key exchange for a code.
type Challenge struct {
	Nonce []byte `json:"nonce"`
	Pake  []byte `json:"pake,omitempty"`
}

// Proof opens the commitment, proves that the device knows the invitation's secret, and that the key is its own.
type Proof struct {
	Nonce     []byte `json:"nonce"`
	MAC       []byte `json:"mac,omitempty"`
	Signature []byte `json:"signature"`
}

// Waiting says that the person is asked. MAC proves that the gateway knows the secret too, for the very certificate the device saw.
type Waiting struct {
	MAC     []byte `json:"mac,omitempty"`
	Seconds int    `json:"seconds"` // until the question is over
}

// Done ends a pairing well.
type Done struct {
	Device  protocol.Device `json:"device"`
	Token   string          `json:"token"`
	Gateway Gateway         `json:"gateway"`
}

// Gateway is what a device keeps of a gateway it is paired with.
type Gateway struct {
	Name      string   `json:"name"`
	Pin       Pin      `json:"pin"`
	Addresses []string `json:"addresses"`
}

const nonceSize = 16

func newNonce() []byte {
	b := make([]byte, nonceSize)
	rand.Read(b)
	return b
}

func commitment(nonce, key []byte) []byte {
	sum := sha256.Sum256(joined([]byte("fairlead pair commit"), nonce, key))
	return sum[:]
}

// transcript is everything that both ends said, and the gateway's key as each end saw it: a man in the middle makes them differ.
type transcript [sha256.Size]byte

func newTranscript(pin Pin, hello []byte, c Challenge, deviceNonce []byte) transcript {
	return sha256.Sum256(joined([]byte("fairlead pair transcript"), pin.sum(), hello, c.Nonce, c.Pake, deviceNonce))
}

// words are what both ends show.
func (t transcript) words() []string {
	sum := sha256.Sum256(joined([]byte("fairlead pair words"), t[:]))
	return Words(sum[:], shortWords)
}

// mac proves that side knows secret; nil without one.
func (t transcript) mac(secret []byte, side string) []byte {
	if secret == nil {
		return nil
	}
	m := hmac.New(sha256.New, secret)
	m.Write(joined([]byte("fairlead pair "+side), t[:]))
	return m.Sum(nil)
}

func same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

// sid is the session's id for the key exchange: both halves of it depend on the device's commitment and the invitation's number.
func sid(number int, commit []byte) []byte {
	return joined([]byte(strconv.Itoa(number)), commit)
}

// channel is what the code is bound to: its purpose and the version of the conversation.
var channel = fmt.Appendf(nil, "fairlead pair %d", version)

// Reasons why Check refuses. ErrGuess counts as a guess of the secret.
var (
	ErrGuess = protocol.ErrForbidden.With("the code or link is not the right one, or somebody sits between the two machines")
	errProof = protocol.ErrForbidden.With("the device could not prove that its key is its own")
)

// DecodeMessage reads a message from the wire.
func DecodeMessage(data []byte) (Message, error) {
	var m Message
	if len(data) > MaxMessage {
		return m, errTalk
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, errors.Join(errTalk, err)
	}
	return m, nil
}
