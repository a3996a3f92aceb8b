package trust

import (
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"github.com/cloudflare/circl/group"
)

// exchange is one end of CPace over ristretto255 (draft-irtf-cfrg-cpace), the balanced password-authenticated key exchange that the CFRG
// chose: two ends that know the same few words get the same key, and one that guesses has one guess for each conversation. The group and its
// hash are circl's; here is only the protocol.
type exchange struct {
	secret group.Scalar
	own    []byte
	sid    []byte
}

var ristretto = group.Ristretto255

const (
	cpaceGenerator = "CPaceRistretto255"
	cpaceKey       = "CPaceRistretto255_ISK"
)

// newExchange begins one with the shared words, what both know of each other, and the session's id.
func newExchange(words, channel, sid []byte) *exchange {
	generator := ristretto.HashToElement(joined(words, channel, sid), []byte(cpaceGenerator))
	e := &exchange{secret: ristretto.RandomNonZeroScalar(rand.Reader), sid: sid}
	point := ristretto.NewElement().Mul(generator, e.secret)
	e.own, _ = point.MarshalBinaryCompress() // ristretto255 has one encoding, which never fails
	return e
}

// message is what the other end gets.
func (e *exchange) message() []byte { return e.own }

var errExchange = errors.New("the code could not be checked: the other end sent no valid key")

// key is the shared key. device says that this end is the device, not the gateway.
func (e *exchange) key(other []byte, device bool) ([]byte, error) {
	point := ristretto.NewElement()
	if err := point.UnmarshalBinary(other); err != nil || point.IsIdentity() {
		return nil, errExchange
	}
	shared := ristretto.NewElement().Mul(point, e.secret)
	if shared.IsIdentity() {
		return nil, errExchange
	}
	raw, err := shared.MarshalBinaryCompress()
	if err != nil {
		return nil, errExchange
	}
	first, second := e.own, other
	if !device {
		first, second = other, e.own
	}
	sum := sha512.Sum512(joined([]byte(cpaceKey), e.sid, raw, first, second))
	return sum[:32], nil
}

// joined puts fields behind one another, each with its length, so that no two lists look alike.
func joined(fields ...[]byte) []byte {
	var out []byte
	for _, f := range fields {
		out = binary.BigEndian.AppendUint32(out, uint32(len(f)))
		out = append(out, f...)
	}
	return out
}
