package state

import (
	"testing"

	"fairlead/app/feed/feedtest"
)

func bubble(t *testing.T, setup func(*feedtest.Gateway), body func(*testing.T, *App, *feedtest.Gateway)) {
	feedtest.Run(t, NewApp, setup, body)
}
