package gateway_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"fairlead/gateway"
)

func TestAPublicAddressIsReportedAsUnencrypted(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	for listen, want := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true, "none": false} {
		t.Run(listen, func(t *testing.T) {
			var log bytes.Buffer
			g, err := gateway.Open(t.Context(), gateway.Options{Home: t.TempDir(), Listen: listen, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(log.String(), "not encrypted") != want {
				t.Errorf(`%s: got %s; want "not encrypted" in it %v`, listen, log.String(), want)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
