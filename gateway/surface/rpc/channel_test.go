package rpc

import (
	"os"
	"testing"

	"fairlead/gateway/channel"
	"fairlead/gateway/channel/channeltest"
)

// realChannels returns a hub with its own store, for the conversations about it.
func realChannels(t *testing.T) (c *channel.Hub, stop func()) {
	dir, err := os.MkdirTemp("", "channels") // not t.TempDir, which outlives the bubble
	if err != nil {
		t.Fatal(err)
	}
	b := channeltest.Open(t, dir, channeltest.NewPigeon())
	b.Begin()
	return b.Hub, func() {
		b.Close()
		os.RemoveAll(dir)
	}
}
