package memory

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestThriftLastsAsLongAsTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		Prepare()
		began := time.Now()
		Thrift(t.Context())
		if took := time.Since(began); took < 10*time.Second || took > time.Minute {
			t.Errorf("it gave back for %s", took)
		}
	})
}

func TestThriftEndsWithTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		Thrift(ctx)
		if took := time.Since(began); took > 0 {
			t.Errorf("it went on for %s", took)
		}
		GiveBack() // it must not lose memory in use
		Trim()
	})
}
