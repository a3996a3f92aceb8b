package porttest

import (
	"net"
	"testing"
)

func TestAFreeAddressIsGivenOnceAndCanBeListenedOn(t *testing.T) {
	seen := make(map[string]bool)
	for range 100 {
		at := Free(t)
		if seen[at] {
			t.Fatalf("%s was given twice", at)
		}
		seen[at] = true
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
