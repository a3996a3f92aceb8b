package pake

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/cloudflare/circl/group"
)

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func scalar(t *testing.T, text string) group.Scalar {
	t.Helper()
	s := group255.NewScalar()
	if err := s.UnmarshalBinary(unhex(t, text)); err != nil {
		t.Fatal(err)
	}
	return s
}

// The vectors are those of draft-irtf-cfrg-cpace, appendix B.3: of version 21, and of earlier
// versions, which differ only in the channel identifier.
func TestCPaceMatchesTheDraftsVectors(t *testing.T) {
	const (
		sid = "7e4b4791d6a8ef019b936c79fb7f2c57"
		ya  = "da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"
		yb  = "d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d"
	)
	for _, v := range []struct{ channel, generator, a, b, shared, key string }{
		{
			"0b415f696e69746961746f720b425f726573706f6e646572",
			"222b6b195fe84b1652badb6f6a3ae3d24341e7306967f0b8115b40d5698c7e56",
			"d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157",
			"3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258",
			"80b69a8a76457ab6a4d7f887a4bf6b55a2f80ac19c333f917a05fc9887c8b40f",
			"b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447",
		},
		{
			"6f630b425f726573706f6e6465720b415f696e69746961746f72",
			"a6fc82c3b8968fbb2e06fee81ca858586dea50d248f0c7ca6a18b0902a30b36b",
			"d40fb265a7abeaee7939d91a585fe59f7053f982c296ec413c624c669308f87a",
			"08bcf6e9777a9c313a3db6daa510f2d398403319c2341bd506a92e672eb7e307",
			"e22b1ef7788f661478f3cddd4c600774fc0f41e6b711569190ff88fa0e607e09",
			"4c5469a16b2364c4b944ebc1a79e51d1674ad47db26e8718154f59faebfaa52d8346f30aa58377117eb20d527f2cbc5c76381f7fd372e89df8239f87f2e02ed1",
		},
	} {
		t.Run(v.channel, func(t *testing.T) {
			is := func(what string, got []byte, want string) {
				t.Helper()
				if hex.EncodeToString(got) != want {
					t.Errorf("%s is\n%x, want\n%s", what, got, want)
				}
			}
			words, channel := []byte("Password"), unhex(t, v.channel)
			is("generator_string", generatorString(words, channel, unhex(t, sid)), "11435061636552697374726574746f3235350850617373776f726464"+strings.Repeat("00", 100)+
				hex.EncodeToString([]byte{byte(len(channel))})+v.channel+"10"+sid)
			g := generator(words, channel, unhex(t, sid))
			raw, err := g.MarshalBinaryCompress()
			if err != nil {
				t.Fatal(err)
			}
			is("the generator", raw, v.generator)
			a, b := scalar(t, ya), scalar(t, yb)
			is("Ya", share(g, a), v.a)
			is("Yb", share(g, b), v.b)
			ka, errA := agree(a, unhex(t, v.b))
			kb, errB := agree(b, unhex(t, v.a))
			if err := errors.Join(errA, errB); err != nil {
				t.Fatal(err)
			}
			is("K at A", ka, v.shared)
			is("K at B", kb, v.shared)
			is("ISK", sessionKey(unhex(t, sid), ka, [2][]byte{unhex(t, v.a), []byte("ADa")}, [2][]byte{unhex(t, v.b), []byte("ADb")}), v.key)
			// Without associated data, both sides of a pairing get the ISK.
			device, gateway := &exchange{secret: a, own: unhex(t, v.a), sid: unhex(t, sid)}, &exchange{secret: b, own: unhex(t, v.b), sid: unhex(t, sid)}
			one, errA := device.key(gateway.message(), true)
			two, errB := gateway.key(device.message(), false)
			if errA != nil || errB != nil || !bytes.Equal(one, two) || !bytes.Equal(one, sessionKey(unhex(t, sid), ka, [2][]byte{unhex(t, v.a)}, [2][]byte{unhex(t, v.b)})) {
				t.Errorf("the ends have %x and %x, %v %v; want the same key", one, two, errA, errB)
			}
		})
	}
}

// Appendix B.3.10 and B.3.11.
func TestCPaceRefusesInvalidElements(t *testing.T) {
	s := scalar(t, "7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05")
	got, err := agree(s, unhex(t, "2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c"))
	if err != nil || hex.EncodeToString(got) != "7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e" {
		t.Errorf("a valid one gives %x, %v", got, err)
	}
	for _, bad := range []string{
		"2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c", // not an element
		strings.Repeat("00", 32), // the neutral element
		strings.Repeat("ff", 32), // larger than the field
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // the neutral element, badly encoded
		strings.Repeat("01", 31), strings.Repeat("01", 33), "",
	} {
		if got, err := agree(s, unhex(t, bad)); !errors.Is(err, errExchange) {
			t.Errorf("%s gives %x, %v; want error errExchange", bad, got, err)
		}
	}
}

func TestLengthsAreThoseOfTheDraft(t *testing.T) {
	for _, c := range []struct {
		fields [][]byte
		want   string
	}{
		{[][]byte{nil}, "00"},
		{[][]byte{[]byte("1234"), []byte("5"), nil, []byte("678")}, "043132333401350003363738"},
		{[][]byte{bytes.Repeat([]byte{7}, 127)}, "7f" + strings.Repeat("07", 127)},
		{[][]byte{bytes.Repeat([]byte{7}, 128)}, "8001" + strings.Repeat("07", 128)},
	} {
		if got := hex.EncodeToString(lv(c.fields...)); got != c.want {
			t.Errorf("%q is %s, want %s", c.fields, got, c.want)
		}
	}
}
