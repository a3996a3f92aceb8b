package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// TestAProbeEndsASilentConnection: the far end is gone without a word, as after a sleep or on another network.
func TestAProbeEndsASilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		dial, stop := listen(t, func(p peer, n int) {
			p.hello()
			if n == 1 {
				<-hold // reads nothing, so answers no ping
				return
			}
			p.idle()
		})
		defer stop()
		defer close(hold)
		ups := make(chan time.Time, 4)
		c, end := start(t, Options{Dial: dial, OnUp: func(context.Context, protocol.ConnectResult) { ups <- time.Now() }})
		defer end()
		<-ups
		began := time.Now()
		c.Probe("test")
		if took := (<-ups).Sub(began); took < probeLimit || took > probeLimit+minBackoff {
			t.Errorf("back after %s", took)
		}
		// One that answers stays.
		c.Probe("test")
		time.Sleep(2 * probeLimit)
		synctest.Wait()
		if len(ups) != 0 || !c.Connected() {
			t.Error("a connection that lives was ended")
		}
	})
}

func TestAProbeEndsThePauseBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, func(p peer, n int) {
			if n < 10 {
				return
			}
			p.hello()
			p.idle()
		})
		defer stop()
		ups, downs := make(chan struct{}, 4), make(chan struct{}, 64)
		c, end := start(t, Options{Dial: dial, OnUp: func(context.Context, protocol.ConnectResult) { ups <- struct{}{} }, OnDown: func(error) { downs <- struct{}{} }})
		defer end()
		for range 6 {
			<-downs
		}
		synctest.Wait()
		began := time.Now()
		c.Probe("test")
		<-downs
		if took := time.Since(began); took > 0 {
			t.Errorf("the next attempt came after %s", took)
		}
		<-ups
	})
}
