package transfer

import (
	"context"
	"errors"
	"testing"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/crash/crashtest"
)

func TestPanicFailsOneAttempt(t *testing.T) {
	log := crashtest.Watch(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	var wg crash.Group
	a := &attempt{cancel: cancel}
	other := make(chan struct{})
	a.spawn(&wg, func() {
		<-ctx.Done()
		close(other)
	})
	a.spawn(&wg, func() { panic("broken") })
	<-other
	wg.Wait()
	if _, ok := errors.AsType[*crash.Error](context.Cause(ctx)); !ok {
		t.Errorf("the attempt ended with %v, want the failure", context.Cause(ctx))
	}
	log.Until(1, "transfer")
}
